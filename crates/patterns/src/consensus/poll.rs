//! Decides by votes: which votes count, who still has to be asked, and what the count decides under
//! a method's rule.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    floor::{Floor, halt::Halt, reading::Understood},
    model::{
        error::{Code, Problem, Refusal},
        outcome::{Decision, ResultKind},
        participant::Participant,
        spec::Spec,
    },
};
use serde_json::{Map, Value};

use super::{
    SYNTHESIS_PROMPT, THRESHOLD, answer_value,
    draft::{draft, fallback},
    no_effect,
    tally::{self, Count, Measure, Uncounted, count},
};
use crate::{
    first::{self, baseline},
    pattern,
    prompts::{deciding, listed},
    readers::{
        Ballot, CastBallot, Synthesis,
        ballot::{self, BALLOT, Ballots},
    },
    roles,
    weighing::{self, Weighing},
};

const AGREE: &str = "agree";
const DISAGREE: &str = "disagree";

/// A method's requirement for the votes.
pub(super) struct Rule {
    pub(super) measure: Measure,
    /// Whether the leading option wins, given the threshold. Not called on a tie.
    pub(super) carries: fn(&Count, f64) -> bool,
    /// The requirement's name in messages: `a majority`.
    pub(super) aim: &'static str,
}

/// The rule where blind answers settle it: the option that leads wins.
const SETTLED: Rule = Rule { measure: Measure::Weight, carries: |_, _| true, aim: "a lead" };

/// Checks the options, unless the pattern itself votes on them and checks them.
pub(super) fn check(spec: &Spec) -> Vec<Refusal> {
    if spec.options.is_empty() || votes_itself(spec) { Vec::new() } else { ballot::check(&spec.options) }
}

/// The settings without effect: votes on options decide without a synthesis.
pub(super) fn remarks(spec: &Spec) -> Vec<Refusal> {
    let writes = !votes_itself(spec) && spec.options.is_empty();
    let why = "votes on options decide, and no synthesis is written";
    let unused = (!writes).then(|| no_effect(spec, SYNTHESIS_PROMPT.name(), why)).flatten();
    unused.into_iter().chain(first::remarks(spec)).collect()
}

/// The settings without effect under a method that counts every vote equally.
pub(super) fn remarks_by_heads(spec: &Spec) -> Vec<Refusal> {
    let by_heads = (!pattern::settle::is(spec)).then(|| weighing::remark(spec)).flatten();
    remarks(spec).into_iter().chain(by_heads).collect()
}

/// The number of calls: none if the pattern votes; otherwise everyone votes on the options or on a
/// draft.
pub(super) fn calls(spec: &Spec) -> u32 {
    let voters = roles::voters(spec).len() as u32;
    let voting = match (votes_itself(spec), spec.options.is_empty()) {
        (true, _) => 0,
        (false, false) => voters,
        (false, true) => 1 + voters,
    };
    voting + answer_value::calls(spec) + baseline::calls(spec)
}

/// Whether the pattern itself has the participants vote on the options.
pub(crate) fn votes_itself(spec: &Spec) -> bool {
    spec.pattern == pattern::voting::PATTERN.name || pattern::settle::is(spec)
}

/// How votes on the options are counted under this rule. A weighted vote is weighed as the spec
/// says.
fn measure(rule: &Rule, spec: &Spec) -> Measure {
    match rule.measure {
        Measure::Weight => Measure::of(Weighing::of(spec)),
        fixed => fixed,
    }
}

/// Decides by the votes of the talk, or else asks for votes now.
pub(super) async fn decide(floor: &mut Floor, rule: &Rule) -> Result<Decision, Halt> {
    let spec = floor.spec();
    let taken = ballots_of_talk(floor);
    // A participant votes once, even if its vote could not be read.
    if pattern::settle::is(&spec) {
        return Ok(on_options(floor, &SETTLED, pattern::settle::counted(floor), Taken::AsNeeded));
    }
    if votes_itself(&spec) || !taken.is_empty() {
        return Ok(on_options(floor, rule, taken, Taken::InTalk));
    }
    if !spec.options.is_empty() {
        let voters = floor.present(&roles::voters(&spec));
        let systems = systems(floor, &voters);
        let ask = |who: &Participant| {
            deciding::closing_ballot(&spec, who, systems.get(&who.name).cloned()).purpose("vote")
        };
        let votes = floor.ask_all_for(&voters, ask, &Ballots::on(&spec.options)).await?;
        let cast = cast_ballots(floor, votes);
        return Ok(on_options(floor, rule, cast, Taken::ToDecide));
    }
    match draft(floor).await? {
        Some(proposal) => on_proposal(floor, rule, proposal).await,
        None => {
            let message =
                "no participant could write a proposal to vote on; the last recorded answer is used instead";
            Ok(fallback(floor, message))
        }
    }
}

/// The system texts with which these were asked during the talk.
fn systems(floor: &Floor, voters: &[Participant]) -> BTreeMap<String, Arc<str>> {
    voters.iter().filter_map(|it| Some((it.name.clone(), floor.system_of(&it.name)?))).collect()
}

/// Whether the votes of this round leave the outcome open: no option has what the method requires,
/// or nobody is sure of anything. A method that doesn't count votes requires what a weighted vote
/// does.
pub(crate) fn is_open(floor: &Floor, round: u32) -> bool {
    let spec = floor.spec();
    let rule = super::rule_of(&spec.consensus.method);
    let ballots = ballots_of_round(floor, round);
    let uncounted = uncounted(floor, &ballots, Taken::InTalk);
    let count = count(&spec, &spec.options, ballots, uncounted, measure(rule, &spec));
    !(rule.is_carried(&count, &spec) && count.has_weight())
}

/// The tally of the votes taken during the talk, for methods that don't decide by votes
/// (INV-DISC-202).
pub(super) fn tally_of_talk(floor: &Floor) -> Map<String, Value> {
    let spec = floor.spec();
    let (taken, when) = match pattern::settle::is(&spec) {
        true => (pattern::settle::counted(floor), Taken::AsNeeded),
        false => (ballots_of_talk(floor), Taken::InTalk),
    };
    if taken.is_empty() {
        return Map::new();
    }
    let uncounted = uncounted(floor, &taken, when);
    let measure = Measure::of(Weighing::of(&spec));
    tally::findings(&count(&spec, &spec.options, taken, uncounted, measure).tally)
}

/// The ballots of the last round that has any, in seating order.
fn ballots_of_talk(floor: &Floor) -> Vec<CastBallot> {
    let mut rounds = (1..=floor.round()).rev().map(|round| ballots_of_round(floor, round));
    rounds.find(|it| !it.is_empty()).unwrap_or_default()
}

/// The ballots of a round of the talk, in seating order.
pub(crate) fn ballots_of_round(floor: &Floor, round: u32) -> Vec<CastBallot> {
    let spec = floor.spec();
    let ballots = floor.readings(round).into_iter().filter_map(|it| {
        let ballot = it.value.read(BALLOT)?;
        Some(CastBallot { participant: it.participant, round, source: it.source, ballot })
    });
    let mut ballots: Vec<CastBallot> = ballots.collect();
    ballots.sort_by_key(|it| spec.participants.iter().position(|seat| seat.name == it.participant));
    ballots
}

/// The participants of which no vote is counted in the round of these ballots, or in the current
/// one. A voter that failed was to vote, so it stays in the count.
fn uncounted(floor: &Floor, ballots: &[CastBallot], taken: Taken) -> Uncounted {
    let round = ballots.first().map_or(floor.round(), |it| it.round);
    let seated = floor.seated(&roles::voters(&floor.spec())).into_iter().map(|it| it.name).collect();
    let dropped = match taken {
        Taken::InTalk | Taken::AsNeeded => floor.dropped(round),
        Taken::ToDecide => Vec::new(),
    };
    let uncounted = Uncounted::among(seated, ballots, floor.unread(round, BALLOT), &dropped);
    match taken {
        Taken::AsNeeded => uncounted.sparing(|name| floor.has_failed(name)),
        Taken::InTalk | Taken::ToDecide => uncounted,
    }
}

/// When votes were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// In a round of the talk, which may end before everyone has voted.
    InTalk,
    /// One after another, while one could still change the outcome.
    AsNeeded,
    /// After the talk.
    ToDecide,
}

fn cast_ballots(floor: &Floor, votes: Vec<Understood<Ballot>>) -> Vec<CastBallot> {
    let round = floor.round();
    let cast = |it: Understood<Ballot>| CastBallot {
        participant: it.participant,
        round,
        source: it.source,
        ballot: it.value,
    };
    votes.into_iter().map(cast).collect()
}

fn on_options(floor: &Floor, rule: &Rule, ballots: Vec<CastBallot>, taken: Taken) -> Decision {
    let spec = floor.spec();
    let uncounted = uncounted(floor, &ballots, taken);
    let count = count(&spec, &spec.options, ballots, uncounted, measure(rule, &spec));
    let carried = rule.is_carried(&count, &spec);
    let leader = count.tally.winner.as_deref();
    let kind = match leader {
        Some(_) if carried => ResultKind::Adopted,
        None if !count.tally.tie.is_empty() => ResultKind::Tie,
        Some(_) | None => ResultKind::NoConsensus,
    };
    Decision {
        synthesis: count.account(&spec.options, (!carried).then_some(rule.aim)),
        standing: count.standing(kind, leader),
        agreement: (0 < count.cast()).then_some(count.share),
        dissent: count.dissent_from(count.tally.winner.as_deref()),
        problem: (!carried).then(|| rule.problem(&count, &spec.options)),
        found: tally::findings(&count.tally),
        ..Decision::default()
    }
}

async fn on_proposal(
    floor: &mut Floor,
    rule: &Rule,
    proposal: Understood<Synthesis>,
) -> Result<Decision, Halt> {
    let spec = floor.spec();
    let options = [AGREE, DISAGREE].map(str::to_owned);
    let text = &proposal.value.synthesis;
    let voters = floor.present(&roles::voters(&spec));
    let systems = systems(floor, &voters);
    let ask = |who: &Participant| {
        let system = systems.get(&who.name).cloned();
        deciding::ballot_on_proposal(&spec, who, text, &options, system).purpose("vote")
    };
    let votes = floor.ask_all_for(&voters, ask, &Ballots::on(&options)).await?;
    let ballots = cast_ballots(floor, votes);
    let uncounted = uncounted(floor, &ballots, Taken::ToDecide);
    let count = count(&spec, &options, ballots, uncounted, rule.measure);
    let carried = rule.is_carried(&count, &spec) && count.tally.winner.as_deref() == Some(AGREE);
    let kind = if carried { ResultKind::Adopted } else { ResultKind::NotAdopted };
    Ok(Decision {
        standing: count.standing(kind, Some(AGREE)),
        agreement: (0 < count.cast()).then(|| count.share_of(AGREE)),
        dissent: count.dissent_from(Some(AGREE)),
        problem: (!carried).then(|| rule.problem(&count, &options)),
        found: tally::findings(&count.tally),
        ..proposal.value.decision(&proposal.participant)
    })
}

impl Rule {
    fn is_carried(&self, count: &Count, spec: &Spec) -> bool {
        count.tally.winner.is_some() && (self.carries)(count, spec.option(&THRESHOLD))
    }

    fn problem(&self, count: &Count, options: &[String]) -> Problem {
        let tie = match &count.tally.tie[..] {
            [] => String::new(),
            tied => format!("; a tie between {}", listed(tied)),
        };
        let silent = match &count.uncounted.all()[..] {
            [] => String::new(),
            silent => format!("; no vote counted from {}", listed(silent)),
        };
        let message = format!("the votes did not reach {}: {}{tie}{silent}", self.aim, count.line(options));
        Problem::new(Code::ConsensusFailed, message)
    }
}

#[cfg(test)]
mod tests {
    use quorum_core::model::reading::Source;
    use quorum_testkit::spec::spec;

    use super::*;
    use crate::{
        consensus::{majority, unanimous, voting},
        readers::Confidence,
    };

    fn counting(rule: &Rule, votes: &[(&str, f64)]) -> (Count, Spec) {
        let spec = spec("voting");
        let cast = |(seat, (choice, sure)): (usize, &(&str, f64))| CastBallot {
            participant: spec.participants[seat].name.clone(),
            round: 1,
            source: Source::Stated,
            ballot: Ballot {
                choice: (*choice).to_owned(),
                confidence: Confidence::clamped(*sure),
                reasoning: String::new(),
            },
        };
        let ballots: Vec<CastBallot> = votes.iter().enumerate().map(cast).collect();
        let dropped = spec.participants[votes.len()..].iter().map(|it| it.name.clone()).collect();
        let uncounted = Uncounted { dropped, ..Uncounted::default() };
        (count(&spec, &spec.options, ballots, uncounted, rule.measure), spec)
    }

    #[track_caller]
    fn check(rule: &Rule, threshold: f64, votes: &[(&str, f64)], expected: &str) {
        let (count, mut spec) = counting(rule, votes);
        spec.settings.set(THRESHOLD.name(), threshold);
        let carried = rule.is_carried(&count, &spec);
        let found = if carried { "carried".to_owned() } else { rule.problem(&count, &spec.options).message };
        assert_eq!(found, expected, "{votes:?}");
    }

    #[test]
    fn b02_a_majority_is_more_than_half_and_the_threshold() {
        let votes = [("tabs", 0.1), ("tabs", 0.1), ("spaces", 1.0)];
        check(&majority::RULE, 0.5, &votes, "carried");
        check(&majority::RULE, 0.6, &votes, "carried");
        check(&majority::RULE, 0.7, &votes, "the votes did not reach a majority: tabs 2, spaces 1");
        check(
            &majority::RULE,
            0.0,
            &votes[1..],
            "the votes did not reach a majority: tabs 1, spaces 1; a tie between spaces and tabs; no vote counted from cyd",
        );
    }

    #[test]
    fn b02_voting_weighs_by_confidence() {
        let votes = [("tabs", 0.4), ("tabs", 0.4), ("spaces", 1.0)];
        check(&voting::RULE, 0.5, &votes, "carried");
        let line = "tabs 44 % of the weight (2 votes), spaces 56 % of the weight (1 vote)";
        check(&voting::RULE, 0.6, &votes, &format!("the votes did not reach the threshold: {line}"));
        check(
            &voting::RULE,
            0.5,
            &[("tabs", 0.8), ("spaces", 0.8)],
            "the votes did not reach the threshold: tabs 50 % of the weight (1 vote), spaces 50 % of the weight (1 vote); \
             a tie between spaces and tabs; no vote counted from cyd",
        );
    }

    #[test]
    fn b02_unanimous_is_everyone_for_the_same() {
        let votes = [("tabs", 0.1), ("tabs", 0.9), ("tabs", 0.5)];
        check(&unanimous::RULE, 0.5, &votes, "carried");
        let silent = "the votes did not reach unanimity: tabs 2, spaces 0; no vote counted from cyd";
        check(&unanimous::RULE, 0.5, &votes[..2], silent);
        let one_against = [("tabs", 0.1), ("tabs", 0.9), ("spaces", 0.5)];
        check(&unanimous::RULE, 0.5, &one_against, "the votes did not reach unanimity: tabs 2, spaces 1");
    }

    #[test]
    fn without_votes_nothing_is_adopted() {
        for rule in [&majority::RULE, &voting::RULE, &unanimous::RULE] {
            let (count, spec) = counting(rule, &[]);
            assert!(!rule.is_carried(&count, &spec));
            assert!(
                rule.problem(&count, &spec.options)
                    .message
                    .ends_with("no vote counted from ann, bob and cyd")
            );
        }
    }

    #[test]
    fn b02_calls_are_held_back_for_everyone_that_will_be_asked() {
        assert_eq!(calls(&spec("voting")), 0);
        assert_eq!(calls(&spec("synthesis")), 4);
        assert_eq!(calls(&Spec { options: spec("voting").options, ..spec("synthesis") }), 3);
        assert_eq!(calls(&spec("debate")), 4, "after a debate the judge votes too");
    }

    #[test]
    fn options_are_refused_once() {
        let one = vec!["tabs".to_owned()];
        assert_eq!(super::check(&Spec { options: one.clone(), ..spec("synthesis") }).len(), 1);
        assert_eq!(super::check(&Spec { options: one, ..spec("voting") }), []);
        assert_eq!(super::check(&spec("synthesis")), []);
    }
}
