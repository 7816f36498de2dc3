//! Whether the result is all that was asked for, and what is missing where it is not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::event::Tight;

/// Whether the result is all that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integrity {
    /// Who was meant to speak.
    pub expected: Vec<String>,
    /// Who did.
    pub spoke: Vec<String>,
    /// Who is missing, and why.
    pub missing: Vec<Missing>,
    /// Attempts that failed and were repeated.
    pub retries: u32,
    /// Calls cut off by the end of a process and repeated; they may have been paid twice.
    pub repeated_calls: u32,
    /// Calls let go because there was enough, or at an abort.
    pub abandoned_calls: u32,
    /// Votes and checks that were guessed from phrases.
    pub inferred_readings: u32,
    /// Votes and checks that could not be read at all.
    pub unread_replies: u32,
    /// Turns that did not fit someone's window, summed over all calls.
    pub truncations: u32,
    /// Summaries of what was said earlier, made for windows that had no room for it.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub summaries: u32,
    /// Participants whose window what was said came near to filling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tight_windows: Vec<Tight>,
    /// Replies that ran into their token limit.
    pub cut_short: u32,
    /// What its pattern finds missing, by name: `unassessedRounds`, for instance.
    #[serde(flatten)]
    pub lacks: Map<String, Value>,
    /// Yes when any of this made the result less than it was meant to be.
    pub degraded: bool,
}

/// Someone who is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Who.
    pub provider: String,
    /// Why.
    pub reason: String,
}
