//! The finished answer of a discussion: its text, what it used and cost, and what the panel made of
//! it.

use axum::http::StatusCode;
use quorum::{
    Registry,
    model::{
        error::{Code, Problem},
        lifecycle::Lifecycle,
        money::Usage as Tokens,
        outcome::Outcome,
        state::State,
    },
    vocabulary::json_schema::mismatch,
};
use serde_json::{Value, json};

use crate::v1::{
    cut::{Cut, Ended},
    fault::Fault,
    told::status_line,
};

/// The header with the discussion's id.
pub(crate) const DISCUSSION: &str = "x-quorum-discussion";

/// The code of the error of a discussion that was aborted.
pub(crate) const ABORTED: &str = "discussion_aborted";

/// A finished answer.
pub(crate) struct Answer {
    /// The first line, if there is something to know about the answer: degraded, simulated, not
    /// adopted.
    pub(crate) line: Option<String>,
    /// The text, within the bounds that the client set.
    pub(crate) text: String,
    pub(crate) ended: Ended,
    /// The stop sequence at which it ended.
    pub(crate) stop: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) outcome: Outcome,
    /// The field `quorum`.
    pub(crate) quorum: Value,
}

impl Answer {
    /// The text, after that line if there is one.
    pub(crate) fn content(&self) -> String {
        self.line.as_ref().map_or_else(|| self.text.clone(), |line| format!("{line}\n\n{}", self.text))
    }
}

/// What all calls together used and cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    /// How many of the completion tokens are not part of the answer.
    pub(crate) reasoning: u64,
    pub(crate) cached: u64,
    pub(crate) cache_written: u64,
    /// The cost in USD: of everything, and of the completions. `None` if a price is unknown.
    pub(crate) cost: Option<(f64, f64)>,
}

impl Usage {
    /// These fields with the cost, in OpenRouter's terms. An unknown cost is left out, never
    /// reported as 0. OpenRouter's own clients reject cost details that are incomplete. In each
    /// format, the two parts are named after its token fields.
    pub(crate) fn with_cost(&self, mut told: Value, [read, written]: [&str; 2]) -> Value {
        if let Some((cost, of_written)) = self.cost {
            // Amounts are exact to a billionth of a dollar.
            let rounded = |dollars: f64| (dollars * 1e9).round() / 1e9;
            told["cost"] = rounded(cost).into();
            told["cost_details"] = json!({
                "upstream_inference_cost": rounded(cost),
                format!("upstream_inference_{read}_cost"): rounded(cost - of_written),
                format!("upstream_inference_{written}_cost"): rounded(of_written),
            });
        }
        told
    }
}

/// The answer of a discussion that is over, or the error that it ended with.
pub(crate) fn answer(state: &State, registry: &Registry) -> Result<Answer, Fault> {
    let outcome = registry.outcome(state);
    failure(state, &outcome)?;
    fitting(state, &outcome)?;
    let client = state.spec.client.as_ref();
    let mut cut = Cut::of(client);
    let text = cut.push(&outcome.synthesis) + &cut.end();
    let line = status_line(&outcome).filter(|_| state.spec.answer_schema().is_none());
    let stop = cut.stop().map(str::to_owned);
    let ended = if is_cut_by_provider(state) { cut.ended().or_length() } else { cut.ended() };
    let (usage, quorum) = (usage(state, &outcome), quorum(state, &outcome));
    Ok(Answer { line, text, ended, stop, usage, outcome, quorum })
}

/// Whether the provider of a single voice cut its answer. It is sent the client's limit, and counts
/// its own tokens.
fn is_cut_by_provider(state: &State) -> bool {
    let is_one_voice = state.spec.participants.len() == 1;
    is_one_voice && state.turns.last().is_some_and(|it| it.finish.is_cut_off())
}

/// The error of a discussion without an answer.
fn failure(state: &State, outcome: &Outcome) -> Result<(), Fault> {
    if state.lifecycle == Lifecycle::Aborted {
        let message = "the discussion was aborted";
        return Err(Fault::new(StatusCode::BAD_REQUEST, ABORTED, message));
    }
    let is_lost = state.lifecycle == Lifecycle::Error || outcome.synthesis.trim().is_empty();
    if !is_lost {
        return Ok(());
    }
    if outcome.error.as_ref().is_some_and(|it| it.code == Code::Unknown) {
        return Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "internal error"));
    }
    let message = outcome.error.as_ref().map_or_else(|| "no model answered".to_owned(), |it| lost(state, it));
    let status = StatusCode::SERVICE_UNAVAILABLE;
    Err(Fault::new(status, "all_providers_failed", message).not_to_be_repeated())
}

/// The error of a discussion whose answer isn't delivered. Without a synthesis the record has the
/// last answer in its place, which the message says after a semicolon; a client of `/v1` doesn't
/// get it.
fn lost(state: &State, error: &Problem) -> String {
    let is_in_place = state.decision.as_ref().is_some_and(|it| it.stand_in.is_some());
    match error.message.split_once(';').filter(|_| is_in_place && error.code == Code::SynthesisFailed) {
        Some((what, _)) => format!("{what}; the answers are in the record: /d/{}", state.id),
        None => error.message.clone(),
    }
}

/// Refuses a text that is not the JSON value that was asked for.
fn fitting(state: &State, outcome: &Outcome) -> Result<(), Fault> {
    let Some(schema) = state.spec.answer_schema() else { return Ok(()) };
    let wrong = match serde_json::from_str::<Value>(&outcome.synthesis) {
        Ok(value) => mismatch(schema, &value),
        Err(_) => Some("it is not JSON".to_owned()),
    };
    let Some(wrong) = wrong else { return Ok(()) };
    let message = format!("no answer satisfies the schema, even after a repetition: {wrong}");
    Err(Fault::new(StatusCode::BAD_GATEWAY, "invalid_response", message).not_to_be_repeated())
}

/// What all calls used.
pub(crate) fn usage(state: &State, outcome: &Outcome) -> Usage {
    let summary = &outcome.metadata.cost_summary;
    let sum = |of: fn(&quorum::model::outcome::ProviderCost) -> u64| -> u64 {
        summary.by_provider.values().map(of).sum()
    };
    let (prompt, completion) = (sum(|it| it.prompt_tokens), sum(|it| it.completion_tokens));
    let tokens: Vec<Tokens> = state.spending.values().map(|it| it.usage).collect();
    let cost = outcome.metadata.estimated_cost.map(|cost| (cost, completion_cost(state).min(cost)));
    Usage {
        prompt,
        completion,
        reasoning: completion.saturating_sub(of_answer(state)),
        cached: tokens.iter().map(|it| it.cached).sum(),
        cache_written: tokens.iter().map(|it| it.written).sum(),
        cost,
    }
}

/// The tokens of the call that wrote the answer.
fn of_answer(state: &State) -> u64 {
    let Some(decision) = &state.decision else { return 0 };
    let wrote = |it: &&std::sync::Arc<quorum::model::transcript::Turn>| {
        decision.synthesizer.as_deref() == Some(&it.participant)
            && (it.prose().trim() == decision.synthesis.trim() || it.text.contains(&decision.synthesis))
    };
    let turn = state.turns.iter().rev().find(wrote);
    turn.map_or(0, |it| it.bill.usage.completion.saturating_sub(it.bill.usage.reasoning))
}

/// What the completions cost, in USD.
fn completion_cost(state: &State) -> f64 {
    let costs = state
        .turns
        .iter()
        .filter_map(|it| Some(it.bill.price?.output.dollars() * it.bill.usage.completion as f64 / 1e6));
    costs.sum()
}

/// The field `quorum`: what the panel made of it. Its own keys are always there, null where the
/// pattern has no such thing.
fn quorum(state: &State, outcome: &Outcome) -> Value {
    let degraded = outcome.outcome.map_or(outcome.integrity.degraded, |it| it.degraded);
    let mut told = json!({
        "discussion_id": outcome.discussion_id, "pattern": outcome.pattern,
        "agreement": outcome.consensus.agreement_score, "first_agreement": first_agreement(outcome),
        "votes": outcome.fields.get("votingResults"),
        "dissent": outcome.consensus.dissent, "flips": outcome.flips, "failed": outcome.failed_providers,
        "degraded": degraded, "simulated": outcome.simulated,
        "ignored": state.spec.client.as_ref().map_or(&[][..], |it| &it.ignored),
        "url": format!("/d/{}", outcome.discussion_id),
    });
    let optional = [
        ("outcome", outcome.outcome.map(|it| json!(it.standing))),
        ("provenance", (!outcome.provenance.is_empty()).then(|| json!(outcome.provenance))),
        ("dropped", (!outcome.consensus.dropped.is_empty()).then(|| json!(outcome.consensus.dropped))),
    ];
    for (name, value) in optional {
        value.into_iter().for_each(|value| told[name] = value);
    }
    told
}

/// The agreement of the blind answers before the talk, or else after its first round.
fn first_agreement(outcome: &Outcome) -> Option<Value> {
    let after_a_round = || outcome.agreement_by_round.first().map(|it| it.agreement.into());
    outcome.fields.get("firstAgreement").cloned().or_else(after_a_round)
}
