//! Where a discussion stands, under requirement A's names (A16).

use quorum::model::{
    announcement::NAMES,
    money::Usage,
    outcome::Outcome,
    report::iso,
    state::{State, Transition},
};
use serde_json::{Value, json};

/// The whole of it. Absent values are left out.
pub(crate) fn state(state: &State) -> Value {
    let outcome = Outcome::of(state);
    let mut document = json!({
        "id": state.id, "phase": state.visible_phase(), "lifecycle": state.lifecycle, "pattern": state.spec.pattern,
        "config": config(state), "rounds": outcome.rounds, "currentRound": state.round,
        "conversationHistory": history(state), "consensusHistory": outcome.consensus_checks,
        "totalTokensUsed": tokens(state), "tokensByParticipant": by_participant(state),
        "transitions": state.transitions.iter().map(transition).collect::<Vec<_>>(),
        "awaiting": state.awaiting, "judgeAwaited": state.debate.vacancy, "underWay": under_way(state), "notes": state.notes,
        "seated": state.seated, "absent": state.absent, "costSummary": outcome.metadata.cost_summary,
        "activeMs": state.active_ms, "lastEventId": state.seq, "startedAt": state.opened_at.epoch_ms(),
        "completedAt": state.lifecycle.is_terminal().then(|| state.last_at.epoch_ms()),
        "finalConsensus": outcome.final_consensus, "stoppingReason": outcome.stopping_reason, "error": outcome.error,
        "simulated": outcome.simulated, "forkOf": state.fork.as_ref().map(|it| it.of),
    });
    if let Value::Object(fields) = &mut document {
        fields.retain(|_, value| !value.is_null());
    }
    document
}

/// The names of the events there are, for who wants to listen to all.
pub(crate) fn event_names() -> Vec<String> {
    NAMES.iter().map(|name| name.replace('_', "-")).collect()
}

fn config(state: &State) -> Value {
    let spec = &state.spec;
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
            "totalTimeoutMs": spec.timing.total_ms, "requireBothConsensus": spec.dialogue.both_must_agree,
            "minRoundsBeforeConsensus": spec.dialogue.min_rounds,
        },
    })
}

fn history(state: &State) -> Vec<Value> {
    let turn = |it: &std::sync::Arc<quorum::model::transcript::Turn>| json!({ "role": "assistant", "name": it.participant, "content": it.text, "roundNumber": it.round, "phase": it.phase });
    state.turns.iter().map(turn).collect()
}

fn usage(usage: Usage) -> Value {
    json!({ "prompt": usage.prompt, "completion": usage.completion })
}

/// Of the first two, as a dialogue has them (A17).
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
