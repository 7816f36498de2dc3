//! The state of a discussion, under requirement A's names (A16).

use std::sync::Arc;

use axum::Json;
use quorum::{
    Snapshot,
    model::{
        event::Placed,
        id::Step,
        outcome::Outcome,
        participant::Participant,
        state::{State, Transition},
        transcript::Turn,
    },
    seeds::dialogue,
};
use serde_json::{Value, json};

use crate::{
    body::{Id, aside},
    guard::Caller,
    problem::Problem,
    wire::{answers, ruling::Awaited},
};

/// Get the full state of a discussion
///
/// At any time: phase, rounds, contributions and votes, tokens by participant, who is awaited, the
/// cost, and every transition.
#[utoipa::path(
    get, path = "/api/discussions/{id}/state", tag = "discussions", params(Id),
    responses((status = 200, description = "Phase, rounds, votes, tokens, transitions", body = answers::DiscussionState, example = json!({
        "id": "01890000-0000-7000-8000-000000000001", "phase": "model-b-turn", "lifecycle": "running", "currentRound": 1,
        "totalTokensUsed": { "modelA": { "prompt": 120, "completion": 80 }, "modelB": { "prompt": 0, "completion": 0 } },
    })))
)]
pub(super) async fn state(Caller(scope): Caller, Id(id): Id) -> Result<Json<Value>, Problem> {
    let state = scope.discussion(id).await?.state().await?;
    aside(move || Json(document(&state))).await
}

/// The whole document. Absent values are left out.
fn document(state: &Snapshot) -> Value {
    let outcome = state.outcome();
    let mut document = json!({
        "id": state.id, "phase": state.visible_phase(), "lifecycle": state.lifecycle, "pattern": state.spec.pattern,
        "config": config(state), "rounds": outcome.rounds, "currentRound": state.round,
        "conversationHistory": history(state), "consensusHistory": dialogue::checks(state), "detections": outcome.fields.get("detections"),
        "totalTokensUsed": dialogue::tokens(state), "tokensByParticipant": by_participant(state),
        "transitions": transitions(&state.transitions),
        "awaiting": state.awaiting, "rulingAwaited": state.ruling.as_ref().map(Awaited::of), "underWay": under_way(state), "notes": state.notes,
        "seated": state.seated, "absent": state.absent, "costSummary": outcome.metadata.cost_summary,
        "activeMs": state.active_ms, "lastEventId": state.seq, "startedAt": state.opened_at.epoch_ms(),
        "completedAt": state.lifecycle.is_terminal().then(|| state.last_at.max(state.opened_at).epoch_ms()),
        "finalConsensus": outcome.fields.get("finalConsensus"), "stoppingReason": outcome.stopping_reason,
        "error": outcome.error, "simulated": outcome.simulated, "forkOf": state.fork.as_ref().map(|it| it.of),
    });
    if dialogue::is_dialogue(state) {
        as_dialogue(&mut document, state, &outcome);
    }
    dialogue::without_nulls(document)
}

/// Replaces what requirement A's own client reads in shapes of its own.
fn as_dialogue(document: &mut Value, state: &Snapshot, outcome: &Outcome) {
    document["phase"] = dialogue::phase(state).into();
    document["config"]["participants"] = dialogue::participants(state);
    document["rounds"] = dialogue::rounds(state).into();
    document["transitions"] = transitions(&dialogue::transitions(state)).into();
    document["error"] = json!(dialogue::error(state, outcome));
}

fn config(state: &Snapshot) -> Value {
    let spec = &state.spec;
    let participant = |it: &Participant| {
        let model = (!it.is_person()).then(|| dialogue::model_id(state, &it.name));
        json!({
            "displayName": it.name, "providerId": it.provider, "modelId": model, "role": it.role.name(),
            "person": it.is_person(),
        })
    };
    let participants: Vec<Value> = spec.participants.iter().map(participant).collect();
    let options = dialogue::options(state, state.registry());
    json!({ "prompt": spec.topic, "participants": participants, "options": options })
}

/// What was said, without votes and the synthesis.
fn history(state: &State) -> Vec<Value> {
    let turn = |it: &Arc<Turn>| json!({ "role": "assistant", "name": it.participant, "content": state.shown(it), "roundNumber": it.round, "phase": it.phase });
    state.turns.iter().filter(|it| dialogue::is_spoken(it)).map(turn).collect()
}

fn by_participant(state: &State) -> Value {
    let each = state.spending.iter().map(|(name, it)| {
        (name.clone(), json!({ "prompt": it.usage.prompt, "completion": it.usage.completion }))
    });
    Value::Object(each.collect())
}

fn transitions(transitions: &[Transition]) -> Vec<Value> {
    let moved = |it: &Transition| json!({ "from": it.from, "to": it.to, "at": it.at.epoch_ms() });
    transitions.iter().map(moved).collect()
}

fn under_way(state: &State) -> Vec<Value> {
    let call = |(step, placed): (&Step, &Placed)| json!({ "step": step, "participant": placed.participant, "model": placed.model, "attempt": placed.attempt });
    state.under_way.iter().map(call).collect()
}
