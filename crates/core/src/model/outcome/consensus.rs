//! How a decision was reached, under the field names of B04.

use serde::{Deserialize, Serialize};

use crate::model::outcome::{Claim, DroppedView};

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
    /// Whether the synthesizer's agreements, dissent and claims could be read; absent if they
    /// could, or were not asked for.
    #[serde(default, skip_serializing_if = "Structure::is_given")]
    pub structure: Structure,
    /// The minority views; may be empty, absent only if switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissent: Option<Vec<DissentReport>>,
    /// The dissenting views and disputed arguments that neither the answer nor `dissent` mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedView>,
    /// The arguments made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// The agreements, dissent and claims that belong to a synthesis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// They were read, or were not asked for.
    #[default]
    Given,
    /// The synthesizer gave none.
    Absent,
    /// The synthesizer gave something that could not be read.
    Unreadable,
}

impl Structure {
    /// Whether nothing is missing.
    #[must_use]
    pub fn is_given(&self) -> bool {
        *self == Structure::Given
    }

    /// What is missing, as a sentence without its full stop.
    #[must_use]
    pub fn told(self) -> Option<&'static str> {
        match self {
            Structure::Given => None,
            Structure::Absent => Some("The synthesizer listed no agreements, dissent or arguments"),
            Structure::Unreadable => {
                Some("The synthesizer's list of agreements, dissent and arguments could not be read")
            }
        }
    }
}

/// A minority view, under the field names of B04.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DissentReport {
    /// The participant that holds it.
    pub provider: String,
    /// The position it holds.
    pub position: String,
}
