//! Outcomes: right answers that are recorded beside a finished discussion.

use serde::{Deserialize, Serialize};

use crate::model::{
    id::{DiscussionId, Tenant},
    time::Timestamp,
};

/// The right answer to a discussion's question, as recorded by a user. A correction is a further
/// one; the newest counts.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownOutcome {
    /// The discussion.
    pub discussion: DiscussionId,
    /// Its tenant.
    pub tenant: Tenant,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The right answer; empty if only the result is known to be wrong.
    pub answer: String,
    /// Who said so.
    pub by: String,
    /// When it was recorded.
    pub at: Timestamp,
    /// What follows from it.
    pub scored: Scored,
}

/// What follows from an outcome for a discussion's answers. Kept with it, so that the discussion
/// need not be read again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scored {
    /// Whether the result was right; absent if the record doesn't say which answer it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_right: Option<bool>,
    /// The probability that the result stated, if it stated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// How many options there were; 0 if the answers were free.
    #[serde(default)]
    pub options: u32,
    /// The first answers, as far as it is known whether they were right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ScoredAnswer>,
}

/// A first answer of which it is known whether it was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoredAnswer {
    /// The voice: provider and model.
    pub voice: String,
    /// The answer; equal answers have equal text.
    pub choice: String,
    /// The confidence that was stated.
    pub confidence: f64,
    /// Whether it was right.
    pub is_right: bool,
}

/// Which outcomes are wanted: of one tenant, and either of real voices or of simulated ones, which
/// are never mixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomesWanted {
    /// The tenant.
    pub tenant: Tenant,
    /// Whether those of simulated voices are wanted; otherwise those of real ones.
    pub simulated: bool,
    /// The most that are wanted.
    pub limit: usize,
}
