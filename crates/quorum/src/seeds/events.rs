//! Public events: requirement A's twelve events, made from facts and text deltas.
//!
//! One fact yields at most one event, under the fact's number; text deltas have no number.

use serde_json::{Value, json};

use quorum_core::{
    model::{
        event::{Event, Fact, Noted, Placed},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        outcome::StoppingReason,
        reading::Reading,
        state::State,
        transcript::Turn,
    },
    registry::Registry,
};

/// One public event.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The sequence number of the fact behind it.
    pub seq: Option<Seq>,
    /// Its name, with underscores; in SSE they become hyphens.
    pub name: &'static str,
    /// The payload, with the seed's field names.
    pub data: Value,
}

/// All event names: the twelve of A12, and our own.
pub const NAMES: [&str; 13] = [
    "discussion_started",
    "round_started",
    "turn_started",
    "turn_chunk",
    "turn_completed",
    "consensus_check_started",
    "consensus_vote",
    "consensus_result",
    "round_completed",
    "discussion_completed",
    "discussion_error",
    "discussion_aborted",
    "detection",
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

    /// A text delta of a turn under way.
    #[must_use]
    pub fn chunk(&self, participant: &str, at_ms: i64, text: &str) -> Announcement {
        let data = json!({
            "discussionId": self.id, "timestamp": at_ms, "role": self.state.as_ref().map(|it| role(it, participant)),
            "participant": participant, "chunk": text,
        });
        Announcement { seq: None, name: "turn_chunk", data }
    }
}

/// The topic and the participants. Only simulated voices are marked as such.
fn opened(state: &State) -> Value {
    let spec = &state.spec;
    let mut data = json!({ "prompt": spec.topic, "pattern": spec.pattern, "participants": state.seated });
    if spec.simulation.is_some() {
        data["simulated"] = true.into();
    }
    data
}

fn announcement(state: &State, fact: &Fact, registry: &Registry) -> Option<(&'static str, Value)> {
    match &fact.event {
        Event::LifecycleChanged { from: Lifecycle::Initializing, to: Lifecycle::Running } => {
            Some(("discussion_started", opened(state)))
        }
        Event::RoundOpened { round } => Some(("round_started", json!({ "roundNumber": round }))),
        Event::RoundClosed { round } => {
            Some(("round_completed", json!({ "roundNumber": round, "round": round_of(state, *round) })))
        }
        Event::PhaseEntered { phase, round } if phase.starts_with("consensus-check-") => {
            let role = if phase.ends_with('a') { "model-a" } else { "model-b" };
            Some(("consensus_check_started", json!({ "role": role, "roundNumber": round })))
        }
        Event::CallPlaced(placed) if !is_check(state) && !is_aside(fact) => {
            Some(("turn_started", started(state, placed)))
        }
        Event::TurnCompleted { turn } if !is_check(state) => {
            Some(("turn_completed", json!({ "turn": turn_of(state, turn) })))
        }
        Event::ReplyRead { participant, round, source, reading } => {
            let (vote, role) = (vote_of(reading)?, role(state, participant));
            Some((
                "consensus_vote",
                json!({ "role": role, "participant": participant, "roundNumber": round, "source": source, "vote": vote }),
            ))
        }
        Event::Noted(noted) if noted.kind == CHECK => Some(("consensus_result", result_of(noted))),
        Event::Noted(noted) if noted.kind == DETECTION => {
            Some(("detection", json!({ "roundNumber": noted.round, "detection": noted.value })))
        }
        Event::Concluded(end) if end.stopping == StoppingReason::USER_ABORT => {
            Some(("discussion_aborted", json!({ "reason": "user_abort" })))
        }
        Event::Concluded(end) => {
            let outcome = registry.outcome(state);
            Some((
                "discussion_completed",
                json!({
                    "stoppingReason": end.stopping, "success": end.success, "degraded": end.degraded, "synthesis": outcome.synthesis,
                    "finalConsensus": outcome.fields.get("finalConsensus"), "error": end.problem,
                }),
            ))
        }
        Event::Failed { problem, .. } => {
            Some(("discussion_error", json!({ "error": problem, "recoverable": problem.retryable })))
        }
        _ => None,
    }
}

/// The kind under which a detector's finding is recorded.
const DETECTION: &str = "detection";

/// The kind under which a dialogue's consensus check is recorded.
const CHECK: &str = "consensus-check";

/// The vote, if the reply is one.
fn vote_of(reading: &Reading) -> Option<Value> {
    let value = &reading.value;
    if reading.kind == CHECK {
        return Some(json!({
            "hasConsensus": value["agrees"], "confidence": value["confidence"],
            "reasoning": value["reasoning"], "proposedSolution": value.get("solution"),
        }));
    }
    reading.stance.as_ref().filter(|it| it.chooses).map(|_| value.clone())
}

/// Whether the fact belongs to a summary or a measurement, which is not a turn.
fn is_aside(fact: &Fact) -> bool {
    fact.step.as_ref().is_some_and(Step::is_aside)
}

fn is_check(state: &State) -> bool {
    state.lifecycle == Lifecycle::Running
        && state.phase.as_deref().is_some_and(|it| it.starts_with("consensus-check-"))
}

/// The role under the seed's name in a dialogue, under ours elsewhere.
fn role(state: &State, participant: &str) -> String {
    let seat = state.spec.participants.iter().position(|it| it.name == participant);
    match (state.spec.pattern.as_str(), seat) {
        ("dialogue", Some(0)) => "model-a".to_owned(),
        ("dialogue", Some(1)) => "model-b".to_owned(),
        _ => state.spec.seat(participant).map_or_else(String::new, |it| it.role.to_string()),
    }
}

fn model(state: &State, participant: &str) -> String {
    let seat = state.spec.seat(participant);
    seat.map(|it| it.model.clone().unwrap_or_else(|| it.provider.clone())).unwrap_or_default()
}

fn started(state: &State, placed: &Placed) -> Value {
    json!({
        "role": role(state, &placed.participant), "participant": placed.participant,
        "modelId": model(state, &placed.participant), "roundNumber": state.round, "attempt": placed.attempt,
        "form": placed.form,
    })
}

fn turn_of(state: &State, turn: &Turn) -> Value {
    let mut data = json!({
        "id": state.id.derived(turn.step.as_str()), "role": role(state, &turn.participant), "participant": turn.participant,
        "roundNumber": turn.round, "phase": turn.phase, "content": turn.prose(), "timestamp": turn.started_at.epoch_ms(),
        "durationMs": turn.duration_ms, "finishReason": turn.finish.name(),
        "tokenUsage": { "promptTokens": turn.bill.usage.prompt, "completionTokens": turn.bill.usage.completion },
    });
    if let Some(form) = &turn.form {
        data["form"] = json!(form);
    }
    data
}

fn round_of(state: &State, round: u32) -> Value {
    let turns =
        state.turns.iter().filter(|turn| turn.round == round && !turn.phase.starts_with("consensus-check-"));
    let turns: Vec<Value> = turns.map(|turn| turn_of(state, turn)).collect();
    let mut checks = state.noted.iter().filter(|it| it.kind == CHECK);
    let check = checks.find(|it| it.round == round).map(result_of);
    json!({ "number": round, "turns": turns, "consensusCheck": check })
}

fn result_of(check: &Noted) -> Value {
    let value = &check.value;
    let vote = |index: usize| value.pointer(&format!("/votes/{index}/1"));
    json!({
        "roundNumber": check.round, "isUnanimous": value["agreed"], "modelAVote": vote(0),
        "modelBVote": vote(1), "finalSolution": value.get("solution"),
    })
}

/// Adds the fields, leaving out those that are null.
fn merge(data: &mut Value, fields: Value) {
    let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) else { return };
    data.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
}
