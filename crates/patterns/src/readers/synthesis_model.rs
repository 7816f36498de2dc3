//! The synthesis as a typed value.

use quorum_core::model::outcome::{Claim, Decision, Dissent};
use serde::{Deserialize, Serialize};

/// A synthesis: the text, and what the participants agreed and differed on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    /// The considered answer.
    pub synthesis: String,
    /// The points they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// The minority views.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<Dissent>,
    /// The arguments, who supports and attacks them, and which were never answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

impl Synthesis {
    /// This synthesis as a decision by this participant.
    #[must_use]
    pub fn decision(self, by: &str) -> Decision {
        Decision {
            synthesis: self.synthesis,
            synthesizer: Some(by.to_owned()),
            agreements: self.agreements,
            dissent: self.dissent,
            claims: self.claims,
            ..Decision::default()
        }
    }
}
