//! The reliability of a panel's voices, learned from outcomes of earlier discussions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The evidence of earlier outcomes about the voices of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownVoices {
    /// How many outcomes it is known from.
    pub outcomes: u32,
    /// How informative stated confidence is, for all voices: 1 if it equals the chance of being
    /// right, 0 if it says nothing.
    pub slope: f64,
    /// For each participant by name, the log-odds that it is right when it states an even chance.
    pub offsets: BTreeMap<String, f64>,
    /// How the probability of a result has to be corrected, by the outcomes of earlier ones.
    #[serde(default)]
    pub correction: ResultCorrection,
    /// How many independent voices the panel is worth, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independence: Option<Independence>,
}

/// How many independent voices a panel is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Independence {
    /// The number of voices.
    pub voices: u32,
    /// The number of independent voices that are worth as much.
    pub effective: f64,
    /// The lower end of the 90 % interval of that number.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How many outcomes it is known from.
    pub outcomes: u32,
}

/// How the probability of a result has to be corrected: logit P = slope · logit(p) + offset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResultCorrection {
    /// The slope; 1 corrects nothing.
    pub slope: f64,
    /// The offset; 0 corrects nothing.
    pub offset: f64,
}

impl Default for ResultCorrection {
    fn default() -> Self {
        ResultCorrection { slope: 1.0, offset: 0.0 }
    }
}
