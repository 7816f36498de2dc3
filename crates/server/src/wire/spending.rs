//! Spending caps as JSON.

use quorum::{CapEntry, model::account::CapStatus};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::answers;

/// The state of one spending cap, in USD.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CapState {
    /// `day` or `month`, in UTC.
    #[schema(value_type = answers::CapPeriod)]
    period: &'static str,
    /// The most that may be spent.
    cap_usd: f64,
    /// What was spent.
    spent_usd: f64,
    /// What running discussions have set aside, most of which they will not need.
    reserved_usd: f64,
    /// What is left.
    left_usd: f64,
    /// When the cap renews.
    #[schema(format = "date-time")]
    renews_at: String,
}

impl From<CapEntry> for CapState {
    fn from(entry: CapEntry) -> Self {
        let CapEntry { period, cap_usd, spent_usd, reserved_usd, left_usd, renews_at } = entry;
        CapState { period, cap_usd, spent_usd, reserved_usd, left_usd, renews_at }
    }
}

impl From<&CapStatus> for CapState {
    fn from(status: &CapStatus) -> Self {
        CapEntry::from(status).into()
    }
}
