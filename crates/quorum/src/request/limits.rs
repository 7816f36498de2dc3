//! Size limits of a request. The parsers, the JSON schema, the checks and the help use these
//! numbers; the limits of options are in the declarations of patterns, methods and strategies.

use std::ops::RangeInclusive;

use quorum_core::registry::Registry;

pub use quorum_core::{engine::MOST_SAID, model::participant::LONGEST_NAME};

/// The longest topic of a request, in characters (B05).
pub const LONGEST_TOPIC: usize = 5_000;

/// The longest prompt of a workflow's step (B03), and of a single participant.
pub const LONGEST_PROMPT: usize = 10_000;

/// The longest context, files included, in characters.
pub const LONGEST_CONTEXT: usize = 10_000;

/// The most characters that a client which uses the panel as one model may send: its messages
/// together.
pub const LONGEST_CONVERSATION: usize = 400_000;

/// The longest option of a vote, in characters.
pub const LONGEST_OPTION: usize = 500;

/// The number of options of a vote.
pub const OPTIONS: RangeInclusive<usize> = 2..=10;

/// The longest search query, in characters.
pub const LONGEST_SEARCH: usize = 500;

/// The longest name of a session, in characters.
pub const LONGEST_SESSION: usize = 200;

/// How many problems are reported at once.
pub const MOST_COMPLAINTS: usize = 20;

/// The number of rounds.
pub const ROUNDS: RangeInclusive<u32> = 1..=10;

/// The sampling temperature.
pub const TEMPERATURE: RangeInclusive<f64> = 0.0..=2.0;

pub use crate::agents::WEIGHT as AGENT_WEIGHT;

/// The length of one answer, in tokens.
pub const TOKENS_PER_TURN: RangeInclusive<u32> = 16..=200_000;

/// The time limit for one answer, in milliseconds.
pub const PROVIDER_TIMEOUT: RangeInclusive<u64> = 5_000..=300_000;

/// The total time budget, in milliseconds: a second to a day.
pub const BUDGET_MS: RangeInclusive<u64> = 1_000..=86_400_000;

/// The part of the time that is kept for the synthesis, in milliseconds.
pub const SYNTHESIS_MS: RangeInclusive<u64> = 0..=600_000;

/// The maximum depth of sub-discussions.
pub const DEPTH: RangeInclusive<u32> = 0..=4;

/// A fraction of a whole.
pub const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// The latency of a simulated reply, in milliseconds.
pub const LATENCY_MS: RangeInclusive<u64> = 0..=300_000;

/// The cost limit of a discussion, in USD.
pub const COST: RangeInclusive<f64> = 1e-9..=1e9;

/// How many past discussions may be recalled.
pub const RECALLED: RangeInclusive<u64> = 1..=10;

/// How many are recalled if no number is given.
pub const USUALLY_RECALLED: u64 = 3;

/// The longest id of a discussion, in characters.
pub const LONGEST_ID: usize = 36;

/// The most participants that any pattern of this registry takes.
#[must_use]
pub fn most_seats(registry: &Registry) -> usize {
    registry.patterns().iter().map(|it| it.defaults.seats.1).max().unwrap_or_default()
}

/// The fewest participants that any pattern of this registry takes.
#[must_use]
pub fn least_seats(registry: &Registry) -> usize {
    registry.patterns().iter().map(|it| it.defaults.seats.0).min().unwrap_or_default()
}
