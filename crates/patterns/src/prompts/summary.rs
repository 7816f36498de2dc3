//! The prompt for minutes of a part of the talk, which replace it in windows that are full.

use quorum_core::model::spec::Spec;

use super::{fill, length::Length, mentions, plain};

/// The system text of the participant that keeps the minutes.
pub(crate) const SYSTEM: &str = include_str!("summary_system.md");

/// The task, with the most words that fit.
pub(crate) fn task(spec: &Spec, words: u32) -> String {
    let names = mentions(&spec.speakers());
    let task = fill(include_str!("summary.md"), &[("topic", &plain(&spec.topic)), ("names", &names)]);
    format!("{}\n{}", task.trim_end(), Length::at_most(words).told(&spec.topic))
}
