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
pub mod transcript;

use quorum_core::{model::event::Fact, registry::Snapshot};

/// An export format.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// One line about its use.
    pub summary: &'static str,
    /// The file name extension.
    pub ending: &'static str,
    /// Writes the discussion with this state and these facts. The commands are those the reader can
    /// type to see it again; without any, the document has no such section.
    pub write: fn(&Snapshot, &[Fact], &[String]) -> String,
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
