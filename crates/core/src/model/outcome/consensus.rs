//! How a decision was reached, under B04's names: who agrees and who does not.

use serde::{Deserialize, Serialize};

use crate::model::outcome::Claim;

/// How a decision was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsensusReport {
    /// The method.
    pub method: String,
    /// Who wrote the synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// How far they agree, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement_score: Option<f64>,
    /// What they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// Who holds something else; present, though perhaps empty, unless switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissent: Option<Vec<DissentReport>>,
    /// The arguments on the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// A minority view, under B04's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DissentReport {
    /// Whose.
    pub provider: String,
    /// What it is.
    pub position: String,
}
