//! Times, tokens and costs of a result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
    /// Calls placed.
    pub calls: u32,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Completion tokens.
    pub completion_tokens: u64,
    /// Prompt and completion tokens together.
    pub tokens: u64,
    /// The cost in USD; absent if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
