//! A judge's final verdict on a debate (D07).

use serde::{Deserialize, Serialize};

/// A judge's final verdict on a debate (D07).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The summary of the debate.
    pub summary: String,
    /// The main arguments of each debater.
    pub key_points: Vec<KeyPoints>,
    /// The points they agree on.
    pub areas_of_agreement: Vec<String>,
    /// The points they disagree on.
    pub areas_of_disagreement: Vec<String>,
    /// The debater that argued best, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Winner>,
    /// The quality of the debate, 0 to 100; absent if a person stated none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
    /// New insights.
    pub insights: Vec<String>,
}

/// The main arguments of one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyPoints {
    /// The participant's name.
    pub participant: String,
    /// The arguments.
    pub main_arguments: Vec<String>,
}

/// The winner and why it won.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// The participant's name.
    pub participant: String,
    /// The reasons.
    pub reasoning: String,
}
