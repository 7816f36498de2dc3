//! How a decision was reached, under the field names of B04.

use serde::{Deserialize, Serialize};

use crate::model::outcome::Claim;

/// How a decision was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsensusReport {
    /// The method's name.
    pub method: String,
    /// The participant that wrote the synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// The degree of agreement, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement_score: Option<f64>,
    /// The points they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// The minority views; may be empty, absent only if switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissent: Option<Vec<DissentReport>>,
    /// The arguments made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// A minority view, under the field names of B04.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DissentReport {
    /// The participant that holds it.
    pub provider: String,
    /// The position it holds.
    pub position: String,
}
