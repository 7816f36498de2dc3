//! Decisions that a pattern asks people for during a talk, such as who replaces a judge.

use crate::model::{ruling::WINDOW_RULING, spec::WindowSpec};

/// A kind of decision that a pattern may ask people for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingKind {
    /// The name on the command line and in requests: `judge`.
    pub name: &'static str,
    /// One sentence for help and schemas.
    pub summary: &'static str,
    /// The possible choices.
    pub choices: &'static [RulingChoice],
}

/// One possible choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingChoice {
    /// The name on the command line and in requests: `swap`.
    pub name: &'static str,
    /// Its effect, in one line.
    pub summary: &'static str,
    /// Whether one of the candidates must be named with it.
    pub takes_candidate: bool,
}

/// The decision about a participant whose window has become too small (D12). Every pattern has it.
pub const WINDOW: RulingKind = RulingKind {
    name: WINDOW_RULING,
    summary: "Decide how to go on when the talk no longer fits a model's context window",
    choices: &[
        RulingChoice {
            name: "truncate",
            summary: "It is shown shortened turns, and fewer of them",
            takes_candidate: false,
        },
        RulingChoice {
            name: WINDOW_SUM_UP,
            summary: "Earlier turns are replaced by a summary, which is a paid call",
            takes_candidate: false,
        },
        RulingChoice {
            name: WindowSpec::END,
            summary: "The discussion is concluded",
            takes_candidate: false,
        },
    ],
};

/// The choice to have earlier turns summarised.
pub(crate) const WINDOW_SUM_UP: &str = "summarise";

impl RulingKind {
    /// The choice of that name.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<&'static RulingChoice> {
        self.choices.iter().find(|it| it.name == name)
    }
}
