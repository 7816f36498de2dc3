//! Tests of what the floor and the engine guarantee, in virtual time.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod budgets;
mod caps;
mod commands;
mod failures;
mod floods;
mod forks;
mod kills;
mod leaving;
mod notes;
mod people;
mod problems;
mod properties;
mod recovery;
mod registry;
mod small_windows;
mod subs;
mod thinking;
mod traces;
mod windows;
mod writes;

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{participant::Participant, spec::Spec},
};
use quorum_testkit::{panel::Panel, spec::spec, table::Table};

use crate::registry::registry;

/// A table with a new store.
pub(crate) fn table(panel: &Panel) -> Table {
    Table::over(Arc::new(MemoryStore::new()), panel, registry())
}

/// A spec with one of the tiny patterns, for ann, bob and cyd.
pub(crate) fn order(pattern: &str) -> Spec {
    spec(pattern)
}

/// The same spec without cyd.
pub(crate) fn for_two(spec: Spec) -> Spec {
    let participants: Vec<Participant> = spec.participants.into_iter().take(2).collect();
    Spec { participants, ..spec }
}
