//! The judge's seat when it is empty and people are to say what becomes of it (D13).

use serde::{Deserialize, Serialize};

use crate::model::{
    debate::{JudgeChange, JudgeFailure},
    id::Step,
};

/// A judge who failed, and nobody has said yet who judges instead. Nothing waits in memory for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vacancy {
    /// Who can't judge any more.
    pub lost: String,
    /// The step under which the ruling will be recorded.
    pub answers: Step,
    /// In which round.
    pub round: u32,
    /// What went wrong.
    pub reason: String,
    /// Who may take the seat: first who takes no side, then the debaters, the strongest first.
    pub candidates: Vec<String>,
}

/// What people say about an empty judge's seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ruling")]
pub enum Ruling {
    /// This one judges from now on.
    Swap {
        /// Who.
        to: String,
    },
    /// The debate goes on without a judge.
    GoWithout,
    /// The debate is concluded.
    End,
}

impl Ruling {
    /// Who is to judge, if anyone.
    #[must_use]
    pub fn successor(&self) -> Option<&str> {
        match self {
            Ruling::Swap { to } => Some(to),
            Ruling::GoWithout | Ruling::End => None,
        }
    }

    fn rule(&self) -> JudgeFailure {
        match self {
            Ruling::Swap { .. } => JudgeFailure::Swap,
            Ruling::GoWithout => JudgeFailure::GoWithout,
            Ruling::End => JudgeFailure::End,
        }
    }
}

impl Vacancy {
    /// Whether this is one of the things that can be said here.
    #[must_use]
    pub fn admits(&self, ruling: &Ruling) -> bool {
        ruling.successor().is_none_or(|to| self.candidates.iter().any(|it| it == to))
    }

    /// What becomes of the seat by this ruling.
    pub(crate) fn filled_by(&self, ruling: &Ruling) -> JudgeChange {
        let to = ruling.successor().map(str::to_owned);
        JudgeChange { round: self.round, from: self.lost.clone(), to, rule: ruling.rule() }
    }
}
