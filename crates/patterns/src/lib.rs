//! Patterns and consensus methods. Each is one file or folder and one line in a list below.
//!
//! Everything here is deterministic: the same record gives the same talk. Patterns ask participants
//! through the floor, readers parse structured replies, and prompts contain the text sent to
//! participants.

mod consensus;
mod context;
pub mod debate;
mod detect;
pub mod evidence;
pub mod first;
pub mod pattern;
mod prompts;
pub mod protocols;
pub mod provenance;
mod ranking;
pub mod readers;
pub mod roles;
mod samples;
mod starters;
mod weighing;
pub mod workflow;

pub use prompts::agent as agent_text;

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
    pattern::settle::PATTERN,
];

/// The patterns that programs hold, and that no list shows.
pub static HIDDEN: &[Pattern] = &[pattern::prompt::PATTERN, workflow::PATTERN];

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

/// The registry of everything in the lists above.
#[must_use]
pub fn registry() -> Registry {
    Registry::default()
        .with_patterns(PATTERNS)
        .with_patterns(HIDDEN)
        .with_methods(CONSENSUS)
        .with_strategies(CONTEXTS)
        .with_detectors(DETECTORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_the_required_patterns_are_registered_and_synthesis_is_the_default() {
        let registry = registry();
        assert_eq!(registry.patterns()[0].name, "synthesis");
        for name in ["round-robin", "debate", "critique", "voting", "dialogue", "roundtable", "settle"] {
            assert!(registry.patterns().iter().any(|it| it.name == name), "{name}");
        }
    }

    #[test]
    fn b11_hidden_patterns_are_found_by_name_and_listed_nowhere() {
        let registry = registry();
        for pattern in HIDDEN {
            assert!(pattern.hidden && registry.pattern(pattern.name).is_some(), "{}", pattern.name);
            assert!(!registry.patterns().iter().any(|it| it.name == pattern.name), "{}", pattern.name);
            for option in pattern.options.iter().map(|it| it.declared()) {
                assert_eq!(registry.option(option.name), None, "{}: {}", pattern.name, option.name);
            }
        }
        assert!(PATTERNS.iter().all(|it| !it.hidden));
    }

    #[test]
    fn b02_the_required_methods_are_registered_and_synthesis_is_the_default() {
        let registry = registry();
        assert_eq!(registry.methods()[0].name, "synthesis");
        for name in ["voting", "moderator", "unanimous", "majority"] {
            assert!(registry.method(name).is_some(), "{name}");
        }
    }

    #[test]
    fn d08_the_required_detectors_are_registered() {
        for name in ["repetition", "diminishing-returns", "drift"] {
            assert!(registry().detectors().iter().any(|it| it.name == name), "{name}");
        }
    }

    #[test]
    fn d09_the_required_strategies_are_registered_and_slide_is_the_default() {
        let registry = registry();
        assert_eq!(registry.strategies()[0].name, "slide");
        for name in ["truncate", "summarise", "hybrid"] {
            assert!(registry.strategies().iter().any(|it| it.name == name), "{name}");
        }
    }

    #[test]
    fn the_registry_is_valid() {
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
