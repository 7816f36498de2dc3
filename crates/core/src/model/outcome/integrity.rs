//! Whether the result is complete, and what is missing if not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{event::Tight, outcome::AbilitiesReport, window::CutView};

/// Whether the result is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integrity {
    /// The participants that should have spoken.
    pub expected: Vec<String>,
    /// The participants that spoke.
    pub spoke: Vec<String>,
    /// The participants that are missing, with the reasons.
    pub missing: Vec<Missing>,
    /// Attempts that failed and were retried.
    pub retries: u32,
    /// Calls repeated because a process ended; they may have been paid twice.
    pub repeated_calls: u32,
    /// Calls given up because enough had answered, or because of an abort.
    pub abandoned_calls: u32,
    /// Votes and checks that were inferred from phrases.
    pub inferred_readings: u32,
    /// Votes and checks that couldn't be read.
    pub unread_replies: u32,
    /// Turns left out because they didn't fit a context window, summed over all calls.
    pub truncations: u32,
    /// Summaries of earlier turns, made for windows without room for them.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub summaries: u32,
    /// Participants whose context window the talk nearly filled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tight_windows: Vec<Tight>,
    /// Participants that were not always shown all of the talk, because their window was too small.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_views: Vec<CutView>,
    /// The abilities of agents: those that were shown, missing or left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<AbilitiesReport>,
    /// The participant whose last words are the text of the result, because no one wrote a
    /// synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Replies that reached their token limit.
    pub cut_short: u32,
    /// What the pattern reports as missing, by name: `unassessedRounds`, for instance.
    #[serde(flatten)]
    pub lacks: Map<String, Value>,
    /// Whether any of this made the result less than it was meant to be.
    pub degraded: bool,
}

/// A participant that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The participant's name.
    pub provider: String,
    /// The reason.
    pub reason: String,
    /// Whether it spoke, and failed only when it was asked for the decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deciding: bool,
}
