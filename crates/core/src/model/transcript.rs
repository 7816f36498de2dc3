//! Turns and their cost.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    id::Step,
    money::{Price, Spent, Usage, Usd},
    time::Timestamp,
};

/// One finished reply of one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The step it answers.
    pub step: Step,
    /// The participant that spoke.
    pub participant: String,
    /// The round, from 1.
    pub round: u32,
    /// The phase.
    pub phase: String,
    /// The form it was asked for in; absent for a speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The text.
    pub text: Arc<str>,
    /// The part of a form that is text for people; absent if it has none, and for a speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prose: Option<Arc<str>>,
    /// When the answering call was placed.
    pub started_at: Timestamp,
    /// How long the step took, retries included.
    pub duration_ms: u64,
    /// Why the model stopped.
    pub finish: Finish,
    /// Its usage and cost.
    pub bill: Bill,
    /// The exact model that was asked; absent for a person, and where a program chose its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that answered, where the provider named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Whether it was reused from the discussion this one was forked from, and paid there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
}

impl Turn {
    /// The text for people: all of a speech, the prose of a form. Empty for a form that is all
    /// data.
    #[must_use]
    pub fn prose(&self) -> &str {
        match (&self.form, &self.prose) {
            (_, Some(prose)) => prose,
            (Some(_), None) => "",
            (None, None) => &self.text,
        }
    }
}

/// Usage and cost of one reply. The price is recorded too, so later price lists change nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    /// The tokens used.
    pub usage: Usage,
    /// Whether the tokens are our estimate because the provider reported none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// The price the cost was computed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The cost; absent means the price is unknown, not that it was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

impl Bill {
    /// The part of the budgets that one call with this bill uses.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent { calls: 1, tokens: self.usage.total(), usd: self.cost.unwrap_or_default() }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// It was finished.
    Stop,
    /// It reached its token limit.
    Length,
    /// It went on past its token limit, and its answer was cut there.
    Truncated,
    /// It refused or was filtered.
    Refused,
    /// It asked for a sub-discussion before continuing.
    Convene,
}

impl Finish {
    /// The name in results and events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Truncated => "truncated",
            Finish::Refused => "refused",
            Finish::Convene => "convene",
        }
    }
    /// Why the text is only the beginning of an answer, where it is.
    #[must_use]
    pub fn cut_reason(self) -> Option<&'static str> {
        match self {
            Finish::Length => Some("it reached its token limit"),
            Finish::Truncated => Some("it went past its token limit"),
            Finish::Stop | Finish::Refused | Finish::Convene => None,
        }
    }

    /// Whether the text is only the beginning of an answer.
    #[must_use]
    pub fn is_cut_off(self) -> bool {
        self.cut_reason().is_some()
    }

    /// The note for readers after a text that is only the beginning of an answer.
    #[must_use]
    pub fn mark(self) -> Option<String> {
        self.cut_reason().map(|reason| format!("[cut off here: {reason}]"))
    }
}

/// A turn without duration and cost, for tests.
#[cfg(test)]
pub(crate) fn sample_turn(step: Step, (round, phase): (u32, &str), participant: &str, text: &str) -> Turn {
    Turn {
        step,
        participant: participant.to_owned(),
        round,
        phase: phase.to_owned(),
        form: None,
        text: text.into(),
        prose: None,
        started_at: Timestamp(0),
        duration_ms: 0,
        finish: Finish::Stop,
        bill: Bill::default(),
        model: None,
        answered_by: None,
        reused: false,
    }
}
