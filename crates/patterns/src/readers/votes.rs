//! Votes: on options, on a proposal, and on whether a dialogue has reached consensus.

use std::collections::BTreeMap;

use quorum_core::model::reading::Source;
use serde::{Deserialize, Serialize};

/// How sure someone is, 0 to 1. Out of range can't be written.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// What is assumed of someone who doesn't say.
    pub const UNSTATED: Confidence = Confidence(0.5);

    /// The nearest confidence to this number; not-a-number is [`Confidence::UNSTATED`].
    #[must_use]
    pub fn clamped(value: f64) -> Self {
        if value.is_nan() { Confidence::UNSTATED } else { Confidence(value.clamp(0.0, 1.0)) }
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// One vote for one option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ballot {
    /// The option, exactly as it was offered.
    pub choice: String,
    /// How sure the voter is.
    pub confidence: Confidence,
    /// Why, in the voter's words.
    #[serde(default)]
    pub reasoning: String,
}

/// One answer to "have we reached consensus?" (A06).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsensusVote {
    /// Yes or no.
    pub agrees: bool,
    /// 0 to 100.
    pub confidence: u8,
    /// Why.
    pub reasoning: String,
    /// The agreed solution; only on a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}

/// How the votes fell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The option with the most, unless several have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The options that share the most, when there is no winner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<String>,
    /// Heads for each option.
    pub votes: BTreeMap<String, u32>,
    /// Weight for each option: confidence times the participant's weight.
    pub weighted: BTreeMap<String, f64>,
    /// Every single vote.
    pub ballots: Vec<CastBallot>,
}

/// A vote with the voter's name on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CastBallot {
    /// Who voted.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// How it was understood.
    pub source: Source,
    /// The vote.
    #[serde(flatten)]
    pub ballot: Ballot,
}
