//! Public events: requirement A's twelve events, made from facts and text deltas, and our own:
//! three for the synthesis of a dialogue, which is the turn of neither model, one for what a
//! detector found, one for a decision that people are asked for, and two for the steps of a run.
//!
//! One fact yields at most one event, under the fact's number; text deltas have no number.

use serde_json::{Value, json};

use quorum_core::{
    model::{
        error::Code,
        event::{Event, Fact, Placed},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        outcome::{RulingReport, StoppingReason},
        phase::DECIDING,
        reading::{Reading, Source},
        state::State,
        transcript::Turn,
    },
    registry::Registry,
};

use quorum_patterns::workflow::report::STEP;

use super::dialogue;

/// One public event.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The sequence number of the fact behind it.
    pub seq: Option<Seq>,
    /// Its name.
    pub name: &'static str,
    /// The payload, with the seed's field names.
    pub data: Value,
}

/// All event names: A12's, then ours.
pub const NAMES: [&str; 19] = [
    "discussion-started",
    "round-started",
    "turn-started",
    "turn-chunk",
    "turn-completed",
    "consensus-check-started",
    "consensus-vote",
    "consensus-result",
    "round-completed",
    "discussion-completed",
    "discussion-error",
    "discussion-aborted",
    "synthesis-started",
    "synthesis-chunk",
    "synthesis-completed",
    "detection",
    "ruling-awaited",
    "step-started",
    "step-completed",
];

/// Translates the facts of one discussion to public events.
#[derive(Debug, Clone)]
pub struct Announcer {
    id: DiscussionId,
    registry: Registry,
    state: Option<State>,
}

impl Announcer {
    /// Creates a translator for this discussion, from its first fact on.
    #[must_use]
    pub fn new(id: DiscussionId, registry: Registry) -> Self {
        Announcer { id, registry, state: None }
    }

    /// Translates the next fact.
    pub fn announce(&mut self, fact: &Fact) -> Option<Announcement> {
        let Some(state) = &mut self.state else {
            self.state = State::opened(self.id, fact);
            return None;
        };
        if fact.seq <= state.seq {
            return None;
        }
        state.apply(fact);
        let (name, fields) = announcement(state, fact, &self.registry)?;
        let mut data = json!({ "discussionId": self.id, "timestamp": fact.at.epoch_ms() });
        merge(&mut data, fields);
        Some(Announcement { seq: Some(fact.seq), name, data })
    }

    /// The state after the facts so far; `None` before the first.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// A text delta of a turn under way; `None` if no turn was announced for its step: it belongs
    /// to a vote of a dialogue, a summary or a measurement.
    #[must_use]
    pub fn chunk(&self, step: &Step, participant: &str, at_ms: i64, text: &str) -> Option<Announcement> {
        let state = self.state.as_ref()?;
        if dialogue::is_check(phase_of(step)) || step.is_aside() {
            return None;
        }
        let is_synthesis = is_synthesis(state, phase_of(step));
        let name = if is_synthesis { "synthesis-chunk" } else { "turn-chunk" };
        let data = json!({
            "discussionId": self.id, "timestamp": at_ms, "role": role(state, participant).filter(|_| !is_synthesis),
            "participant": participant, "chunk": text,
        });
        Some(Announcement { seq: None, name, data: dialogue::without_nulls(data) })
    }
}

/// The topic and the participants. Only simulated voices are marked as such.
fn opened(state: &State, registry: &Registry) -> Value {
    let spec = &state.spec;
    let mut data = json!({ "prompt": spec.topic, "pattern": spec.pattern, "participants": state.seated });
    if dialogue::is_dialogue(state) {
        merge(&mut data, dialogue::opened(state, registry));
    }
    if spec.simulation.is_some() {
        data["simulated"] = true.into();
    }
    data
}

fn announcement(state: &State, fact: &Fact, registry: &Registry) -> Option<(&'static str, Value)> {
    match &fact.event {
        Event::LifecycleChanged { from: Lifecycle::Initializing, to: Lifecycle::Running } => {
            Some(("discussion-started", opened(state, registry)))
        }
        Event::RoundOpened { round } => Some(("round-started", json!({ "roundNumber": round }))),
        Event::RoundClosed { round } => {
            Some(("round-completed", json!({ "roundNumber": round, "round": round_of(state, *round)? })))
        }
        // Once a round, before the first vote.
        Event::PhaseEntered { phase, round } if phase == "consensus-check-a" => {
            Some(("consensus-check-started", json!({ "roundNumber": round })))
        }
        Event::CallPlaced(placed) => {
            let step = fact.step.as_ref().filter(|it| !it.is_aside() && !dialogue::is_check(phase_of(it)))?;
            Some(started(state, step, placed))
        }
        Event::TurnCompleted { turn } if !dialogue::is_check(&turn.phase) => Some(completed(state, turn)),
        Event::ReplyRead { participant, round, source, reading } => {
            let vote = vote_of(state, participant, reading, fact)?;
            let assumed = dialogue::is_dialogue(state) && *source == Source::Assumed;
            Some((
                "consensus-vote",
                json!({
                    "role": role(state, participant), "participant": participant, "roundNumber": round,
                    "source": source, "vote": vote, "code": assumed.then_some(Code::ConsensusParseFailed),
                }),
            ))
        }
        Event::Noted(noted) if noted.kind == dialogue::CHECK => {
            let (result, round) = (dialogue::result(state, noted), noted.round);
            Some(("consensus-result", json!({ "roundNumber": round, "result": result })))
        }
        Event::Noted(noted) if noted.kind == DETECTION => {
            Some(("detection", json!({ "roundNumber": noted.round, "detection": noted.value })))
        }
        Event::ChildConvened(begun) => {
            Some(("step-started", json!({ "path": begun.name, "discussion": begun.child })))
        }
        Event::ToolPlaced(placed) if placed.attempt == 1 => {
            Some(("step-started", json!({ "path": placed.name, "tool": placed.tool })))
        }
        Event::Noted(noted) if noted.kind == STEP => {
            Some(("step-completed", json!({ "path": noted.value["path"], "step": noted.value })))
        }
        Event::RulingAwaited(awaited) => Some(("ruling-awaited", json!(RulingReport::of(awaited)))),
        Event::Concluded(end) => Some(concluded(state, registry, &end.stopping)),
        Event::Failed { .. } => Some(("discussion-error", failed(state, registry))),
        _ => None,
    }
}

/// The kind under which a detector's finding is recorded.
const DETECTION: &str = "detection";

fn concluded(state: &State, registry: &Registry, stopping: &StoppingReason) -> (&'static str, Value) {
    if *stopping == StoppingReason::USER_ABORT {
        return ("discussion-aborted", json!({ "reason": "user_abort" }));
    }
    let outcome = registry.outcome(state);
    let mut data = json!({
        "stoppingReason": stopping, "success": outcome.success, "degraded": outcome.integrity.degraded,
        "outcome": outcome.outcome, "synthesis": outcome.synthesis,
        "finalConsensus": outcome.fields.get("finalConsensus"), "totalTokensUsed": dialogue::tokens(state),
        "durationMs": state.active_ms, "costSummary": outcome.metadata.cost_summary,
        "earlyExit": outcome.metadata.early_exit,
    });
    if dialogue::is_broken_off(state) {
        merge(&mut data, json!({ "error": dialogue::error(state, &outcome) }));
        return ("discussion-error", data);
    }
    let error = if dialogue::is_dialogue(state) {
        dialogue::error(state, &outcome)
    } else {
        outcome.error.map(|it| json!(it))
    };
    merge(&mut data, json!({ "error": error }));
    ("discussion-completed", data)
}

fn failed(state: &State, registry: &Registry) -> Value {
    let outcome = registry.outcome(state);
    let recoverable = outcome.error.as_ref().map(|it| it.retryable);
    if dialogue::is_dialogue(state) {
        return json!({ "error": dialogue::error(state, &outcome) });
    }
    let mut error = json!(outcome.error);
    error["recoverable"] = json!(recoverable);
    json!({ "error": error, "recoverable": recoverable })
}

/// The vote, if the reply is one.
fn vote_of(state: &State, participant: &str, reading: &Reading, fact: &Fact) -> Option<Value> {
    let of_dialogue = dialogue::vote_of(state, participant, reading, fact.at);
    of_dialogue.or_else(|| reading.stance.as_ref().filter(|it| it.chooses).map(|_| reading.value.clone()))
}

/// The phase of a step: `round/phase/participant`.
fn phase_of(step: &Step) -> &str {
    step.as_str().split('/').nth(1).unwrap_or_default()
}

/// Whether a dialogue is summed up in this phase, which is the turn of neither model.
fn is_synthesis(state: &State, phase: &str) -> bool {
    dialogue::is_dialogue(state) && phase == DECIDING
}

/// The role under the seed's name in a dialogue, under ours elsewhere.
fn role(state: &State, participant: &str) -> Option<String> {
    if dialogue::is_dialogue(state) {
        return dialogue::role(state, participant).map(str::to_owned);
    }
    state.spec.seat(participant).map(|it| it.role.to_string())
}

fn started(state: &State, step: &Step, placed: &Placed) -> (&'static str, Value) {
    let is_synthesis = is_synthesis(state, phase_of(step));
    let name = if is_synthesis { "synthesis-started" } else { "turn-started" };
    let model = placed.model.clone().unwrap_or_else(|| dialogue::model_id(state, &placed.participant));
    let provider =
        state.spec.seat(&placed.participant).map_or(placed.provider.as_str(), dialogue::provider_id);
    let data = json!({
        "role": role(state, &placed.participant).filter(|_| !is_synthesis), "participant": placed.participant,
        "modelId": model, "providerId": provider, "roundNumber": state.round, "attempt": placed.attempt,
        "form": placed.form,
    });
    (name, data)
}

fn completed(state: &State, turn: &Turn) -> (&'static str, Value) {
    let mut told = turn_of(state, turn);
    if !is_synthesis(state, &turn.phase) {
        return ("turn-completed", json!({ "turn": told }));
    }
    told.as_object_mut().map(|it| it.remove("role"));
    ("synthesis-completed", json!({ "turn": told }))
}

/// A turn under the seed's names, and beside them who spoke, which model, and at what cost.
fn turn_of(state: &State, turn: &Turn) -> Value {
    let mut told = dialogue::turn(state, turn);
    let is_person = state.spec.seat(&turn.participant).is_some_and(|it| it.is_person());
    merge(
        &mut told,
        json!({
            "role": role(state, &turn.participant), "participant": turn.participant, "phase": turn.phase,
            "form": turn.form, "model": turn.model, "answeredBy": turn.answered_by,
            "costUsd": turn.bill.cost.filter(|_| !is_person).map(|it| it.dollars()),
            "estimated": turn.bill.estimated.then_some(true),
        }),
    );
    told
}

fn round_of(state: &State, round: u32) -> Option<Value> {
    if dialogue::is_dialogue(state) {
        return dialogue::round(state, round);
    }
    let turns = state.turns.iter().filter(|turn| turn.round == round);
    let turns: Vec<Value> = turns.map(|turn| turn_of(state, turn)).collect();
    Some(json!({ "number": round, "turns": turns }))
}

/// Adds the fields, leaving out those that are null.
fn merge(data: &mut Value, fields: Value) {
    let (Some(data), Value::Object(fields)) = (data.as_object_mut(), dialogue::without_nulls(fields)) else {
        return;
    };
    data.extend(fields);
}
