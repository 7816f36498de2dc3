//! What a pattern, a consensus method and a context strategy are: a name, a sentence, a table, a function. Adding one is one file and one line.

use futures::future::BoxFuture;

use crate::{
    floor::{Floor, ask::Ask, halt::Halt},
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

/// A way to show a talk that may outgrow a model's window (D09).
#[derive(Clone, Copy)]
pub struct ContextStrategy {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What is shown of a talk of this length. Pure, and never slower for a longer talk.
    pub fit: fn(&Length<'_>) -> Fit,
    /// What someone is asked who sums up what was said, in so many tokens at most.
    pub words: fn(&Spec, u32) -> Ask,
}

/// How long a talk is beside the room there is for it, in tokens of one model.
#[derive(Debug, Clone, Copy)]
pub struct Length<'a> {
    /// The size of the first 0, 1, 2 … turns together, so that no strategy ever adds them up.
    pub sums: &'a [u64],
    /// What is summed up already.
    pub summary: Option<Covered>,
    /// What there is room for.
    pub room: u64,
    /// Whether a strategy that can do without may pay for summaries.
    pub summaries: Summaries,
}

/// A summary there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// Of how many turns, from the first one on.
    pub turns: usize,
    /// Its own size.
    pub size: u64,
}

/// Whether summaries are paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summaries {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// What a strategy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// What stands before the newest turns.
    pub before: Before,
    /// The first of the newest turns; from here on all are shown.
    pub from: usize,
    /// What should be summed up first; what is shown holds when that can't be had.
    pub sum_up: Option<SumUp>,
    /// How much of the room the talk would take, in per cent, where that is worth a warning.
    pub tight: Option<u32>,
}

/// What stands before the newest turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// The very first turn.
    First,
    /// The summary there is.
    Summary,
}

/// A summary to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumUp {
    /// Of how many turns, from the first one on; those already summed up are taken from the summary there is.
    pub turns: usize,
    /// How long it may be.
    pub most: u64,
}

impl Length<'_> {
    /// How many turns there are.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// The size of the turns from this one up to, and without, that one.
    #[must_use]
    pub fn size(&self, from: usize, to: usize) -> u64 {
        self.sums.get(to).zip(self.sums.get(from)).map_or(0, |(to, from)| to - from)
    }

    /// The size of all turns from this one on.
    #[must_use]
    pub fn since(&self, from: usize) -> u64 {
        self.size(from, self.turns())
    }

    /// The first of the newest turns that fit this room together, none before `earliest` among them.
    #[must_use]
    pub fn newest(&self, earliest: usize, room: u64) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let too_old = |sum: &u64| all - sum > room;
        self.sums.partition_point(too_old).max(earliest).min(self.turns())
    }
}

/// Everything that was registered.
#[derive(Clone, Copy)]
pub struct Crafts {
    /// The patterns.
    pub patterns: &'static [Pattern],
    /// The consensus methods.
    pub consensus: &'static [Consensus],
    /// The context strategies.
    pub contexts: &'static [ContextStrategy],
}

impl Crafts {
    /// The pattern of that name.
    #[must_use]
    pub fn pattern(&self, name: &str) -> Option<&'static Pattern> {
        self.patterns.iter().find(|it| it.name == name)
    }

    /// The context strategy of that name.
    #[must_use]
    pub fn context(&self, name: &str) -> Option<&'static ContextStrategy> {
        self.contexts.iter().find(|it| it.name == name)
    }

    /// The consensus method of that name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Consensus> {
        self.consensus.iter().find(|it| it.name == name)
    }
}
