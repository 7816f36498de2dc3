//! What a context strategy is: how a talk that outgrows a model's window is shown.

use crate::{
    floor::ask::Ask,
    model::{settings::Settings, spec::Spec},
    registry::Options,
    vocabulary::option::{Opt, OptionValue},
};

/// A way to show a talk that may outgrow a model's window (D09).
#[derive(Clone, Copy)]
pub struct ContextStrategy {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What is shown of a talk of this length. Pure, and never slower for a longer talk.
    pub fit: fn(&Length<'_>) -> Fit,
    /// The options it reads.
    pub options: Options,
    /// What it does where a request is too long for the provider all the same.
    pub overflow: OnOverflow,
    /// The question to a participant that sums up what was said, in so many tokens at most.
    pub words: fn(&Spec, u32) -> Ask,
}

/// What a context strategy does where a request is too long for the provider all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// It can't be chosen for that.
    NotOffered,
    /// One more try at once, with half the room.
    Shrinks,
    /// One more try with half the room, once what is older is summed up.
    SumsUp,
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
    /// The options that were given.
    pub settings: &'a Settings,
}

/// A summary there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// Of how many turns, from the first one on.
    pub turns: usize,
    /// Its own size.
    pub size: u64,
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
    /// The value of this option.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(self.settings)
    }

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
