//! A discussion under requirement C's names: project, entries, number of turns, next speaker (C05).

use std::collections::BTreeMap;

use quorum::model::{
    id::DiscussionId,
    lifecycle::Lifecycle,
    participant::{Participant, Role},
    phase::DECIDING,
    state::State,
    time::iso,
    transcript::Turn,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ruling::Awaited;

/// A discussion as a conversation at a table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conversation {
    /// Always `success`; an error is a problem document.
    status: &'static str,
    project: Project,
    entries: Vec<Entry>,
    /// The number of turns of each participant.
    counts: BTreeMap<String, u32>,
    /// The participants in seating order.
    speaker_order: Vec<String>,
    /// Whose turn it is; null if it is not a participant's.
    next_speaker: Option<String>,
    /// The awaited decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Awaited)]
    ruling_awaited: Option<Awaited>,
}

/// The topic and the state.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Project {
    #[schema(value_type = String, format = "uuid")]
    id: DiscussionId,
    name: String,
    pattern: String,
    /// `active`, `paused` or `completed`.
    status: &'static str,
    /// The state under our own name.
    lifecycle: String,
    current_turn_index: usize,
    current_round: u32,
    /// The result, once the discussion is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    synthesis: Option<String>,
    created_at: String,
    updated_at: String,
}

/// A contribution.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[schema(value_type = String, format = "uuid")]
    id: DiscussionId,
    agent_id: String,
    /// `manager`, `leader`, `user` or `specialist`.
    role: &'static str,
    content: String,
    turn_index: usize,
    round_number: u32,
    #[schema(value_type = Object)]
    metadata: serde_json::Value,
    created_at: String,
}

impl Conversation {
    pub(crate) fn of(state: &State) -> Self {
        let mut counts: BTreeMap<String, u32> =
            state.spec.participants.iter().map(|it| (it.name.clone(), 0)).collect();
        for turn in spoken(state) {
            *counts.entry(turn.participant.clone()).or_default() += 1;
        }
        Conversation {
            status: "success",
            project: project(state),
            entries: spoken(state).map(|turn| entry(state, turn)).collect(),
            counts,
            speaker_order: state.spec.participants.iter().map(|it| it.name.clone()).collect(),
            next_speaker: next(state).map(|it| it.name.clone()),
            ruling_awaited: state.ruling.as_ref().map(Awaited::of),
        }
    }
}

/// The turns of the discussion itself, without those that summarize or decide it.
fn spoken(state: &State) -> impl Iterator<Item = &Turn> {
    state.turns.iter().map(|turn| &**turn).filter(|turn| turn.phase != DECIDING)
}

fn project(state: &State) -> Project {
    let status = match state.lifecycle {
        Lifecycle::Completed | Lifecycle::Aborted => "completed",
        Lifecycle::Paused => "paused",
        Lifecycle::Configuring
        | Lifecycle::Validating
        | Lifecycle::Ready
        | Lifecycle::Initializing
        | Lifecycle::Running
        | Lifecycle::Completing
        | Lifecycle::Error => "active",
    };
    Project {
        id: state.id,
        name: state.spec.topic.clone(),
        pattern: state.spec.pattern.clone(),
        status,
        lifecycle: state.lifecycle.name().to_owned(),
        current_turn_index: next(state).map_or(0, |it| seat(state, &it.name)),
        current_round: state.round,
        synthesis: state.decision.as_ref().map(|it| it.synthesis.clone()),
        created_at: iso(state.opened_at),
        updated_at: iso(state.last_at),
    }
}

/// The awaited person, otherwise the participant being asked, otherwise the successor of the last
/// speaker if the order is fixed.
fn next(state: &State) -> Option<&Participant> {
    if state.lifecycle.is_terminal() || state.lifecycle == Lifecycle::Completing {
        return None;
    }
    let awaited = state.awaiting.first().map(|it| it.participant.as_str());
    let asked = || state.under_way.values().next().map(|it| it.participant.as_str());
    if let Some(name) = awaited.or_else(asked) {
        return state.spec.seat(name);
    }
    let has_order = matches!(state.spec.pattern.as_str(), "roundtable" | "round-robin" | "dialogue");
    let seats = &state.spec.participants;
    let last = spoken(state).last().map(|turn| seat(state, &turn.participant));
    let place = last.map_or(0, |last| last + 1);
    seats.get(place % seats.len().max(1)).filter(|_| has_order)
}

fn seat(state: &State, name: &str) -> usize {
    state.spec.participants.iter().position(|it| it.name == name).unwrap_or_default()
}

fn entry(state: &State, turn: &Turn) -> Entry {
    let role = state.spec.seat(&turn.participant).map_or(Role::SPEAKER, |it| it.role.clone());
    Entry {
        id: state.id.derived(turn.step.as_str()),
        agent_id: turn.participant.clone(),
        role: stored(&role),
        content: state.shown(turn),
        turn_index: seat(state, &turn.participant),
        round_number: turn.round,
        metadata: serde_json::json!({ "kind": "turn", "phase": turn.phase, "role": role.name() }),
        created_at: iso(turn.started_at),
    }
}

/// Maps unknown roles to specialist; the metadata keeps the original name.
fn stored(role: &Role) -> &'static str {
    match role.name() {
        "manager" => "manager",
        "leader" => "leader",
        "user" => "user",
        _ => "specialist",
    }
}
