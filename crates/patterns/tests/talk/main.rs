//! Tests of every pattern and method from outside, in virtual time.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod casting;
mod concessions;
mod consensus;
mod detectors;
mod dialogue;
mod efforts;
mod embeddings;
mod first_answers;
mod flips;
mod forging;
mod formats;
mod golden;
mod judged;
mod kills;
mod labels;
mod lenient;
mod live_text;
mod marks;
mod one_voice;
mod open_votes;
mod panel_of_judges;
mod patterns;
mod people;
mod prompts;
mod prose;
mod refined;
mod reported;
mod results;
mod ruled;
mod scenarios;
mod settling;
mod sides;
mod small_models;
mod small_windows;
mod sources;
mod standing;
mod stopped;
mod tokens;
mod unread;
mod values;
mod votes;
mod workflow_tools;
mod workflows;

use std::sync::Arc;

use quorum_core::memory::MemoryStore;
use quorum_patterns::registry;
use quorum_testkit::{panel::Panel, table::Table};

/// A table with a new store.
pub(crate) fn table(panel: &Panel) -> Table {
    Table::over(Arc::new(MemoryStore::new()), panel, registry())
}
