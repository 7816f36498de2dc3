//! The shapes of a dialogue as requirement A's own client reads them: participants, turns, votes,
//! rounds, errors and phases. Absent fields are left out, never null.

use quorum_core::{
    model::{
        error::{Code, ErrorClass, Problem},
        event::{Noted, WindUp},
        money::Usage,
        outcome::Outcome,
        participant::Participant,
        phase::DECIDING,
        reading::Reading,
        state::{State, Transition},
        time::Timestamp,
        transcript::{Finish, Turn},
    },
    registry::Registry,
};
use serde_json::{Value, json};

/// The kind under which a dialogue's consensus check is recorded.
pub(super) const CHECK: &str = "consensus-check";

/// The prefix of the phases in which the two vote.
const CHECKING: &str = "consensus-check-";

/// The model of a seat whose program chooses its own, and of a simulated one that names none.
const UNNAMED_MODEL: &str = "default";
const SIMULATED_MODEL: &str = "simulated";

/// Whether this discussion is a dialogue.
#[must_use]
pub fn is_dialogue(state: &State) -> bool {
    state.spec.pattern == "dialogue"
}

/// The role of one of the two; `None` for anyone else.
#[must_use]
pub fn role(state: &State, participant: &str) -> Option<&'static str> {
    let speakers = state.spec.participants.iter().filter(|it| !it.aside);
    let place = speakers.into_iter().position(|it| it.name == participant)?;
    ["model-a", "model-b"].get(place).copied()
}

/// The two participants.
fn pair(state: &State) -> [Option<&Participant>; 2] {
    let mut speakers = state.spec.participants.iter().filter(|it| !it.aside);
    [speakers.next(), speakers.next()]
}

/// The model that is asked, or was asked last, for this seat.
#[must_use]
pub fn model_id(state: &State, participant: &str) -> String {
    let asked = state.turns.iter().rfind(|it| it.participant == participant).and_then(|it| it.model.clone());
    let seated = || state.models.get(participant).cloned();
    let named = || state.spec.seat(participant).and_then(|it| it.model.clone());
    let unnamed = if state.spec.simulation.is_some() { SIMULATED_MODEL } else { UNNAMED_MODEL };
    asked.or_else(seated).or_else(named).unwrap_or_else(|| unnamed.to_owned())
}

/// The provider as the client named it.
pub(super) fn provider_id(seat: &Participant) -> &str {
    seat.provider_as_written.as_ref().unwrap_or(&seat.provider)
}

/// The two participants of a dialogue as `modelA` and `modelB`.
#[must_use]
pub fn participants(state: &State) -> Value {
    let seat = |seat: Option<&Participant>| {
        seat.map(|it| {
            json!({
                "role": role(state, &it.name), "modelId": model_id(state, &it.name), "providerId": provider_id(it),
                "displayName": it.name_as_written.as_ref().unwrap_or(&it.name),
            })
        })
    };
    let [a, b] = pair(state).map(seat);
    without_nulls(json!({ "modelA": a, "modelB": b }))
}

/// The options of a discussion under requirement A's names.
#[must_use]
pub fn options(state: &State, registry: &Registry) -> Value {
    let spec = &state.spec;
    let option = |name: &str| {
        let usual = || registry.option(name)?.schema(&[]).get("default").cloned();
        spec.settings.get(name).cloned().or_else(usual)
    };
    without_nulls(json!({
        "maxIterations": spec.rounds, "temperature": spec.manner.temperature,
        "maxTokensPerTurn": spec.manner.max_tokens, "turnTimeoutMs": spec.timing.step_ms,
        "totalTimeoutMs": spec.timing.total_ms, "requireBothConsensus": option("requireBothConsensus"),
        "minRoundsBeforeConsensus": option("minRoundsBeforeConsensus"),
    }))
}

/// The payload that opens a dialogue.
pub(super) fn opened(state: &State, registry: &Registry) -> Value {
    let mut config = participants(state);
    config["prompt"] = json!(state.spec.topic);
    config["options"] = options(state, registry);
    json!({ "config": config })
}

/// A turn.
pub(super) fn turn(state: &State, turn: &Turn) -> Value {
    without_nulls(json!({
        "id": state.id.derived(turn.step.as_str()), "role": role(state, &turn.participant),
        "roundNumber": turn.round, "content": turn.prose(), "timestamp": turn.started_at.epoch_ms(),
        "durationMs": turn.duration_ms, "finishReason": turn.finish.name(),
        "tokenUsage": { "promptTokens": turn.bill.usage.prompt, "completionTokens": turn.bill.usage.completion },
    }))
}

/// Whether a turn is part of the talk, and neither a vote nor a request for a sub-discussion.
#[must_use]
pub fn is_spoken(turn: &Turn) -> bool {
    turn.form.is_none() && turn.phase != DECIDING && turn.finish != Finish::Convene
}

/// One of the two's vote on whether they agree.
pub(super) fn vote(state: &State, participant: &str, value: &Value, at: Timestamp) -> Value {
    without_nulls(json!({
        "role": role(state, participant), "hasConsensus": value["agrees"], "confidence": value["confidence"],
        "reasoning": value["reasoning"], "proposedSolution": value.get("solution"), "timestamp": at.epoch_ms(),
    }))
}

/// The vote in a reply, if it is one.
pub(super) fn vote_of(state: &State, participant: &str, reading: &Reading, at: Timestamp) -> Option<Value> {
    (reading.kind == CHECK).then(|| vote(state, participant, &reading.value, at))
}

/// The result of a consensus check.
pub(super) fn result(state: &State, check: &Noted) -> Value {
    let value = &check.value;
    let cast = |place: usize| {
        let cast = value.get("votes")?.get(place)?;
        let participant = cast.get(0)?.as_str()?;
        Some(vote(state, participant, cast.get(1)?, voted_at(state, participant, check.round)))
    };
    without_nulls(json!({
        "roundNumber": check.round, "isUnanimous": is_unanimous(value), "modelAVote": cast(0), "modelBVote": cast(1),
        "finalSolution": value.get("solution"),
    }))
}

/// Whether the check ended the dialogue: both agreed, or one where one is enough.
fn is_unanimous(check: &Value) -> bool {
    check["agreed"] == true
}

/// When a vote was read; a vote that was skipped counts as cast at the end of its round's turns.
fn voted_at(state: &State, participant: &str, round: u32) -> Timestamp {
    let is_vote = |it: &&quorum_core::model::state::RecordedReading| {
        it.round == round && it.participant == participant && it.reading.kind == CHECK
    };
    let read = state.readings.iter().rfind(is_vote).map(|it| it.at);
    let spoken = || {
        let last = state.turns.iter().rfind(|it| it.round == round && is_spoken(it));
        last.map(|it| it.started_at.plus_ms(it.duration_ms))
    };
    read.or_else(spoken).unwrap_or(state.last_at)
}

/// Every consensus check so far.
#[must_use]
pub fn checks(state: &State) -> Vec<Value> {
    state.noted.iter().filter(|it| it.kind == CHECK).map(|it| result(state, it)).collect()
}

/// A round, if both have spoken in it.
pub(super) fn round(state: &State, round: u32) -> Option<Value> {
    let spoken = |seat: Option<&Participant>| {
        let name = &seat?.name;
        let is_theirs =
            |it: &&std::sync::Arc<Turn>| it.round == round && it.participant == *name && is_spoken(it);
        state.turns.iter().rfind(is_theirs).map(|it| turn(state, it))
    };
    let [a, b] = pair(state).map(spoken);
    let check =
        state.noted.iter().rfind(|it| it.kind == CHECK && it.round == round).map(|it| result(state, it));
    let round = json!({ "number": round, "modelATurn": a?, "modelBTurn": b?, "consensusCheck": check });
    Some(without_nulls(round))
}

/// Every round in which both have spoken.
#[must_use]
pub fn rounds(state: &State) -> Vec<Value> {
    state.rounds.iter().filter_map(|it| round(state, it.round)).collect()
}

/// The tokens of each of the two (A17), and of everyone together.
#[must_use]
pub fn tokens(state: &State) -> Value {
    // The synthesis is the turn of neither.
    let decided = |name: &str| {
        let mut usage = Usage::default();
        let turns = state.turns.iter().filter(|it| it.participant == name && it.phase == DECIDING);
        turns.for_each(|it| usage += it.bill.usage);
        usage
    };
    let of = |seat: Option<&Participant>| {
        let (name, all) = seat.and_then(|it| state.spending.get_key_value(&it.name)).unzip();
        let (all, decided) = (all.map(|it| it.usage).unwrap_or_default(), name.map(|it| decided(it)));
        let decided = decided.unwrap_or_default();
        let prompt = all.prompt.saturating_sub(decided.prompt);
        counted(Usage::new(prompt, all.completion.saturating_sub(decided.completion)))
    };
    let mut all = Usage::default();
    state.spending.values().for_each(|it| all += it.usage);
    let [a, b] = pair(state).map(of);
    json!({ "modelA": a, "modelB": b, "total": counted(all) })
}

fn counted(usage: Usage) -> Value {
    json!({ "prompt": usage.prompt, "completion": usage.completion })
}

/// Whether a failed turn ended it.
#[must_use]
pub fn is_broken_off(state: &State) -> bool {
    let reason = state.wound_up.as_ref().filter(|_| is_dialogue(state));
    reason.is_some_and(|it| match it {
        WindUp::TooFew { .. } | WindUp::ProviderFailed { .. } => true,
        // Unless a person decided to end it.
        WindUp::WindowFull { .. } => !state.is_ended_by_ruling(),
        WindUp::Stopped
        | WindUp::CallBudget { .. }
        | WindUp::TokenBudget { .. }
        | WindUp::CostBudget { .. }
        | WindUp::SpendingCap { .. }
        | WindUp::Deadline => false,
    })
}

/// The error under requirement A's codes (A14).
#[must_use]
pub fn error(state: &State, outcome: &Outcome) -> Option<Value> {
    // An abort is not an error; it is in the stopping reason.
    let problem = outcome.error.as_ref().filter(|it| it.code != Code::Aborted)?;
    let failed = state.failures.last().filter(|_| is_broken_off(state));
    let who = problem.participant.as_deref().or(failed.map(|it| it.participant.as_str()));
    Some(without_nulls(json!({
        "code": code(state, problem, failed.map(|it| it.class)), "message": problem.message,
        "role": who.and_then(|who| role(state, who)), "roundNumber": problem.round.or(failed.map(|it| it.round)),
        "recoverable": problem.retryable,
    })))
}

/// The code of a problem; `failed` is the class of the failure that ended the dialogue, if one did.
fn code(state: &State, problem: &Problem, failed: Option<ErrorClass>) -> Code {
    match (problem.code, failed) {
        _ if state.seated.is_none() => Code::InitializationFailed,
        (_, Some(class)) => turn_code(class),
        (
            Code::InitializationFailed
            | Code::TurnFailed
            | Code::TurnTimeout
            | Code::ConsensusParseFailed
            | Code::ProviderError
            | Code::StateInvalid
            | Code::DiscussionTimeout,
            None,
        ) => problem.code,
        (_, None) => Code::Unknown,
    }
}

/// The code of a turn that failed with an error of this class.
fn turn_code(class: ErrorClass) -> Code {
    match class {
        ErrorClass::Timeout => Code::TurnTimeout,
        ErrorClass::Authentication | ErrorClass::Validation => Code::ProviderError,
        ErrorClass::Network
        | ErrorClass::RateLimit
        | ErrorClass::ApiError
        | ErrorClass::ContextOverflow
        | ErrorClass::InvalidResponse => Code::TurnFailed,
    }
}

/// The transitions between requirement A's phases (A03). What it has no phase for, such as the
/// synthesis, belongs to the phase before.
#[must_use]
pub fn transitions(state: &State) -> Vec<Transition> {
    let mut moves: Vec<Transition> = Vec::new();
    let mut phase = "idle";
    for it in &state.transitions {
        let to = phase_named(&it.to);
        if let Some(to) = to.filter(|to| *to != phase) {
            moves.push(Transition { from: phase.to_owned(), to: to.to_owned(), at: it.at });
            phase = to;
        }
    }
    if let Some(last) = moves.last_mut().filter(|it| it.to == "completed" && is_broken_off(state)) {
        "error".clone_into(&mut last.to);
    }
    moves
}

/// The phase under requirement A's name; `None` if it has none for it.
fn phase_named(name: &str) -> Option<&'static str> {
    const PHASES: [&str; 8] = [
        "initializing",
        "model-a-turn",
        "model-b-turn",
        "consensus-check-a",
        "consensus-check-b",
        "completed",
        "error",
        "aborted",
    ];
    PHASES.into_iter().find(|it| *it == name)
}

/// The phase under requirement A's names.
#[must_use]
pub fn phase(state: &State) -> String {
    transitions(state).pop().map_or_else(|| "idle".to_owned(), |it| it.to)
}

/// Whether this is a phase in which the two vote.
pub(super) fn is_check(phase: &str) -> bool {
    phase.starts_with(CHECKING)
}

/// The value without its null fields, at any depth.
#[must_use]
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, it)| !it.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
