//! A synthesis as it was asked for.

use quorum_core::model::outcome::{Claim, Decision, Dissent};
use serde::{Deserialize, Serialize};

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

impl Synthesis {
    /// The decision that is this synthesis by this participant.
    #[must_use]
    pub fn decision(self, by: &str) -> Decision {
        Decision {
            synthesis: self.synthesis,
            synthesizer: Some(by.to_owned()),
            agreement: self.agreement,
            agreements: self.agreements,
            dissent: self.dissent,
            claims: self.claims,
            ..Decision::default()
        }
    }
}
