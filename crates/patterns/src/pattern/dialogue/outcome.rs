//! The outcome of two partners' votes on consensus (A10).

use quorum_core::model::{
    outcome::{Decision, Dissent, ResultKind, Standing},
    participant::Participant,
    state::State,
    transcript::Turn,
};
use serde::{Deserialize, Serialize};

use crate::readers::{ConsensusVote, markers::no};

/// The outcome of a consensus check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    /// The round's number.
    pub(super) round: u32,
    /// Whether consensus is reached.
    pub(super) agreed: bool,
    /// Whether it was skipped because it was too early; then both votes are a no with confidence 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) skipped: bool,
    /// Both votes, A first.
    pub(super) votes: Vec<Vote>,
    /// The agreed solution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) solution: Option<String>,
}

/// The agreed solution of a dialogue, with both contributions (A16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FinalConsensus {
    solution: String,
    achieved_at_round: u32,
    model_a_contribution: String,
    model_b_contribution: String,
}

impl FinalConsensus {
    /// The final consensus; `None` if they didn't agree.
    pub(super) fn of(state: &State) -> Option<Self> {
        let check = state.noted::<Check>(super::CHECK).last().filter(|check| check.agreed)?;
        let contribution = |index: usize| {
            let name = state.spec.participants.get(index).map(|it| it.name.as_str());
            let said =
                |turn: &&std::sync::Arc<Turn>| Some(turn.participant.as_str()) == name && turn.form.is_none();
            state.turns.iter().rfind(said).map(|turn| turn.text.to_string()).unwrap_or_default()
        };
        Some(FinalConsensus {
            solution: check.solution.unwrap_or_default(),
            achieved_at_round: check.round,
            model_a_contribution: contribution(0),
            model_b_contribution: contribution(1),
        })
    }
}

/// A vote with the voter's name, A's before B's.
type Vote = (String, ConsensusVote);

/// The decision, if the votes are the required consensus.
pub(super) fn decision(both_must_agree: bool, votes: &[Vote; 2]) -> Option<Decision> {
    let yes = votes.iter().filter(|it| it.1.agrees).count();
    if yes < if both_must_agree { 2 } else { 1 } {
        return None;
    }
    let dissent = votes
        .iter()
        .filter(|it| !it.1.agrees)
        .map(|(name, vote)| Dissent::of_position(name, "no consensus", &vote.reasoning));
    let solution = solution(votes);
    Some(Decision {
        synthesis: solution.map_or(WITHOUT_TEXT, |it| it.1).to_owned(),
        synthesizer: solution.map(|it| it.0.to_owned()),
        standing: Standing::voted(ResultKind::Adopted, yes as u32, 2),
        agreement: Some(agreement(votes)),
        dissent: dissent.collect(),
        ..Decision::default()
    })
}

const WITHOUT_TEXT: &str =
    "Consensus was reached, but neither partner stated the solution; see the last turns.";

/// The solution of the more confident voter (A's on a tie), else the other's; with its author.
fn solution(votes: &[Vote; 2]) -> Option<(&str, &str)> {
    let [a, b] = votes;
    let order = if a.1.confidence < b.1.confidence { [b, a] } else { [a, b] };
    order.into_iter().find_map(|(name, vote)| Some((name.as_str(), vote.solution.as_deref()?)))
}

/// The average confidence that they agree; a no counts as 0.
fn agreement(votes: &[Vote; 2]) -> f64 {
    let sure = votes.iter().filter(|it| it.1.agrees).map(|it| f64::from(it.1.confidence));
    sure.sum::<f64>() / 200.0
}

/// How far the partners agreed, once the rounds are used up without consensus.
pub(super) fn standing(state: &State) -> Option<Standing> {
    state.ended.as_ref().filter(|end| end.why == super::USED_UP)?;
    let last = state.noted::<Check>(super::CHECK).filter(|check| !check.skipped).last();
    Some(last.map_or(Standing::plain(ResultKind::NoConsensus), |check| {
        let yes = check.votes.iter().filter(|it| it.1.agrees).count();
        Standing::voted(ResultKind::NoConsensus, yes as u32, 2)
    }))
}

/// The check for the record.
pub(super) fn check(round: u32, votes: [Vote; 2], decision: Option<&Decision>) -> Check {
    let (agreed, solution) = (decision.is_some(), decision.map(|it| it.synthesis.clone()));
    Check { round, agreed, skipped: false, votes: votes.into(), solution }
}

/// The check of a round that comes too early, in which nobody is asked.
pub(super) fn skipped(round: u32, partners: [&Participant; 2]) -> Check {
    let too_early = || no("Not asked: the minimum of rounds is not over yet.");
    let votes = partners.map(|it| (it.name.clone(), too_early()));
    Check { round, agreed: false, skipped: true, votes: votes.into(), solution: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: bool = true;
    const EITHER: bool = false;

    fn vote(agrees: bool, confidence: u8, solution: Option<&str>) -> ConsensusVote {
        let solution = solution.map(str::to_owned);
        ConsensusVote { agrees, confidence, reasoning: "because".into(), solution }
    }

    fn yes(confidence: u8, solution: &str) -> ConsensusVote {
        vote(true, confidence, Some(solution))
    }

    fn decide(both_must_agree: bool, a: ConsensusVote, b: ConsensusVote) -> Option<Decision> {
        decision(both_must_agree, &[("ann".into(), a), ("bob".into(), b)])
    }

    #[track_caller]
    fn check_solution(a: ConsensusVote, b: ConsensusVote, expected: &str, by: Option<&str>) {
        let decision = decide(EITHER, a, b).unwrap();
        assert_eq!((decision.synthesis.as_str(), decision.synthesizer.as_deref()), (expected, by));
    }

    #[test]
    fn a10_both_must_agree_or_either_is_enough() {
        assert_eq!(decide(BOTH, yes(80, "tabs"), vote(false, 90, None)), None);
        assert_eq!(decide(EITHER, vote(false, 80, None), vote(false, 90, None)), None);
        let both = decide(BOTH, yes(80, "tabs"), yes(60, "spaces")).unwrap();
        assert_eq!((both.agreement, both.dissent.len()), (Some(0.7), 0));
        let either = decide(EITHER, vote(false, 80, None), yes(60, "spaces")).unwrap();
        assert_eq!(either.agreement, Some(0.3));
        assert_eq!(either.standing, Standing::voted(ResultKind::Adopted, 1, 2));
        let position = "no consensus: because".into();
        assert_eq!(either.dissent, [Dissent { participant: "ann".into(), position }]);
    }

    #[test]
    fn a10_the_more_confident_solution_wins_and_as_on_a_tie() {
        check_solution(yes(80, "tabs"), yes(60, "spaces"), "tabs", Some("ann"));
        check_solution(yes(60, "tabs"), yes(80, "spaces"), "spaces", Some("bob"));
        check_solution(yes(70, "tabs"), yes(70, "spaces"), "tabs", Some("ann"));
        check_solution(yes(70, "tabs"), vote(true, 90, None), "tabs", Some("ann"));
        check_solution(vote(true, 90, None), yes(10, "spaces"), "spaces", Some("bob"));
        check_solution(vote(true, 90, None), vote(true, 90, None), WITHOUT_TEXT, None);
    }

    #[test]
    fn a10_a_skipped_check_is_two_nos_of_confidence_0() {
        let [ann, bob] = ["ann", "bob"].map(Participant::of);
        let check = skipped(1, [&ann, &bob]);
        assert!(check.skipped && !check.agreed);
        assert!(check.votes.iter().all(|(_, vote)| !vote.agrees && vote.confidence == 0));
    }
}
