//! How a call went: placed, left behind, failed for good.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{error::ErrorClass, money::Spent, transcript::Bill};

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// Which attempt of the step, from 1; restarts go on counting.
    pub attempt: u32,
    /// Who is asked.
    pub participant: String,
    /// Which provider answers.
    pub provider: String,
    /// Which model, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The worst it can cost.
    pub reserved: Spent,
    /// The fence of this request.
    pub nonce: String,
    /// A short name for what is asked, by which a fork knows that it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether an earlier attempt was cut off by the end of a process, so that it may have been paid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// The labels that stood for names in what was shown, each with the name behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// How many turns did not fit the model's window.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub unheard: u32,
    /// How many tokens the request has by our own count.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub counted: u64,
}

/// Why a call was left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abandoned {
    /// The others' answers were enough.
    Enough,
    /// The discussion's time was up.
    Deadline,
    /// The discussion was aborted.
    Aborted,
    /// The process ended while it was under way.
    Crashed,
}

/// Someone who failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTurn {
    /// Who.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// In which phase.
    pub phase: String,
    /// The kind of the last failure.
    pub class: ErrorClass,
    /// What was said last.
    pub message: String,
    /// How often it was tried.
    pub attempts: u32,
    /// How long that took.
    pub duration_ms: u64,
    /// What had come of the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
}

/// An answer that was never finished: kept, and paid for as far as we can tell, but nobody's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// What was said before it broke off.
    pub text: Arc<str>,
    /// What that will have cost: nobody reports it.
    pub bill: Bill,
}
