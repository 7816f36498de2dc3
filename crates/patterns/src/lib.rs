//! Ways to hold a discussion and ways to decide. Each is one file or folder and one line in a list
//! below.
//!
//! Everything here is deterministic: the same record gives the same talk. Patterns ask through the
//! floor, readers understand structured replies, prompts hold the words.

mod consensus;
mod context;
pub mod debate;
mod detect;
mod pattern;
mod prompts;
mod ranking;
pub mod readers;
pub mod roles;
mod samples;

use quorum_core::registry::{Consensus, ContextStrategy, Detector, Pattern, Registry};

/// Every pattern, the default first.
pub static PATTERNS: &[Pattern] = &[
    pattern::synthesis::PATTERN,
    pattern::round_robin::PATTERN,
    pattern::debate::PATTERN,
    pattern::critique::PATTERN,
    pattern::voting::PATTERN,
    pattern::dialogue::PATTERN,
    pattern::roundtable::PATTERN,
];

/// Every consensus method, the default first.
pub static CONSENSUS: &[Consensus] = &[
    consensus::synthesis::METHOD,
    consensus::voting::METHOD,
    consensus::moderator::METHOD,
    consensus::unanimous::METHOD,
    consensus::majority::METHOD,
];

/// Every context strategy, the default first.
pub static CONTEXTS: &[ContextStrategy] = &[
    context::slide::STRATEGY,
    context::truncate::STRATEGY,
    context::summarise::STRATEGY,
    context::hybrid::STRATEGY,
];

/// Every detector.
pub static DETECTORS: &[Detector] =
    &[detect::repetition::DETECTOR, detect::diminishing_returns::DETECTOR, detect::drift::DETECTOR];

/// Everything in the lists above.
#[must_use]
pub fn registry() -> Registry {
    Registry::default()
        .with_patterns(PATTERNS)
        .with_methods(CONSENSUS)
        .with_strategies(CONTEXTS)
        .with_detectors(DETECTORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_the_default_pattern_comes_first() {
        assert_eq!(PATTERNS.first().map(|it| it.name), Some("synthesis"));
    }

    #[test]
    fn b02_the_default_method_comes_first() {
        assert_eq!(CONSENSUS.first().map(|it| it.name), Some("synthesis"));
    }

    #[test]
    fn everything_fits_together() {
        assert_eq!(registry().validate(&["topic", "pattern", "rounds"]), Ok(()));
    }

    #[test]
    fn every_option_has_one_sentence_without_a_full_stop() {
        for option in registry().options() {
            let summary = option.summary;
            assert!(!summary.is_empty() && !summary.ends_with('.'), "{}: {summary}", option.name);
        }
    }
}
