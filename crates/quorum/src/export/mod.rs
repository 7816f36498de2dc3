//! A discussion as a document to keep or to pass on. A format is one file and one line in [`FORMATS`].
//!
//! What models and people wrote is data in every format: it brings no markup of its own into a page, looks nothing up
//! elsewhere, and moves no cursor.

pub mod document;
mod html;
mod json;
pub mod jsonl;
mod markdown;
pub mod transcript;
mod words;

use quorum_core::{model::event::Fact, registry::Snapshot};

/// A way to write a discussion down.
pub struct Format {
    /// What it is called.
    pub name: &'static str,
    /// What it is good for.
    pub summary: &'static str,
    /// How names of files in it end.
    pub ending: &'static str,
    /// Writes the discussion with this state, made of these facts. The commands are what its reader can
    /// type to see it again; without any, a document has no such part.
    pub write: fn(&Snapshot, &[Fact], &[String]) -> String,
}

/// The formats there are, the usual one first.
pub const FORMATS: &[Format] = &[markdown::FORMAT, html::FORMAT, json::FORMAT, jsonl::FORMAT];

/// The format of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that files with this ending are in.
#[must_use]
pub fn ending(ending: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.ending.eq_ignore_ascii_case(ending))
}
