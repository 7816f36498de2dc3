//! Exports a discussion as a document. A format is one file and one line in [`FORMATS`].
//!
//! Text of models and people is data in every format: it adds no markup of its own to a page, loads
//! no external resources, and contains no terminal control sequences.

pub mod document;
mod escape;
mod html;
mod json;
pub mod jsonl;
mod markdown;
mod picture;
pub mod sources;
pub mod transcript;

pub(crate) use self::escape::escape;

use quorum_core::{model::event::Fact, registry::Snapshot};

/// An export format.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// One line about its use.
    pub summary: &'static str,
    /// The file name extension.
    pub ending: &'static str,
    /// Writes the discussion with this state and these facts.
    pub write: fn(&Snapshot, &[Fact], &Extras) -> String,
}

/// The parts of a document beside the discussion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// The commands that its reader can type to see it again; without any, it has no such section.
    pub commands: Vec<String>,
    /// Whether each sentence of the answer is followed by who said what it rests on, in formats
    /// that are read as they are. A page always has numbers that lead there.
    pub sources: bool,
    /// The name that a person gave it, which is its heading then, with the question beneath.
    pub title: Option<String>,
}

impl Extras {
    /// These commands, and no sources.
    #[must_use]
    pub fn commands(commands: &[String]) -> Extras {
        Extras { commands: commands.to_vec(), ..Extras::default() }
    }
}

/// The available formats, the default first.
pub const FORMATS: &[Format] = &[markdown::FORMAT, html::FORMAT, json::FORMAT, jsonl::FORMAT];

/// The format of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format for files with this extension.
#[must_use]
pub fn ending(ending: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.ending.eq_ignore_ascii_case(ending))
}
