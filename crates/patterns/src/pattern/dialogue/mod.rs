//! Dialogue: two partners take turns; after each round both say whether they agree, and agreement
//! ends it (requirement A).

mod outcome;

use quorum_core::{
    floor::{
        Floor,
        ask::{Ask, Hears},
        halt::Halt,
        notes::Note,
    },
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::{Defaults, ErrorOnLoss, Pattern},
    vocabulary::{
        ending::Ending,
        option::Opt,
        result::ResultField,
        view::{Cell, Column, View},
    },
};
use serde_json::json;

use crate::{
    prompts::{deciding, talk},
    readers::{
        ConsensusVote,
        markers::{self, ConsensusChecks, no},
    },
};

use outcome::{Check, FinalConsensus};

/// Whether both must agree (A02).
const BOTH_MUST_AGREE: Opt<bool> =
    Opt::flag("requireBothConsensus", "Whether both partners must agree, or one is enough", true);

/// Rounds before the first consensus check (A02).
const MIN_ROUNDS: Opt<u32> =
    Opt::whole("minRoundsBeforeConsensus", "Rounds before the first consensus check", 0..=10, 1);

/// The kind of a consensus check in the record.
const CHECK: &str = "consensus-check";

const REACHED: &str = "consensus-reached";
const USED_UP: &str = "max-iterations";

const TURN_A: Phase = Phase("model-a-turn");
const TURN_B: Phase = Phase("model-b-turn");
const CHECK_A: Phase = Phase("consensus-check-a");
const CHECK_B: Phase = Phase("consensus-check-b");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "dialogue",
    summary: "Two partners take turns until they agree",
    suits: "Working something out step by step, by two voices that must both be content",
    sketch: &["1", "2", "1", "2", "*"],
    flow: 2,
    defaults: Defaults {
        rounds: 10,
        step_ms: 120_000,
        seats: (2, 2),
        panel: &["claude", "gemini"],
        ..Defaults::PLAIN
    },
    options: &[&BOTH_MUST_AGREE, &MIN_ROUNDS],
    forms: &[&markers::FORM],
    ends: &[
        Ending::new(REACHED, "The partners have reached consensus").stopping("consensus_reached"),
        Ending::new(USED_UP, "The rounds are used up").stopping("max_iterations"),
    ],
    results: &[
        ResultField {
            name: "consensusChecks",
            title: "Consensus checks",
            view: View::Table {
                columns: &[
                    Column::of("round", "/round", Cell::Number),
                    Column::of("agreed", "/agreed", Cell::YesNo),
                    Column::text("solution", "/solution"),
                ],
            },
            of: |state| {
                let checks: Vec<Check> = state.noted(CHECK).collect();
                (!checks.is_empty()).then(|| json!(checks))
            },
        },
        ResultField {
            name: "finalConsensus",
            title: "Agreed on",
            view: View::Hidden,
            of: |state| FinalConsensus::of(state).map(|it| json!(it)),
        },
    ],
    remarks,
    phases: PhaseTable {
        first: &[TURN_A],
        next: &[
            (TURN_A, &[TURN_B]),
            (TURN_B, &[CHECK_A, TURN_A]),
            (CHECK_A, &[CHECK_B]),
            (CHECK_B, &[TURN_A]),
        ],
    },
    check,
    standing: outcome::standing,
    error_on_loss: ErrorOnLoss::TurnFailed,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let speakers = spec.speakers().len();
    let mut refusals = Vec::new();
    if speakers != 2 {
        let message = format!("a dialogue is between exactly 2 participants, not {speakers}");
        refusals.push(Refusal::new("providers", Code::InvalidRequest, message));
    }
    // A person is not a provider and is waited for, so only models count.
    let models = spec.speakers().iter().filter(|it| !it.is_person()).count().min(2) as u32;
    if spec.tolerance.min_providers < models {
        let message = "a dialogue can't go on without its partner; set minProviders to 2";
        refusals.push(Refusal::new("minProviders", Code::InvalidRequest, message));
    }
    refusals
}

/// A minimum of rounds that is never reached.
fn remarks(spec: &Spec) -> Vec<Refusal> {
    let least = spec.option(&MIN_ROUNDS);
    let told = (least > spec.rounds).then(|| {
        let message = format!(
            "{least} rounds come before the first check, and there are at most {}, so nobody is asked whether they agree",
            spec.rounds
        );
        Refusal::new("minRoundsBeforeConsensus", Code::InvalidRequest, message)
    });
    told.into_iter().collect()
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let speakers = spec.speakers();
    let [a, b] = &speakers[..] else { return Ok(None) };
    for round in 1..=spec.rounds {
        floor.enter(TURN_A, round).await?;
        floor.ask(a, turn(&spec, (a, b), round)).await?;
        floor.enter(TURN_B, round).await?;
        floor.ask(b, turn(&spec, (b, a), round)).await?;

        if round < floor.option(&MIN_ROUNDS) {
            record_check(floor, &outcome::skipped(round, [a, b]))?;
            continue;
        }
        floor.enter(CHECK_A, round).await?;
        let vote_a = vote(floor, &spec, a, b).await?;
        floor.enter(CHECK_B, round).await?;
        let vote_b = vote(floor, &spec, b, a).await?;
        let votes = [(a.name.clone(), vote_a), (b.name.clone(), vote_b)];
        let decision = outcome::decision(floor.option(&BOTH_MUST_AGREE), &votes);
        record_check(floor, &outcome::check(round, votes, decision.as_ref()))?;
        if decision.is_some() {
            floor.end(REACHED, round, None)?;
            return Ok(decision);
        }
    }
    floor.end(USED_UP, spec.rounds, None)?;
    Ok(None)
}

/// The next turn of `who`. In the first round neither partner sees the other's text, so that two
/// answers meet and not an answer and a reaction to it.
fn turn(spec: &Spec, (who, partner): (&Participant, &Participant), round: u32) -> Ask {
    let hears = if round == 1 { Hears::Nothing } else { Hears::Everything };
    talk::turn(spec, who, partner, round).hearing(hears).retries(2)
}

fn record_check(floor: &mut Floor, check: &Check) -> Result<(), Halt> {
    let told = (!check.skipped).then(|| {
        let answer = if check.agreed { "there is consensus" } else { "there is no consensus yet" };
        answer.to_owned()
    });
    floor.note(Note { kind: CHECK, key: "", round: check.round, value: check, told })
}

async fn vote(
    floor: &mut Floor,
    spec: &Spec,
    who: &Participant,
    partner: &Participant,
) -> Result<ConsensusVote, Halt> {
    let ask = deciding::consensus_check(spec, who, partner).retries(1);
    let vote = floor.ask_for(who, ask, &ConsensusChecks).await?;
    Ok(vote.map_or_else(|| no("There was no answer to read; it counts as an uncertain no."), |it| it.value))
}

#[cfg(test)]
mod tests {
    use quorum_core::model::spec::Tolerance;
    use quorum_testkit::spec::spec;

    use super::*;

    #[track_caller]
    fn refuses(spec: &Spec, fields: &[&str]) {
        let refused: Vec<String> = check(spec).into_iter().map(|it| it.field).collect();
        assert_eq!(refused, fields);
    }

    #[test]
    fn a01_a_dialogue_is_between_two() {
        refuses(&spec("dialogue"), &[]);
        refuses(&Spec { participants: spec("synthesis").participants, ..spec("dialogue") }, &["providers"]);
    }

    #[test]
    fn a14_a_dialogue_does_not_go_on_alone() {
        let tolerance = Tolerance { go_on: true, min_providers: 1 };
        refuses(&Spec { tolerance, ..spec("dialogue") }, &["minProviders"]);
    }

    #[test]
    fn c02_a_dialogue_with_a_person_has_enough_participants() {
        let mut order = spec("dialogue");
        order.participants[1] = Participant::person("eva");
        order.tolerance.min_providers = 1;
        refuses(&order, &[]);
    }

    #[test]
    fn a03_only_the_known_moves_are_legal() {
        let phases = [TURN_A, TURN_B, CHECK_A, CHECK_B];
        let moves = |from: Phase| -> Vec<&str> {
            let allowed = phases.iter().filter(|to| PATTERN.phases.allows(Some(from.0), **to));
            allowed.map(|to| to.0).collect()
        };
        assert_eq!(moves(TURN_A), ["model-b-turn"]);
        assert_eq!(moves(TURN_B), ["model-a-turn", "consensus-check-a"]);
        assert_eq!(moves(CHECK_A), ["consensus-check-b"]);
        assert_eq!(moves(CHECK_B), ["model-a-turn"]);
        assert!(PATTERN.phases.allows(None, TURN_A) && !PATTERN.phases.allows(None, TURN_B));
    }
}
