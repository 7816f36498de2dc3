//! The work that a pattern starts besides asking participants: discussions of its own, and tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::id::DiscussionId;

/// A discussion that a pattern began below its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Convened {
    /// The pattern's name for it; its id is derived from this.
    pub name: String,
    /// The pattern by which it is held.
    pub pattern: String,
    /// A digest of its spec, so that a fork can reuse its result.
    pub digest: String,
    /// Its id, so that it can be watched before it has ended. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<DiscussionId>,
}

/// A tool that is about to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolPlaced {
    /// The pattern's name for this use.
    pub name: String,
    /// The tool's name.
    pub tool: String,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// What it is given.
    pub arguments: Value,
}

/// The end of a tool's use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUsed {
    /// The pattern's name for this use.
    pub name: String,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// What it returned.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Milliseconds until the next attempt; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
    /// How long it took.
    pub took_ms: u64,
    /// Whether the result is that of the discussion it was forked from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
}

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// A code for programs: `TOOL_NOT_FOUND`.
    pub code: String,
    /// What happened, as a sentence.
    pub message: String,
    /// Whether another attempt may succeed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

impl ToolError {
    /// The code of a tool that was under way when its process ended: it may have had its effect,
    /// so it is not repeated.
    pub const INTERRUPTED: &'static str = "TOOL_INTERRUPTED";
    /// The code of a tool that took too long.
    pub const TIMEOUT: &'static str = "STEP_TIMEOUT";
    /// The code of a tool that isn't there.
    pub const NOT_FOUND: &'static str = "TOOL_NOT_FOUND";
    /// The code of a tool that failed in any other way.
    pub const FAILED: &'static str = "TOOL_FAILED";

    /// An error that another attempt would repeat.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        ToolError { code: code.to_owned(), message: message.into(), transient: false }
    }

    /// The same, as one that another attempt may avoid.
    #[must_use]
    pub fn transient(self) -> Self {
        ToolError { transient: true, ..self }
    }
}
