//! How alike speeches are by what they mean, as an embedding model sees it (D08).

use serde::{Deserialize, Serialize};

use crate::model::money::{Usage, Usd};

/// The speeches of a round beside what their speakers said before, or why that could not be measured. The vectors are not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Of which round.
    pub round: u32,
    /// By which model, as `provider/model`.
    pub model: String,
    /// What was found, for each speech that was looked at; nothing when there was a problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similarities: Vec<Similarity>,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
    /// What it cost; absent when nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Why nothing was found; then words alone are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How much of a speech its speaker has said before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    /// Whose speech.
    pub participant: String,
    /// The most alike to any earlier one, 0 to 1, less what one denies of the other.
    pub value: f64,
}

impl Comparison {
    /// What was found, unless there was a problem.
    #[must_use]
    pub fn found(&self) -> Option<&[Similarity]> {
        self.problem.is_none().then_some(self.similarities.as_slice())
    }
}
