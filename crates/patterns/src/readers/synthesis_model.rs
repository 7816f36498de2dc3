//! The synthesis as a typed value.

use quorum_core::{
    model::outcome::{Claim, Decision, Dissent, Structure},
    vocabulary::prose::Marker,
};
use serde::{Deserialize, Serialize};

/// A synthesis: the text, and what the participants agreed and differed on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    /// The considered answer, without markers of sources.
    pub synthesis: String,
    /// The markers that its writer put after sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Marker>,
    /// The points they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// The minority views.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<Dissent>,
    /// The arguments, who supports and attacks them, and which were never answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Whether these three could be read.
    #[serde(default, skip_serializing_if = "Structure::is_given")]
    pub structure: Structure,
    /// Whether the text is only the beginning of a reply that was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
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
            structure: self.structure,
            ..Decision::default()
        }
    }
}
