//! How deliberation, a discussion or a sub-discussion ended.

use serde::{Deserialize, Serialize};

use crate::model::{
    error::{ErrorClass, Problem},
    id::DiscussionId,
    money::Spent,
    outcome::StoppingReason,
};

/// Why deliberation ended before the pattern was through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum WindUp {
    /// A person said stop.
    Stopped,
    /// The calls are spent.
    CallBudget,
    /// The tokens are spent.
    TokenBudget,
    /// The money is spent.
    CostBudget,
    /// The time is spent.
    Deadline,
    /// Too few are left.
    TooFew {
        /// How many are.
        left: u32,
        /// How many must be.
        needed: u32,
    },
    /// One failed and none may.
    ProviderFailed {
        /// Who.
        participant: String,
        /// How.
        class: ErrorClass,
    },
    /// The talk is too long for someone's window, and was to end then.
    WindowFull {
        /// Whose.
        participant: String,
    },
}

/// The end of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Whether it did what it was asked for.
    pub success: bool,
    /// Why it ended (A04).
    pub stopping: StoppingReason,
    /// Whether less went into the result than was meant to.
    pub degraded: bool,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// How a sub-discussion ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubConcluded {
    /// Who asked for it.
    pub participant: String,
    /// Its id; absent when it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<DiscussionId>,
    /// What it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Why there is nothing, or not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// What it and everything below it took from the budgets.
    pub spent: Spent,
    /// How long it ran. Not named as the fact's own active time, beside which it is written.
    pub ran_ms: u64,
}
