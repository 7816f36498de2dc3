//! Votes: on options, on a proposal, and on whether a dialogue has reached consensus.

use std::collections::BTreeMap;

use quorum_core::model::reading::Source;
use serde::{Deserialize, Serialize};

/// A confidence, 0 to 1; always in range.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// The confidence of a voter that states none.
    pub const UNSTATED: Confidence = Confidence(0.5);

    /// The nearest valid confidence; NaN becomes [`Confidence::UNSTATED`].
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
    /// The voter's confidence.
    pub confidence: Confidence,
    /// The voter's reasons, in its own words.
    #[serde(default)]
    pub reasoning: String,
}

/// One answer to "have we reached consensus?" (A06).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsensusVote {
    /// Whether it says yes.
    pub agrees: bool,
    /// The confidence, 0 to 100.
    pub confidence: u8,
    /// The voter's reasons.
    pub reasoning: String,
    /// The agreed solution; only on a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}

/// The result of a vote.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The option with the most votes, unless several have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The options that share the first place, if there is no winner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<String>,
    /// The number of votes for each option.
    pub votes: BTreeMap<String, u32>,
    /// The weight for each option: confidence times the participant's weight.
    pub weighted: BTreeMap<String, f64>,
    /// Whether everyone who voted, or tried to, chose the same.
    #[serde(default)]
    pub unanimous: bool,
    /// How far the leading option's share is above the next one's, 0 to 1.
    #[serde(default)]
    pub margin: f64,
    /// Every single vote.
    pub ballots: Vec<CastBallot>,
}

/// A vote with the voter's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CastBallot {
    /// The voter's name.
    pub participant: String,
    /// The round's number.
    pub round: u32,
    /// How it was understood.
    pub source: Source,
    /// The vote.
    #[serde(flatten)]
    pub ballot: Ballot,
}
