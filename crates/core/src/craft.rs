//! What a pattern and a consensus method are: a name, a sentence, a table, a function. Adding one is one file and one line.

use futures::future::BoxFuture;

use crate::{
    floor::{Floor, halt::Halt},
    model::{error::Refusal, outcome::Decision, phase::PhaseTable, spec::Spec},
};

/// A way to hold a discussion.
#[derive(Clone, Copy)]
pub struct Pattern {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// Raised when the flow changes so that old records can't be continued.
    pub flow: u32,
    /// The moves between its phases.
    pub phases: PhaseTable,
    /// What is missing in the spec for this pattern, before anything is spent.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// What it is called when too many fail.
    pub loss: Loss,
    /// Holds the discussion. `Some` when the talk itself came to a decision, so that no method need be asked.
    pub run: for<'f> fn(&'f mut Floor) -> Talk<'f>,
}

/// A pattern at work.
pub type Talk<'f> = BoxFuture<'f, Result<Option<Decision>, Halt>>;

/// What it is called when a failure leaves too few to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// There are too few providers.
    TooFewProviders,
    /// A turn failed, which nobody else can take (A14).
    TurnFailed,
}

/// A way to turn what was said into one decision.
#[derive(Clone, Copy)]
pub struct Consensus {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What is missing in the spec for this method.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// How many calls it makes at most when nothing fails; so many are kept back from the budget while they talk.
    pub calls: fn(&Spec) -> u32,
    /// Decides.
    pub decide: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<Decision, Halt>>,
}

/// Everything that was registered.
#[derive(Clone, Copy)]
pub struct Crafts {
    /// The patterns.
    pub patterns: &'static [Pattern],
    /// The consensus methods.
    pub consensus: &'static [Consensus],
}

impl Crafts {
    /// The pattern of that name.
    #[must_use]
    pub fn pattern(&self, name: &str) -> Option<&'static Pattern> {
        self.patterns.iter().find(|it| it.name == name)
    }

    /// The consensus method of that name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Consensus> {
        self.consensus.iter().find(|it| it.name == name)
    }
}
