//! Ways to hold a discussion and ways to decide. Each is one file and one line in a list below.
//!
//! Everything here is deterministic: the same record gives the same talk. Patterns ask through the floor, readers
//! understand structured replies, prompts hold the words.

mod accord;
mod assessment;
mod ballot;
mod casting;
mod confidence;
mod consensus;
mod context;
pub mod detect;
mod formats;
mod json;
mod judge;
mod markers;
mod marks;
mod own;
mod pattern;
mod phrases;
mod prompts;
mod strength;
mod synopsis;
mod verdict;

use quorum_core::craft::{Consensus, ContextStrategy, Pattern};

use detect::Detector;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_every_pattern_is_registered_and_synthesis_is_the_default() {
        let names: Vec<&str> = PATTERNS.iter().map(|it| it.name).collect();
        assert_eq!(
            names,
            ["synthesis", "round-robin", "debate", "critique", "voting", "dialogue", "roundtable"]
        );
    }

    #[test]
    fn b02_every_method_is_registered_and_synthesis_is_the_default() {
        let names: Vec<&str> = CONSENSUS.iter().map(|it| it.name).collect();
        assert_eq!(names, ["synthesis", "voting", "moderator", "unanimous", "majority"]);
    }
}
