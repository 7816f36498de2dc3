//! Rulings: decisions that people make during a talk.

use serde::{Deserialize, Serialize};

use crate::model::id::Step;

/// The kind of the decision about a participant whose window has become too small.
pub const WINDOW_RULING: &str = "window";

/// A ruling that is awaited. No task runs meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulingAwaited {
    /// The kind of decision, as its pattern declares it: `judge`.
    pub kind: String,
    /// The participant it is about.
    pub about: String,
    /// The step under which it will be recorded.
    pub answers: Step,
    /// The round it is made in.
    pub round: u32,
    /// Why it is needed.
    pub reason: String,
    /// The possible choices.
    pub choices: Vec<AwaitedChoice>,
    /// The participants that may be named, best first.
    pub candidates: Vec<String>,
}

/// One possible choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedChoice {
    /// The choice's name.
    pub name: String,
    /// Whether one of the candidates must be named with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_candidate: bool,
}

/// A decision by people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The kind of decision: `judge`.
    pub kind: String,
    /// The choice made: `swap`.
    pub choice: String,
    /// The participant named, if the choice requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
}

/// A ruling that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruled {
    /// The participant it is about.
    pub about: String,
    /// The round it was made in.
    pub round: u32,
    /// The decision.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// Why a ruling is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulingError {
    /// No decision of this kind is awaited.
    NotAwaited,
    /// There is no such choice.
    NoSuchChoice,
    /// The choice needs a candidate, and the name given is not one.
    NoSuchCandidate,
}

impl RulingAwaited {
    /// Whether this ruling is acceptable here.
    pub fn admits(&self, ruling: &Ruling) -> Result<(), RulingError> {
        if self.kind != ruling.kind {
            return Err(RulingError::NotAwaited);
        }
        let choice =
            self.choices.iter().find(|it| it.name == ruling.choice).ok_or(RulingError::NoSuchChoice)?;
        let named = ruling.candidate.as_ref();
        let fits = if choice.takes_candidate {
            named.is_some_and(|it| self.candidates.contains(it))
        } else {
            named.is_none()
        };
        fits.then_some(()).ok_or(RulingError::NoSuchCandidate)
    }

    /// The accepted ruling.
    #[must_use]
    pub fn decided(&self, ruling: &Ruling) -> Ruled {
        Ruled { about: self.about.clone(), round: self.round, ruling: ruling.clone() }
    }
}
