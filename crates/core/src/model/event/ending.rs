//! The ends of deliberations, discussions and sub-discussions.

use serde::{Deserialize, Serialize};

use crate::model::{
    account::Period,
    error::{ErrorClass, Problem},
    id::DiscussionId,
    money::{Spent, Usd},
    outcome::StoppingReason,
    time::Timestamp,
};

/// Why deliberation was ended before the pattern had finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum WindUp {
    /// A person asked to stop.
    Stopped,
    /// The call budget is used up.
    CallBudget {
        /// How many calls the next step needed.
        #[serde(default)]
        needed: u32,
        /// How many were left for it.
        #[serde(default)]
        left: u32,
    },
    /// The token budget is used up.
    TokenBudget {
        /// How many tokens the next step could need.
        #[serde(default)]
        needed: u64,
        /// How many were left for it.
        #[serde(default)]
        left: u64,
    },
    /// The cost budget is used up.
    CostBudget {
        /// How much the next step could cost.
        #[serde(default)]
        needed: Usd,
        /// How much was left for it.
        #[serde(default)]
        left: Usd,
    },
    /// A spending cap of the account is used up.
    SpendingCap {
        /// How much the next step could cost.
        needed: Usd,
        /// How much was left for it.
        left: Usd,
        /// The cap.
        cap: Usd,
        /// The cap's period.
        period: Period,
        /// When it renews.
        renews_at: Timestamp,
    },
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
    /// The talk no longer fits a participant's context window, and the spec says to end the talk in
    /// that case.
    WindowFull {
        /// The participant whose window it is.
        participant: String,
    },
}

impl WindUp {
    /// Whether it ended because participants were lost.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        match self {
            WindUp::TooFew { .. } | WindUp::ProviderFailed { .. } => true,
            WindUp::Stopped
            | WindUp::CallBudget { .. }
            | WindUp::TokenBudget { .. }
            | WindUp::CostBudget { .. }
            | WindUp::SpendingCap { .. }
            | WindUp::Deadline
            | WindUp::WindowFull { .. } => false,
        }
    }
}

/// A new run over the same record after an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// The participants that were lost to transient errors and take part again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reseated: Vec<String>,
    /// How many answers are kept.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub kept: u32,
    /// Where the talk goes on; absent if it never began or no participant was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RetryPoint>,
}

/// The phase in which participants were lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPoint {
    /// The round.
    pub round: u32,
    /// The phase.
    pub phase: String,
}

impl RetryPoint {
    /// Whether this is the phase of that round.
    #[must_use]
    pub fn is_at(&self, round: u32, phase: &str) -> bool {
        self.round == round && self.phase == phase
    }
}

/// The end of a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Whether the discussion achieved what was asked.
    pub success: bool,
    /// Why it ended (A04).
    pub stopping: StoppingReason,
    /// Whether the result is based on less than was ordered.
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
