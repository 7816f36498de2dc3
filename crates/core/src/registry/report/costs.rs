//! Times, tokens and costs of a result.

use std::collections::BTreeMap;

use super::lists::early_exit;
use crate::model::{
    lifecycle::Lifecycle,
    money::Usd,
    outcome::{CostSummary, Metadata, ProviderCost, RecallReport},
    state::{Spending, State},
    time::iso,
};

pub(super) fn metadata(state: &State) -> Metadata {
    let over = matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted | Lifecycle::Error);
    let cost_summary = cost_summary(state);
    Metadata {
        started_at: iso(state.opened_at),
        // A clock that was set back meanwhile must not let it end before it began.
        completed_at: over.then(|| iso(state.last_at.max(state.opened_at))),
        total_tokens: cost_summary.total_tokens,
        estimated_cost: cost_summary.unpriced.is_empty().then_some(cost_summary.estimated_cost_usd),
        cost_summary,
        session_id: state.spec.session,
        early_exit: early_exit(state),
        recalled: RecallReport::of(&state.spec),
        follows: state.spec.follows.as_ref().map(|it| it.id),
        replaced: state.spec.follows.as_ref().map(|it| it.replaced.clone()).unwrap_or_default(),
    }
}

fn cost_summary(state: &State) -> CostSummary {
    let mut by_provider = BTreeMap::new();
    let mut unpriced = Vec::new();
    let (mut tokens, mut calls, mut cost) = (0, 0, Usd::ZERO);
    for (name, spending) in &state.spending {
        calls += spending.calls;
        tokens += spending.usage.total();
        cost += spending.cost;
        unpriced.extend(spending.unpriced.then(|| name.clone()));
        by_provider.insert(name.clone(), share(model(state, name), spending));
    }
    for below in state.subs.values().filter_map(|sub| sub.end.as_ref()) {
        calls += below.spent.calls;
        tokens += below.spent.tokens;
        cost += below.spent.usd;
    }
    let estimated_cost_usd = cost.dollars();
    CostSummary { total_calls: calls, total_tokens: tokens, estimated_cost_usd, unpriced, by_provider }
}

/// The model that this participant was asked as last.
fn model(state: &State, participant: &str) -> Option<String> {
    let asked = state.turns.iter().rfind(|it| it.participant == participant).and_then(|it| it.model.as_ref());
    asked.or_else(|| state.models.get(participant)).cloned()
}

fn share(model: Option<String>, spending: &Spending) -> ProviderCost {
    let usage = spending.usage;
    ProviderCost {
        model,
        calls: spending.calls,
        prompt_tokens: usage.prompt,
        cached_tokens: usage.cached,
        cache_write_tokens: usage.written,
        completion_tokens: usage.completion,
        tokens: usage.total(),
        cost: spending.cost.dollars(),
        unpriced: spending.unpriced,
        estimated: spending.estimated,
    }
}
