//! A judge's final verdict on a debate (D07).

use serde::{Deserialize, Serialize};

/// A judge's final verdict on a debate (D07).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// What happened, in full.
    pub summary: String,
    /// The main arguments of each.
    pub key_points: Vec<KeyPoints>,
    /// Where they met.
    pub areas_of_agreement: Vec<String>,
    /// Where they did not.
    pub areas_of_disagreement: Vec<String>,
    /// Who argued best, if anyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Winner>,
    /// The debate as a whole, 0 to 100.
    pub quality_score: f64,
    /// What was new.
    pub insights: Vec<String>,
}

/// The main arguments of one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyPoints {
    /// Who made them.
    pub participant: String,
    /// What they were.
    pub main_arguments: Vec<String>,
}

/// Who won and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// Who.
    pub participant: String,
    /// Why.
    pub reasoning: String,
}
