//! Times, tokens and costs of a result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    id::DiscussionId,
    recall::{Recalled, Replaced, numbered},
    spec::Spec,
    time::iso,
};

/// Times, tokens and costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// When it was created; ISO 8601, UTC.
    pub started_at: String,
    /// When it ended; ISO 8601, UTC; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// All tokens, including sub-discussions.
    pub total_tokens: u64,
    /// The total cost in USD; absent if any part has no known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// The same by provider (INV-DISC-644).
    pub cost_summary: CostSummary,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Set if answers were no longer waited for once those that had come were enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_exit: Option<EarlyExit>,
    /// What everyone was shown of past discussions; empty if something was to be recalled and
    /// nothing was found, absent if nothing was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Vec<RecallReport>>,
    /// The discussion that this one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<DiscussionId>,
    /// Participants of that discussion that are not available any more, and who has their seats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
}

/// A past discussion that everyone was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallReport {
    /// The number it is cited by: `R1`, or `F1` if it is followed.
    pub number: String,
    /// The past discussion.
    pub discussion_id: DiscussionId,
    /// Its topic.
    pub topic: String,
    /// When it ended; ISO 8601, UTC.
    pub ended_at: String,
    /// Its relevance as a share of the best match; absent if it was named or is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How many tokens of each system text it takes.
    pub tokens: u64,
    /// Whether only the beginning was shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl RecallReport {
    /// The reports of what this order shows of past discussions; `None` if it asks for nothing.
    #[must_use]
    pub fn of(spec: &Spec) -> Option<Vec<RecallReport>> {
        let shown = spec.recalled.as_deref()?;
        let report = |(number, it): (String, &Recalled)| RecallReport {
            number,
            discussion_id: it.id,
            topic: it.topic.clone(),
            ended_at: iso(it.ended_at),
            score: it.score,
            tokens: it.tokens,
            cut: it.cut,
        };
        Some(numbered(shown).map(report).collect())
    }
}

/// An early exit: a group that ended before everyone had answered (INV-DISC-622).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlyExit {
    /// Always true; without an early exit the whole object is absent.
    pub triggered: bool,
    /// Why the answers were enough, as a sentence.
    pub reason: String,
    /// How many had answered by then.
    pub at_provider_count: u32,
    /// The highest confidence among those votes, where they state one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_score: Option<f64>,
    /// The participants whose answers were not waited for.
    pub left_out: Vec<String>,
    /// The round it happened in.
    pub round: u32,
}

/// Costs by provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostSummary {
    /// Calls placed, including retries and sub-discussions.
    pub total_calls: u32,
    /// All tokens.
    pub total_tokens: u64,
    /// The cost in USD of everything with a known price.
    pub estimated_cost_usd: f64,
    /// The providers without a known price; their cost is not in the sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// The costs of each provider.
    pub by_provider: BTreeMap<String, ProviderCost>,
}

/// What one provider used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCost {
    /// The model that was asked last; absent where a program chose its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Calls placed.
    pub calls: u32,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// How many of them the provider read from its cache, as far as it says so.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub cached_tokens: u64,
    /// How many of them it wrote to its cache, as far as it says so.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub cache_write_tokens: u64,
    /// Completion tokens.
    pub completion_tokens: u64,
    /// Prompt and completion tokens together.
    pub tokens: u64,
    /// The cost in USD of everything with a known price.
    pub cost: f64,
    /// Whether a price is unknown, so that the cost is not the whole cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Whether part of it is our estimate: the provider reported no usage, or a call was given up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl ProviderCost {
    /// The whole cost in USD; `None` if a price is unknown.
    #[must_use]
    pub fn cost_usd(&self) -> Option<f64> {
        (!self.unpriced).then_some(self.cost)
    }
}
