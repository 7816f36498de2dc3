//! Context strategies: how a talk is fitted into a model's context window.

use crate::{
    floor::ask::Ask,
    model::{settings::Settings, spec::Spec},
    registry::Options,
    vocabulary::option::{Opt, OptionValue},
};

/// A way to fit a talk into a model's context window (D09).
#[derive(Clone, Copy)]
pub struct ContextStrategy {
    /// The name in requests.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// Decides how a talk of this length is shown. Pure, and no slower for a longer talk.
    pub fit: fn(&Length<'_>) -> Fit,
    /// The options it reads.
    pub options: Options,
    /// The reaction if the provider still rejects a request as too long.
    pub overflow: OnOverflow,
    /// The question that asks a participant for a summary of at most this many tokens.
    pub words: fn(&Spec, u32) -> Ask,
}

/// The reaction of a context strategy if the provider still rejects a request as too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// The strategy can't be chosen for this.
    NotOffered,
    /// One more attempt at once, with a smaller request.
    Shrinks,
    /// One more attempt with a smaller request, after older turns are summarised.
    SumsUp,
}

/// The length of a talk and the room for it, in tokens of one model.
#[derive(Debug, Clone, Copy)]
pub struct Length<'a> {
    /// The total size of the first 0, 1, 2 … turns, so that no strategy has to add them up.
    pub sums: &'a [u64],
    /// The existing summary, if any.
    pub summary: Option<Covered>,
    /// The available room.
    pub room: u64,
    /// The option values that were given.
    pub settings: &'a Settings,
}

/// An existing summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// How many turns it covers, from the first one on.
    pub turns: usize,
    /// Its own size.
    pub size: u64,
}

/// What a strategy decided to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// What is shown besides the newest turns.
    pub before: Before,
    /// The room to use, at most all of it. A talk that is larger is shortened: every speaker gets
    /// the same room.
    pub room: u64,
    /// A summary to make first. If it can't be made, the other fields still apply.
    pub sum_up: Option<SumUp>,
    /// How much of the room the talk would take, in per cent, if that is worth a warning.
    pub tight: Option<u32>,
}

/// What is shown besides the newest turns of a talk that doesn't fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The opening words of each speaker's first turn.
    Openings,
    /// Each speaker's first turn.
    FirstTurns,
    /// The existing summary, and the opening words of each speaker's first turn.
    Summary,
}

/// A summary to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumUp {
    /// How many turns it should cover, from the first one on. Turns that the existing summary
    /// covers are taken from there.
    pub turns: usize,
    /// Its maximum size.
    pub most: u64,
}

impl Length<'_> {
    /// The option's value.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(self.settings)
    }

    /// The number of turns.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// The size of the turns from `from` up to, but not including, `to`.
    #[must_use]
    pub fn size(&self, from: usize, to: usize) -> u64 {
        self.sums.get(to).zip(self.sums.get(from)).map_or(0, |(to, from)| to - from)
    }

    /// The size of all turns from `from` on.
    #[must_use]
    pub fn since(&self, from: usize) -> u64 {
        self.size(from, self.turns())
    }

    /// The index of the first of the newest turns that together fit this room, at least `earliest`.
    #[must_use]
    pub fn newest(&self, earliest: usize, room: u64) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let too_old = |sum: &u64| all - sum > room;
        self.sums.partition_point(too_old).max(earliest).min(self.turns())
    }
}
