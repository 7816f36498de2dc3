//! When it was, how much was used, and for how much money.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// When, how much, for how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// ISO 8601, UTC.
    pub started_at: String,
    /// ISO 8601, UTC; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// All tokens, sub-discussions included.
    pub total_tokens: u64,
    /// All costs in USD; absent when any part is unpriced.
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
    /// Calls placed, retries and sub-discussions included.
    pub total_calls: u32,
    /// Tokens.
    pub total_tokens: u64,
    /// USD for what is priced.
    pub estimated_cost_usd: f64,
    /// Who has no known price; what they cost is not in the sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// Each one's share.
    pub by_provider: BTreeMap<String, ProviderCost>,
}

/// What one provider took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCost {
    /// Calls placed.
    pub calls: u32,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Both.
    pub tokens: u64,
    /// USD; absent when unpriced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
