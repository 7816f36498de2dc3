//! Similarity of speeches by meaning, as an embedding model measures it (D08).

use serde::{Deserialize, Serialize};

use crate::model::money::{Usage, Usd};

/// How similar the speeches of a round are to what their speakers said before, or why that couldn't
/// be measured. The vectors are not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The round's number.
    pub round: u32,
    /// The embedding model, as `provider/model`.
    pub model: String,
    /// The similarity of each speech that was compared; empty when there was a problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similarities: Vec<Similarity>,
    /// The tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// The cost; absent if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Why nothing could be measured. Then only the words are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How much of a speech repeats what its speaker said before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    /// The speaker.
    pub participant: String,
    /// The highest similarity to an earlier speech, 0 to 1, reduced where one denies the other.
    pub value: f64,
}

impl Comparison {
    /// The similarities, unless there was a problem.
    #[must_use]
    pub fn found(&self) -> Option<&[Similarity]> {
        self.problem.is_none().then_some(self.similarities.as_slice())
    }
}
