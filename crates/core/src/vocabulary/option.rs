//! Options: what a user may set for a pattern, a method, a strategy or a detector.
//!
//! An option is declared once, as a constant beside the code that reads it. The flag, the help, the
//! configuration key, the request field, the schemas and the page's form field follow from that.

use std::{marker::PhantomData, ops::RangeInclusive};

use serde_json::Value;

use crate::model::settings::Settings;

/// An option with the type of its value.
pub struct Opt<T: 'static> {
    declared: Declared,
    value: PhantomData<fn() -> T>,
}

/// What every surface knows about an option.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The name in requests: `roundLimit`. The flag is the same with hyphens: `--round-limit`.
    pub name: &'static str,
    /// One sentence for help, schemas and the page, without a full stop.
    pub summary: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// Whether sub-discussions inherit it.
    pub inherited: bool,
    /// Whether it is offered everywhere, or only in requests and workflows.
    pub on_surfaces: bool,
    /// Whether it is a number of rounds, which a dry run may shorten.
    pub of_rounds: bool,
}

/// What may be written for an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Flag {
        /// What holds where nothing is given.
        default: bool,
    },
    /// A whole number.
    Whole {
        /// The least and the most.
        range: RangeInclusive<u64>,
        /// What holds where nothing is given.
        default: Option<u64>,
    },
    /// A number.
    Number {
        /// The least and the most.
        range: RangeInclusive<f64>,
        /// What holds where nothing is given.
        default: Option<f64>,
    },
    /// A text.
    Text {
        /// In characters.
        longest: usize,
        /// What stands for it in help: `PROVIDER/MODEL`.
        hint: &'static str,
    },
    /// One of several names.
    Choice {
        /// Those there are.
        of: &'static [Choice],
        /// What holds where nothing is given.
        default: Option<&'static str>,
    },
    /// Any of the detectors that are registered, by name.
    Detectors,
    /// The name of a participant.
    Seat {
        /// The role that it gets by being named.
        role: Option<&'static str>,
    },
    /// An embedding model, as `provider/model`.
    Embedder,
    /// A list of rows with named cells; on the command line, a JSON file.
    Rows {
        /// What a row may have.
        cells: &'static [RowCell],
        /// How many rows at most.
        most: usize,
    },
    /// A list of texts for each of some participants.
    TextsBySeat {
        /// How many for each.
        most: usize,
        /// In characters.
        longest: usize,
    },
}

/// One of several names, with what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// What is written.
    pub name: &'static str,
    /// One line for help; empty where the name says it all.
    pub summary: &'static str,
}

/// A named cell of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCell {
    /// Its key in the JSON.
    pub name: &'static str,
    /// What it holds.
    pub kind: RowCellKind,
    /// Whether every row must have it.
    pub required: bool,
}

/// The longest text of a row, in characters.
pub const LONGEST_CELL: usize = 1_000;

/// How many texts one cell of a row may hold.
pub const MOST_CELL_TEXTS: usize = 10;

/// For how many participants something may be said. No table is larger.
pub const MOST_SEATS: usize = 100;

/// What a cell of a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCellKind {
    /// The name of a participant.
    Seat,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// Gives an enum the names and summaries of its variants, the default first.
///
/// ```
/// use quorum_core::{choices, vocabulary::option::Named};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Mode { InTurn, AtOnce }
///
/// choices!(Mode {
///     InTurn = "in-turn": "each after the other",
///     AtOnce = "at-once": "all together",
/// });
///
/// assert_eq!(Mode::AtOnce.name(), "at-once");
/// assert_eq!(Mode::named("in-turn"), Some(Mode::InTurn));
/// ```
#[macro_export]
macro_rules! choices {
    ($kind:ident { $($variant:ident = $name:literal: $summary:literal),+ $(,)? }) => {
        impl $crate::vocabulary::option::Named for $kind {
            const ALL: &'static [(Self, $crate::vocabulary::option::Choice)] =
                &[$(($kind::$variant, $crate::vocabulary::option::Choice::new($name, $summary))),+];
            const CHOICES: &'static [$crate::vocabulary::option::Choice] =
                &[$($crate::vocabulary::option::Choice::new($name, $summary)),+];
        }
    };
}

/// A value that a declared choice stands for. [`choices!`](crate::choices) implements it.
pub trait Named: Copy + PartialEq + 'static {
    /// All of them with their names and summaries, the default first.
    const ALL: &'static [(Self, Choice)];

    /// The names, for a declaration.
    const CHOICES: &'static [Choice];

    /// The name of this one.
    #[must_use]
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("", |(_, choice)| choice.name)
    }

    /// The one of this name.
    #[must_use]
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, choice)| choice.name == name).map(|(it, _)| *it)
    }
}

/// Anything that declares an option.
pub trait Declares: Send + Sync {
    /// The declaration.
    fn declared(&self) -> &Declared;
}

/// A type that an option's value can be read as.
pub trait OptionValue: Sized {
    /// The value, where it is of this type.
    fn read(written: &Value) -> Option<Self>;

    /// The value where nothing is given.
    fn unset(kind: &Kind) -> Self;
}

impl<T: 'static> Opt<T> {
    const fn new(name: &'static str, summary: &'static str, kind: Kind) -> Self {
        let declared =
            Declared { name, summary, kind, inherited: false, on_surfaces: true, of_rounds: false };
        Opt { declared, value: PhantomData }
    }

    /// The same, inherited by sub-discussions.
    #[must_use]
    pub const fn inherited(self) -> Self {
        let Opt { declared: Declared { name, summary, kind, on_surfaces, of_rounds, .. }, value } = self;
        Opt { declared: Declared { name, summary, kind, inherited: true, on_surfaces, of_rounds }, value }
    }

    /// The same, for requests alone: no flag, no form field.
    #[must_use]
    pub const fn in_requests_only(self) -> Self {
        let Opt { declared: Declared { name, summary, kind, inherited, of_rounds, .. }, value } = self;
        Opt { declared: Declared { name, summary, kind, inherited, on_surfaces: false, of_rounds }, value }
    }

    /// The same, as a number of rounds.
    #[must_use]
    pub const fn of_rounds(self) -> Self {
        let Opt { declared: Declared { name, summary, kind, inherited, on_surfaces, .. }, value } = self;
        Opt { declared: Declared { name, summary, kind, inherited, on_surfaces, of_rounds: true }, value }
    }

    /// The name in requests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.declared.name
    }
}

impl<T: 'static> Declares for Opt<T> {
    fn declared(&self) -> &Declared {
        &self.declared
    }
}

impl Opt<bool> {
    /// Yes or no.
    #[must_use]
    pub const fn flag(name: &'static str, summary: &'static str, default: bool) -> Self {
        Opt::new(name, summary, Kind::Flag { default })
    }
}

impl Opt<u32> {
    /// A whole number within these bounds.
    #[must_use]
    pub const fn whole(
        name: &'static str,
        summary: &'static str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Self {
        Opt::new(name, summary, Kind::Whole { range, default: Some(default) })
    }
}

impl Opt<Option<u32>> {
    /// A whole number within these bounds, or none.
    #[must_use]
    pub const fn whole_or_none(
        name: &'static str,
        summary: &'static str,
        range: RangeInclusive<u64>,
    ) -> Self {
        Opt::new(name, summary, Kind::Whole { range, default: None })
    }
}

impl Opt<f64> {
    /// A number within these bounds.
    #[must_use]
    pub const fn number(
        name: &'static str,
        summary: &'static str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> Self {
        Opt::new(name, summary, Kind::Number { range, default: Some(default) })
    }
}

impl Opt<Option<String>> {
    /// A text of at most this many characters.
    #[must_use]
    pub const fn text(name: &'static str, summary: &'static str, longest: usize, hint: &'static str) -> Self {
        Opt::new(name, summary, Kind::Text { longest, hint })
    }

    /// A participant's name.
    #[must_use]
    pub const fn seat(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Seat { role: None })
    }

    /// A participant's name, who thereby gets this role.
    #[must_use]
    pub const fn seat_in_role(name: &'static str, summary: &'static str, role: &'static str) -> Self {
        Opt::new(name, summary, Kind::Seat { role: Some(role) })
    }

    /// An embedding model.
    #[must_use]
    pub const fn embedder(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Embedder)
    }
}

impl Opt<Vec<String>> {
    /// Any of the detectors that are registered.
    #[must_use]
    pub const fn detectors(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Detectors)
    }
}

impl<T: Named> Opt<Picked<T>> {
    /// One of the names of this type, the first of them where nothing is given.
    #[must_use]
    pub const fn choice(name: &'static str, summary: &'static str) -> Self {
        let default = Some(T::CHOICES[0].name);
        Opt::new(name, summary, Kind::Choice { of: T::CHOICES, default })
    }
}

impl<T: Named> Opt<Option<Picked<T>>> {
    /// One of the names of this type, or none.
    #[must_use]
    pub const fn choice_or_none(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Choice { of: T::CHOICES, default: None })
    }
}

impl<T> Opt<Rows<T>> {
    /// Rows with these cells.
    #[must_use]
    pub const fn rows(
        name: &'static str,
        summary: &'static str,
        cells: &'static [RowCell],
        most: usize,
    ) -> Self {
        Opt::new(name, summary, Kind::Rows { cells, most })
    }
}

impl Opt<std::collections::BTreeMap<String, Vec<String>>> {
    /// A list of texts for each of some participants.
    #[must_use]
    pub const fn texts_by_seat(
        name: &'static str,
        summary: &'static str,
        most: usize,
        longest: usize,
    ) -> Self {
        Opt::new(name, summary, Kind::TextsBySeat { most, longest })
    }
}

/// A choice as the type it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picked<T>(pub T);

/// Rows as the type they stand for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows<T>(pub Vec<T>);

impl<T: OptionValue + 'static> Opt<T> {
    /// The value that holds under these settings.
    #[must_use]
    pub fn of(&self, settings: &Settings) -> T {
        let given = settings.get(self.declared.name).and_then(T::read);
        given.unwrap_or_else(|| T::unset(&self.declared.kind))
    }
}

impl Choice {
    /// A name with what it stands for.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Choice { name, summary }
    }
}

impl Declared {
    /// The flag without its dashes: `round-limit`.
    #[must_use]
    pub fn flag(&self) -> String {
        let mut flag = String::new();
        for letter in self.name.chars() {
            if letter.is_ascii_uppercase() {
                flag.push('-');
            }
            flag.push(letter.to_ascii_lowercase());
        }
        flag
    }
}

#[cfg(test)]
mod tests;
