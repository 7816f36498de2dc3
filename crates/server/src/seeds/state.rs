//! The state of a discussion, under requirement A's names (A16).

use axum::Json;
use quorum::{
    Snapshot,
    model::{
        money::Usage,
        state::{State, Transition},
        time::iso,
    },
};
use serde_json::{Value, json};

use crate::{
    body::{Id, aside},
    guard::Caller,
    problem::Problem,
    wire::ruling::Awaited,
};

/// Get the full state of a discussion
///
/// At any time: phase, rounds, contributions and votes, tokens by participant, who is awaited, the
/// cost, and every transition.
#[utoipa::path(
    get, path = "/api/discussions/{id}/state", tag = "discussions", params(Id),
    responses((status = 200, description = "Phase, rounds, votes, tokens, transitions", body = Object, example = json!({
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
    let field = |name: &str| outcome.fields.get(name);
    let mut document = json!({
        "id": state.id, "phase": state.visible_phase(), "lifecycle": state.lifecycle, "pattern": state.spec.pattern,
        "config": config(state), "rounds": outcome.rounds, "currentRound": state.round,
        "conversationHistory": history(state), "consensusHistory": field("consensusChecks"), "detections": field("detections"),
        "totalTokensUsed": tokens(state), "tokensByParticipant": by_participant(state),
        "transitions": state.transitions.iter().map(transition).collect::<Vec<_>>(),
        "awaiting": state.awaiting, "rulingAwaited": state.ruling.as_ref().map(Awaited::of), "underWay": under_way(state), "notes": state.notes,
        "seated": state.seated, "absent": state.absent, "costSummary": outcome.metadata.cost_summary,
        "activeMs": state.active_ms, "lastEventId": state.seq, "startedAt": state.opened_at.epoch_ms(),
        "completedAt": state.lifecycle.is_terminal().then(|| state.last_at.epoch_ms()),
        "finalConsensus": field("finalConsensus"), "stoppingReason": outcome.stopping_reason, "error": outcome.error,
        "simulated": outcome.simulated, "forkOf": state.fork.as_ref().map(|it| it.of),
    });
    if let Value::Object(fields) = &mut document {
        fields.retain(|_, value| !value.is_null());
    }
    document
}

fn config(state: &Snapshot) -> Value {
    let spec = &state.spec;
    let option = |name: &str| option(state, name);
    let participants: Vec<Value> = spec
        .participants
        .iter()
        .map(|it| {
            json!({
                "displayName": it.name, "providerId": it.provider, "modelId": it.model, "role": it.role.name(),
                "person": it.is_person(),
            })
        })
        .collect();
    json!({
        "prompt": spec.topic, "participants": participants,
        "options": {
            "maxIterations": spec.rounds, "temperature": spec.manner.temperature,
            "maxTokensPerTurn": spec.manner.max_tokens, "turnTimeoutMs": spec.timing.step_ms,
            "totalTimeoutMs": spec.timing.total_ms, "requireBothConsensus": option("requireBothConsensus"),
            "minRoundsBeforeConsensus": option("minRoundsBeforeConsensus"),
        },
    })
}

/// The given value of an option, or its default.
fn option(state: &Snapshot, name: &str) -> Option<Value> {
    let usual = || state.registry().option(name)?.schema(&[]).get("default").cloned();
    state.spec.settings.get(name).cloned().or_else(usual)
}

fn history(state: &State) -> Vec<Value> {
    let turn = |it: &std::sync::Arc<quorum::model::transcript::Turn>| json!({ "role": "assistant", "name": it.participant, "content": state.shown(it), "roundNumber": it.round, "phase": it.phase });
    state.turns.iter().map(turn).collect()
}

fn usage(usage: Usage) -> Value {
    json!({ "prompt": usage.prompt, "completion": usage.completion })
}

/// The tokens of the first two participants, as a dialogue has them (A17).
fn tokens(state: &State) -> Value {
    let of = |place: usize| {
        let name = state.spec.participants.get(place).map(|it| it.name.as_str());
        usage(name.and_then(|name| state.spending.get(name)).map(|it| it.usage).unwrap_or_default())
    };
    json!({ "modelA": of(0), "modelB": of(1) })
}

fn by_participant(state: &State) -> Value {
    let each = state.spending.iter().map(|(name, it)| (name.clone(), usage(it.usage)));
    Value::Object(each.collect())
}

fn transition(it: &Transition) -> Value {
    json!({ "from": it.from, "to": it.to, "at": iso(it.at) })
}

fn under_way(state: &State) -> Vec<Value> {
    let call = |(step, placed): (&quorum::model::id::Step, &quorum::model::event::Placed)| json!({ "step": step, "participant": placed.participant, "attempt": placed.attempt });
    state.under_way.iter().map(call).collect()
}
