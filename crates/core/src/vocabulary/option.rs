//! Options: the settings of a pattern, a method, a strategy or a detector.
//!
//! An option is declared once, as a constant beside the code that reads it. The flag, the help, the
//! configuration key, the request field, the schemas and the page's form field are derived from it.

use std::{marker::PhantomData, ops::RangeInclusive};

use serde_json::Value;

use crate::model::settings::Settings;

/// An option with the type of its value.
pub struct Opt<T: 'static> {
    declared: Declared,
    value: PhantomData<fn() -> T>,
}

/// The declaration of an option, independent of its value's type.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The name in requests: `roundLimit`. The flag is the same with hyphens: `--round-limit`.
    pub name: &'static str,
    /// One sentence for help, schemas and the page, without a full stop.
    pub summary: &'static str,
    /// The values it accepts.
    pub kind: Kind,
    /// Whether sub-discussions inherit it.
    pub inherited: bool,
    /// Whether it is offered everywhere or only in requests and workflows.
    pub on_surfaces: bool,
    /// Whether it is a number of rounds, which a dry run may reduce.
    pub of_rounds: bool,
}

/// The values an option accepts.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A boolean.
    Flag {
        /// The default.
        default: bool,
    },
    /// A whole number.
    Whole {
        /// The allowed range.
        range: RangeInclusive<u64>,
        /// The default.
        default: Option<u64>,
    },
    /// A number.
    Number {
        /// The allowed range.
        range: RangeInclusive<f64>,
        /// The default.
        default: Option<f64>,
    },
    /// A string.
    Text {
        /// The maximum length in characters.
        longest: usize,
        /// The placeholder in help: `PROVIDER/MODEL`.
        hint: &'static str,
    },
    /// One of several names.
    Choice {
        /// The names.
        of: &'static [Choice],
        /// The default.
        default: Option<&'static str>,
    },
    /// Names of registered detectors.
    Detectors,
    /// A participant's name.
    Seat {
        /// The role that the named participant gets.
        role: Option<&'static str>,
    },
    /// Several participants' names.
    Seats {
        /// The role that the named participants get.
        role: Option<&'static str>,
    },
    /// A list of strings.
    Texts {
        /// The maximum number of strings.
        most: usize,
        /// The maximum length of each in characters.
        longest: usize,
    },
    /// An embedding model, as `provider/model`.
    Embedder,
    /// A list of rows with named cells; a JSON file on the command line.
    Rows {
        /// The cells of a row.
        cells: &'static [RowCell],
        /// The maximum number of rows.
        most: usize,
    },
    /// A list of strings for each of some participants.
    TextsBySeat {
        /// The maximum number of strings for each.
        most: usize,
        /// The maximum length of each in characters.
        longest: usize,
    },
}

/// One of several names, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// One line for help; empty if the name needs no explanation.
    pub summary: &'static str,
}

/// A named cell of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCell {
    /// The cell's key in the JSON.
    pub name: &'static str,
    /// The type of its value.
    pub kind: RowCellKind,
    /// Whether every row must have it.
    pub required: bool,
}

/// The longest text of a row, in characters.
pub const LONGEST_CELL: usize = 1_000;

/// How many texts one cell of a row may hold.
pub const MOST_CELL_TEXTS: usize = 10;

/// The most participants that a value may name. No panel is larger.
pub const MOST_SEATS: usize = 100;

/// The type of a cell's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCellKind {
    /// A participant's name.
    Seat,
    /// A string.
    Text,
    /// A list of strings.
    Texts,
}

/// Defines an enum whose variants have names and summaries, the default first. A variant's summary
/// is its documentation too.
///
/// ```
/// use quorum_core::{choices, vocabulary::option::Named};
///
/// choices! {
///     /// How participants are asked.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     enum Mode {
///         InTurn = "in-turn": "each after the other",
///         AtOnce = "at-once": "all together",
///     }
/// }
///
/// assert_eq!(Mode::AtOnce.name(), "at-once");
/// assert_eq!(Mode::named("in-turn"), Some(Mode::InTurn));
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $kind:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $name:literal: $summary:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility enum $kind {
            $(#[doc = $summary] $(#[$variant_meta])* $variant),+
        }

        impl $crate::vocabulary::option::Named for $kind {
            const ALL: &'static [(Self, $crate::vocabulary::option::Choice)] =
                &[$(($kind::$variant, $crate::vocabulary::option::Choice::new($name, $summary))),+];
            const CHOICES: &'static [$crate::vocabulary::option::Choice] =
                &[$($crate::vocabulary::option::Choice::new($name, $summary)),+];
        }
    };
}

/// An enum whose variants are the choices of an option. Implemented by
/// [`choices!`](crate::choices).
pub trait Named: Copy + PartialEq + 'static {
    /// All variants with their names and summaries, the default first.
    const ALL: &'static [(Self, Choice)];

    /// The names and summaries, for a declaration.
    const CHOICES: &'static [Choice];

    /// The variant's name.
    #[must_use]
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("", |(_, choice)| choice.name)
    }

    /// The variant with this name.
    #[must_use]
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, choice)| choice.name == name).map(|(it, _)| *it)
    }
}

/// Something with an option's declaration.
pub trait Declares: Send + Sync {
    /// The declaration.
    fn declared(&self) -> &Declared;
}

/// A type that an option's value can be read as.
pub trait OptionValue: Sized {
    /// The value, if it has this type.
    fn read(written: &Value) -> Option<Self>;

    /// The value if none is given.
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

    /// The same, only for requests: no flag, no form field.
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
    /// A boolean.
    #[must_use]
    pub const fn flag(name: &'static str, summary: &'static str, default: bool) -> Self {
        Opt::new(name, summary, Kind::Flag { default })
    }
}

impl Opt<u32> {
    /// A whole number in this range.
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
    /// A whole number in this range, or none.
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
    /// A number in this range.
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
    /// A string of at most this many characters.
    #[must_use]
    pub const fn text(name: &'static str, summary: &'static str, longest: usize, hint: &'static str) -> Self {
        Opt::new(name, summary, Kind::Text { longest, hint })
    }

    /// A participant's name.
    #[must_use]
    pub const fn seat(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Seat { role: None })
    }

    /// A participant's name; the participant gets this role.
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
    /// Names of registered detectors.
    #[must_use]
    pub const fn detectors(name: &'static str, summary: &'static str) -> Self {
        Opt::new(name, summary, Kind::Detectors)
    }

    /// Several participants' names; the participants get this role.
    #[must_use]
    pub const fn seats_in_role(name: &'static str, summary: &'static str, role: &'static str) -> Self {
        Opt::new(name, summary, Kind::Seats { role: Some(role) })
    }

    /// At most this many strings of at most this many characters.
    #[must_use]
    pub const fn texts(name: &'static str, summary: &'static str, most: usize, longest: usize) -> Self {
        Opt::new(name, summary, Kind::Texts { most, longest })
    }
}

impl<T: Named> Opt<Picked<T>> {
    /// One of this type's names; by default the first.
    #[must_use]
    pub const fn choice(name: &'static str, summary: &'static str) -> Self {
        let default = Some(T::CHOICES[0].name);
        Opt::new(name, summary, Kind::Choice { of: T::CHOICES, default })
    }
}

impl<T: Named> Opt<Option<Picked<T>>> {
    /// One of this type's names, or none.
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
    /// A list of strings for each of some participants.
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

/// A choice, as a variant of its enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picked<T>(pub T);

/// Rows, as values of this type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows<T>(pub Vec<T>);

impl<T: OptionValue + 'static> Opt<T> {
    /// The option's value under these settings.
    #[must_use]
    pub fn of(&self, settings: &Settings) -> T {
        let given = settings.get(self.declared.name).and_then(T::read);
        given.unwrap_or_else(|| T::unset(&self.declared.kind))
    }
}

impl Choice {
    /// A name with its meaning.
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
