//! A decision that people make in the middle of a talk, and the wait for it.

use serde::{Deserialize, Serialize};

use crate::model::id::Step;

/// A decision that is awaited. Nothing waits in memory for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulingAwaited {
    /// The kind of decision, as its pattern declares it: `judge`.
    pub kind: String,
    /// The participant it is about.
    pub about: String,
    /// The step under which it will be recorded.
    pub answers: Step,
    /// In which round.
    pub round: u32,
    /// Why it is needed.
    pub reason: String,
    /// What may be decided.
    pub choices: Vec<AwaitedChoice>,
    /// The participants who may be named, the first choice first.
    pub candidates: Vec<String>,
}

/// One thing that may be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedChoice {
    /// Its name.
    pub name: String,
    /// Whether it names one of the candidates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_candidate: bool,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The kind of decision: `judge`.
    pub kind: String,
    /// What was decided: `swap`.
    pub choice: String,
    /// The participant named, where the choice names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
}

/// A decision that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruled {
    /// The participant it is about.
    pub about: String,
    /// In which round.
    pub round: u32,
    /// What was decided.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// Why a decision can't be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// No decision of this kind is awaited.
    NotAwaited,
    /// This is none of the choices.
    NoSuchChoice,
    /// The choice needs a candidate, and none of them was named.
    NoSuchCandidate,
}

impl RulingAwaited {
    /// Whether this decision can be taken in here.
    pub fn admits(&self, ruling: &Ruling) -> Result<(), Unfit> {
        if self.kind != ruling.kind {
            return Err(Unfit::NotAwaited);
        }
        let choice = self.choices.iter().find(|it| it.name == ruling.choice).ok_or(Unfit::NoSuchChoice)?;
        let named = ruling.candidate.as_ref();
        let fits = if choice.takes_candidate {
            named.is_some_and(|it| self.candidates.contains(it))
        } else {
            named.is_none()
        };
        fits.then_some(()).ok_or(Unfit::NoSuchCandidate)
    }

    /// What becomes of it by this decision.
    #[must_use]
    pub fn decided(&self, ruling: &Ruling) -> Ruled {
        Ruled { about: self.about.clone(), round: self.round, ruling: ruling.clone() }
    }
}
