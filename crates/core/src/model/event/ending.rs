//! The ends of deliberations, discussions and sub-discussions.

use serde::{Deserialize, Serialize};

use crate::model::{
    error::{ErrorClass, Problem},
    id::DiscussionId,
    money::Spent,
    outcome::StoppingReason,
};

/// Why deliberation ended before the pattern did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum WindUp {
    /// A person asked to stop.
    Stopped,
    /// The call budget is used up.
    CallBudget,
    /// The token budget is used up.
    TokenBudget,
    /// The cost budget is used up.
    CostBudget,
    /// The time is up.
    Deadline,
    /// Too few participants are left.
    TooFew {
        /// How many are left.
        left: u32,
        /// How many are needed.
        needed: u32,
    },
    /// A participant failed, and the spec tolerates no failure.
    ProviderFailed {
        /// The participant's name.
        participant: String,
        /// The error class.
        class: ErrorClass,
    },
    /// The talk no longer fits a participant's context window, and the spec says to end it then.
    WindowFull {
        /// The participant whose window it is.
        participant: String,
    },
}

/// The end of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Whether the discussion achieved what was asked.
    pub success: bool,
    /// Why it ended (A04).
    pub stopping: StoppingReason,
    /// Whether less went into the result than was meant to.
    pub degraded: bool,
    /// The error, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// How a sub-discussion ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubConcluded {
    /// The participant that asked for it.
    pub participant: String,
    /// Its id; absent if it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<DiscussionId>,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Why there is no answer or only part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// What it and everything below it used of the budgets.
    pub spent: Spent,
    /// How long it ran, in active time. Not called `active_ms`, which the fact itself has in the
    /// same JSON object.
    pub ran_ms: u64,
}
