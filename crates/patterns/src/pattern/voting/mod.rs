//! Voting: everyone votes in parallel. The first round is blind; a further one takes place only
//! while the outcome is open, and shows the reasons given so far without their authors.

mod reasons;

use std::collections::BTreeMap;

use quorum_core::{
    floor::{Floor, ask::Ask, halt::Halt},
    model::{
        error::Refusal,
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::{Defaults, Pattern},
    vocabulary::{result::ResultField, view::View},
};

use crate::{
    consensus::{poll, tally},
    pattern::two_speakers,
    prompts::deciding,
    readers::{
        Ballot, CastBallot,
        ballot::{self, Ballots},
        confidence,
    },
    starters,
};

const VOTING: Phase = Phase("voting");

/// The purpose of the lot that orders the reasons for a voter.
const REASONS: &str = "reasons";

pub(crate) const PATTERN: Pattern = Pattern {
    name: "voting",
    summary: "Everyone votes on the options, with a confidence",
    suits: "A choice between options you can name",
    sketch: &["123", "123", "*"],
    flow: 3,
    defaults: Defaults { method: "voting", ..Defaults::PLAIN },
    forms: &[&ballot::FORM],
    starters: &[starters::DECIDE],
    results: &[ResultField {
        name: "firstVote",
        title: "First vote",
        view: View::Ballots,
        of: tally::first_vote,
    }],
    phases: PhaseTable { first: &[VOTING], next: &[(VOTING, &[VOTING])] },
    check,
    votes: true,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

fn check(spec: &Spec) -> Vec<Refusal> {
    [two_speakers(spec), ballot::check(&spec.options)].concat()
}

/// A vote can't be changed within its round (INV-DISC-014): each voter has one step per round, and
/// a step happens once.
async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let ballots = Ballots::on(&spec.options);
    for round in 1..=spec.rounds {
        floor.enter(VOTING, round).await?;
        let voters = floor.speakers();
        let asks = asks(floor, &voters, round);
        let vote = |who: &Participant| asks.get(&who.name).cloned().unwrap_or_else(|| first(&spec, who));
        floor.ask_until_for(&voters, vote, &ballots, |votes| is_enough(&spec, votes)).await?;
        if !poll::is_open(floor, round) {
            break;
        }
    }
    Ok(None)
}

fn first(spec: &Spec, who: &Participant) -> Ask {
    deciding::first_answer(spec, who)
}

/// The questions of a further round, by voter: each is shown its own last vote and the reasons of
/// the round before, in an order of its own.
pub(super) fn asks(floor: &mut Floor, voters: &[Participant], round: u32) -> BTreeMap<String, Ask> {
    let spec = floor.spec();
    let past: Vec<Vec<CastBallot>> = (1..round).map(|it| poll::ballots_of_round(floor, it)).collect();
    let Some(before) = past.last() else { return BTreeMap::new() };
    let ask = |who: &Participant| {
        let order = floor.draw_order(who, REASONS, before.len());
        let own = past.iter().rev().flatten().find(|it| it.participant == who.name);
        let own = own.map(|it| it.ballot.choice.as_str());
        let reasons = reasons::by_option(before, &order);
        (who.name.clone(), deciding::later_ballot(&spec, who, own, &reasons))
    };
    voters.iter().map(ask).collect()
}

fn is_enough(spec: &Spec, votes: &[Ballot]) -> bool {
    let stated: Vec<_> = votes.iter().map(|it| Some(it.confidence)).collect();
    confidence::is_enough(spec, &stated)
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[test]
    fn b05_a_vote_without_options_is_refused() {
        let spec = Spec { options: Vec::new(), ..spec("voting") };
        let fields: Vec<String> = check(&spec).into_iter().map(|it| it.field).collect();
        assert_eq!(fields, ["votingOptions"]);
    }
}
