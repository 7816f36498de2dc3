//! Facts about a call: placed, given up, failed for good.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    error::ErrorClass,
    money::{Price, Spent},
    transcript::Bill,
};

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The attempt's number within the step, from 1; restarts continue the count.
    pub attempt: u32,
    /// The participant that is asked.
    pub participant: String,
    /// The provider that is called.
    pub provider: String,
    /// The exact model that is asked; absent where a program chooses its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The form that the reply is asked for in; absent for a speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The price of its tokens; absent means unknown, not free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The reservation: the most it can cost.
    pub reserved: Spent,
    /// The nonce that fences other participants' text: the same in all requests to this
    /// participant.
    pub nonce: String,
    /// A digest of the question, by which a fork recognises it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether an earlier attempt was cut off by the end of a process and may have been paid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// The labels that replaced names in the prompt, each with the name behind it, if they were
    /// drawn for this question alone; otherwise the panel's labels apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// How many turns were left out because they didn't fit the context window.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub unheard: u32,
    /// How many turns were shortened for the same reason.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub shortened: u32,
    /// Our estimate of the prompt's size in tokens.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub counted: u64,
    /// The token limit of the answer.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub max_tokens: u32,
}

/// Why a call was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abandoned {
    /// Enough others had answered.
    Enough,
    /// The discussion ran out of time.
    Deadline,
    /// The discussion was aborted.
    Aborted,
    /// The process ended while the call was under way.
    Crashed,
}

/// A participant that failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTurn {
    /// The participant's name.
    pub participant: String,
    /// The round it failed in.
    pub round: u32,
    /// The phase it failed in.
    pub phase: String,
    /// The class of the last error.
    pub class: ErrorClass,
    /// The message of the last error.
    pub message: String,
    /// How many attempts were made.
    pub attempts: u32,
    /// How long they took.
    pub duration_ms: u64,
    /// The part of the last answer that had arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
}

/// An answer that was cut off or is empty: recorded, and billed as far as we can tell, but not a
/// turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The text that had arrived.
    pub text: Arc<str>,
    /// Its cost; estimated, unless the answer came to its end.
    pub bill: Bill,
}
