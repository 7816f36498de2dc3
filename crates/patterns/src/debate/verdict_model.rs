//! What judges and synthesizers say in a fixed form.

use serde::{Deserialize, Serialize};

use crate::model::debate::Part;

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

/// A synthesis as it was asked for: the text, and what the participants agreed and differed on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    /// The considered answer.
    pub synthesis: String,
    /// How far the participants agree, 0 to 1; absent when the reply could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// What they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// Who holds something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<Dissent>,
    /// The arguments, who stands behind them, and what nobody answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// A minority view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dissent {
    /// Whose.
    pub participant: String,
    /// What it is.
    pub position: String,
}

/// One argument on the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is claimed.
    pub text: String,
    /// Who supports it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_by: Vec<String>,
    /// Who attacks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacked_by: Vec<String>,
    /// Whether it stood there without an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// Positions and personas as a model gave them out (D05).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastList {
    /// One for each debater.
    pub parts: Vec<Part>,
    /// Why these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}
