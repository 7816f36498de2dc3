//! Readings: the content of structured replies, usable without knowing their form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a structured reply was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Read as asked for.
    Stated,
    /// Guessed from phrases; results mark it as inferred.
    Inferred,
    /// Read from the beginning of a reply that was cut off.
    Begun,
    /// Unreadable, so the cautious answer was assumed.
    Assumed,
}

/// A structured reply as it is recorded: the kind of its form, and its value.
///
/// The line for people and the position are recorded too, so a program without the form can still
/// show the record and count the positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The form's kind: `ballot`.
    pub kind: String,
    /// The form's version.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub version: u32,
    /// The value that was read.
    pub value: Value,
    /// The same in one line for people, without the participant's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// A JSON pointer to the participant's reasons within the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_at: Option<String>,
    /// The position it takes, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
}

fn first() -> u32 {
    1
}

fn is_first(version: &u32) -> bool {
    *version == 1
}

/// The position that a structured reply takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stance {
    /// The position; equal positions have equal text.
    pub position: String,
    /// The confidence in it, 0 to 1.
    pub confidence: f64,
    /// Whether it is a choice among options. A finding on whether there is agreement is not a
    /// choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chooses: bool,
    /// Whether participants that share this position agree on something. Two partners that both
    /// find there is no consensus don't.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub joins: bool,
}

fn yes() -> bool {
    true
}

impl Reading {
    /// The participant's reasons in its own words; empty if it gave none.
    #[must_use]
    pub fn reason(&self) -> &str {
        let reason = self.reason_at.as_deref().and_then(|at| self.value.pointer(at));
        reason.and_then(Value::as_str).unwrap_or_default()
    }

    /// The line for people and the reasons, as a text; `None` if there is neither.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let (told, reason) = (self.told.as_deref().unwrap_or_default(), self.reason().trim());
        let mut letters = told.chars();
        let told = letters.next().map(|it| format!("{}{}", it.to_uppercase(), letters.as_str()));
        match (told, reason) {
            (Some(told), "") => Some(format!("{told}.")),
            (Some(told), reason) => Some(format!("{told}: {reason}")),
            (None, "") => None,
            (None, reason) => Some(reason.to_owned()),
        }
    }

    /// The value as the form's own type; `None` if it is of another kind or version.
    #[must_use]
    pub fn read<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        if self.kind != kind {
            return None;
        }
        serde_json::from_value(self.value.clone()).ok()
    }
}
