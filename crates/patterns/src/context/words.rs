//! The prompt for a summary, the same for every strategy.

use quorum_core::{floor::ask::Ask, model::spec::Spec};

use crate::prompts::summary;

/// Lower than for a speech (D09).
const TEMPERATURE: f64 = 0.3;

/// Asks for a summary of at most this many tokens.
pub(super) fn sum_up(spec: &Spec, most: u32) -> Ask {
    // About three quarters of a word per token, minus some room to finish the last sentence.
    let words = (most * 3 / 5).max(20);
    Ask::new(summary::SYSTEM.trim_end(), summary::task(spec, words)).temperature(TEMPERATURE)
}
