//! What tools answer with: the handle of a discussion that goes on, or its result, compact or
//! whole.

use quorum::{
    Registry,
    model::{command::Command, lifecycle::Lifecycle, outcome::Outcome, state::State, time::Timestamp},
};
use serde_json::{Map, Value, json};

use crate::mcp::{ToolNames, fit, run};

/// The states of a discussion in answers.
pub(crate) const STATUSES: &[&str] =
    &["queued", "running", "completed", "paused", "awaiting", "failed", "aborted"];

/// How much of a result is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Compact,
    Full,
}

impl Extent {
    pub(crate) fn of(arguments: &Map<String, Value>) -> Self {
        match arguments.get("fullOutput").and_then(Value::as_bool) {
            Some(true) => Extent::Full,
            Some(false) | None => Extent::Compact,
        }
    }
}

/// Writes answers about discussions.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'w> {
    pub(crate) names: &'w ToolNames,
    pub(crate) registry: &'w Registry,
    pub(crate) now: Timestamp,
}

/// The state of a discussion, as answers name it.
pub(crate) fn status(state: &State) -> &'static str {
    let awaits = !state.awaiting.is_empty() || state.ruling.is_some();
    match state.lifecycle {
        Lifecycle::Completed => "completed",
        Lifecycle::Aborted => "aborted",
        Lifecycle::Error => "failed",
        Lifecycle::Paused => "paused",
        _ if awaits => "awaiting",
        Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready => "queued",
        Lifecycle::Initializing | Lifecycle::Running | Lifecycle::Completing => "running",
    }
}

/// Whether it will not change until somebody does something.
pub(crate) fn is_settled(state: &State) -> bool {
    !matches!(status(state), "queued" | "running")
}

/// The address of a part of a discussion.
pub(crate) fn uri(state: &State, part: &str) -> String {
    format!("discussion://{}/{part}", state.id)
}

impl Writer<'_> {
    /// The result if it is over, otherwise its handle.
    pub(crate) fn discussion(&self, state: &State, extent: Extent) -> Value {
        match (status(state), extent) {
            ("completed" | "failed" | "aborted", Extent::Compact) => self.compact(state),
            ("completed" | "failed" | "aborted", Extent::Full) => self.full(state),
            _ => self.handle(state),
        }
    }

    /// Where it stands.
    pub(crate) fn handle(&self, state: &State) -> Value {
        let outcome = self.registry.outcome(state);
        let (done, missing) = speakers(state);
        let mut handle = json!({
            "discussionId": state.id, "status": status(state), "topic": state.spec.topic,
            "pattern": state.spec.pattern, "round": state.round, "rounds": state.spec.rounds,
            "speakersDone": done, "speakersMissing": missing,
            "simulated": outcome.simulated, "elapsedMs": self.elapsed_ms(state),
        });
        if let Some(phase) = &state.phase {
            handle["phase"] = json!(phase);
        }
        if let Some(cost) = outcome.metadata.estimated_cost {
            handle["costUsd"] = json!(cost);
        }
        let awaited = awaits(state);
        if !awaited.is_empty() {
            handle["awaits"] = Value::Array(awaited);
        }
        handle["uri"] = json!(uri(state, "result"));
        handle["next"] = json!(match status(state) {
            // The result itself is not in a handle.
            "completed" | "aborted" => format!("it is over: call {} with this id", self.names.of("result")),
            _ => self.next(state),
        });
        fit::compact(handle, &uri(state, "result"))
    }

    /// How long it has run, the time since its last fact included while it runs.
    fn elapsed_ms(&self, state: &State) -> u64 {
        let since_ms = self.now.epoch_ms().saturating_sub(state.last_at.epoch_ms());
        let running_ms = if status(state) == "running" { u64::try_from(since_ms).unwrap_or(0) } else { 0 };
        state.active_ms.saturating_add(running_ms)
    }

    /// The result in a few fields, the synthesis first.
    fn compact(&self, state: &State) -> Value {
        let outcome = self.registry.outcome(state);
        let mut result = json!({
            "synthesis": outcome.synthesis, "discussionId": state.id, "status": status(state),
            "success": outcome.success, "degraded": outcome.integrity.degraded,
            "simulated": outcome.simulated, "pattern": outcome.pattern,
            "dissent": outcome.consensus.dissent.clone().unwrap_or_default(),
            "participatingProviders": outcome.participating_providers,
            "failedProviders": outcome.failed_providers,
            "costSummary": outcome.metadata.cost_summary,
            "totalDurationMs": outcome.total_duration_ms,
            "uri": uri(state, "result"), "next": self.next(state),
        });
        let optional = [
            // What kind of answer it is, if there is one.
            ("outcome", outcome.outcome.filter(|_| !is_lost(&outcome)).map(|it| json!(it))),
            ("agreementScore", outcome.consensus.agreement_score.map(|it| json!(it))),
            ("votes", outcome.fields.get("votingResults").cloned()),
            ("support", quorum::text::support(&outcome).map(Value::from)),
            ("dropped", some(&outcome.consensus.dropped)),
            ("agents", some(&outcome.agents)),
            ("recalled", outcome.metadata.recalled.as_ref().map(|it| json!(it))),
            ("error", outcome.error.as_ref().map(|it| json!(it))),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                result[name] = value;
            }
        }
        for (name, value) in run::fields(self.registry, state) {
            result[name] = value;
        }
        fit::compact(result, &uri(state, "result"))
    }

    /// The result document, without the oldest rounds if it is too long.
    fn full(&self, state: &State) -> Value {
        let mut document = json!(self.registry.outcome(state));
        document["status"] = json!(status(state));
        for (name, value) in run::fields(self.registry, state) {
            document[name] = value;
        }
        document["uri"] = json!(uri(state, "result"));
        document["next"] = json!(self.next(state));
        fit::whole(document, &uri(state, "result"))
    }

    /// The handle of one that was resumed and waits for a server with room.
    pub(crate) fn queued(&self, state: &State) -> Value {
        let mut handle = self.handle(state);
        handle["status"] = json!("queued");
        handle["next"] = json!(format!("call {} with this id", self.names.of("result")));
        handle
    }

    /// One section of the result, as far as it goes.
    pub(crate) fn section(&self, state: &State, section: &str, round: Option<u64>) -> Value {
        let outcome = self.registry.outcome(state);
        let mut part = json!({ "discussionId": state.id, "status": status(state), "section": section });
        match section {
            "synthesis" => part["synthesis"] = json!(outcome.synthesis),
            "dissent" => part["dissent"] = json!(outcome.consensus.dissent.unwrap_or_default()),
            "sources" => {
                part["synthesis"] = json!(outcome.synthesis);
                part["provenance"] = json!(outcome.provenance);
            }
            "votes" => part["votes"] = outcome.fields.get("votingResults").cloned().unwrap_or(json!({})),
            _ => part["rounds"] = rounds(outcome, round),
        }
        part["uri"] = json!(uri(state, "result"));
        part["next"] = json!(self.next(state));
        fit::rounds(part, &uri(state, "transcript"))
    }

    /// What to call now, in a sentence.
    fn next(&self, state: &State) -> String {
        let tool = |name: &str| self.names.of(name);
        match status(state) {
            "queued" | "running" => {
                let call = format!("call {} with this id", tool("result"));
                match &state.pending {
                    Some(Command::Pause) => {
                        format!("it pauses once the calls under way are answered; {call}")
                    }
                    Some(Command::Stop) => {
                        format!("it concludes once the calls under way are answered; {call}")
                    }
                    Some(Command::Abort) => format!("it is being aborted; {call}"),
                    _ => call,
                }
            }
            "paused" => format!("it is paused: call {} with this id and action resume", tool("control")),
            "awaiting" if state.ruling.is_some() => {
                let kind = state.ruling.as_ref().map(|it| it.kind.as_str()).unwrap_or_default();
                format!("it waits for a decision: call {} with action {kind}", tool("control"))
            }
            "awaiting" => format!("it waits for a person: call {} with their words", tool("say")),
            "failed" => {
                format!("it failed: call {} with action resume to try again", tool("control"))
            }
            _ => format!("it is over; {} with section or fullOutput gives more", tool("result")),
        }
    }
}

/// Whether it ended without an answer.
pub(crate) fn is_lost(outcome: &Outcome) -> bool {
    outcome.error.is_some() && outcome.synthesis.is_empty()
}

/// The list, if it has any entries.
fn some<T: serde::Serialize>(list: &[T]) -> Option<Value> {
    (!list.is_empty()).then(|| json!(list))
}

/// All rounds, or the one with this number, which may be larger than any round's.
fn rounds(outcome: Outcome, wanted: Option<u64>) -> Value {
    let is_wanted = |number: u32| wanted.is_none_or(|wanted| wanted == u64::from(number));
    json!(outcome.rounds.into_iter().filter(|it| is_wanted(it.round_number)).collect::<Vec<_>>())
}

/// Who has spoken in this phase of this round, and who has not.
fn speakers(state: &State) -> (Vec<&str>, Vec<&str>) {
    let spoke = |name: &str| {
        let of_phase = |it: &&std::sync::Arc<quorum::model::transcript::Turn>| {
            it.round == state.round && Some(&it.phase) == state.phase.as_ref()
        };
        state.turns.iter().filter(of_phase).any(|it| it.participant == name)
    };
    state.present().into_iter().partition(|name| spoke(name))
}

/// The people and decisions it waits for.
fn awaits(state: &State) -> Vec<Value> {
    let people = state.awaiting.iter().map(|it| {
        let mut awaited = json!({ "participant": it.participant, "prompt": it.prompt });
        if let Some(shape) = &it.shape {
            awaited["shape"] = json!(shape);
        }
        awaited
    });
    let decision = state.ruling.iter().map(|it| {
        let choices: Vec<&str> = it.choices.iter().map(|it| it.name.as_str()).collect();
        json!({
            "participant": it.about, "prompt": it.reason, "kind": it.kind, "choices": choices,
            "candidates": it.candidates,
        })
    });
    people.chain(decision).collect()
}
