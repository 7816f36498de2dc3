//! How much a request may hold. The parsers, the JSON schema, the checks and the help go by these
//! numbers; what patterns, methods and strategies declare of their own is in their declarations.

use std::ops::RangeInclusive;

use quorum_core::registry::Registry;

pub use quorum_core::{engine::MOST_SAID, model::participant::LONGEST_NAME};

/// The longest topic of a request, in characters (B05).
pub const LONGEST_TOPIC: usize = 5_000;

/// The longest prompt of a workflow's step (B03), and of a single participant.
pub const LONGEST_PROMPT: usize = 10_000;

/// The longest context, files included, in characters.
pub const LONGEST_CONTEXT: usize = 10_000;

/// The longest thing that can be voted for, in characters.
pub const LONGEST_OPTION: usize = 500;

/// How many things can be voted for.
pub const OPTIONS: RangeInclusive<usize> = 2..=10;

/// The longest search, in characters.
pub const LONGEST_SEARCH: usize = 500;

/// The longest name of a session, in characters.
pub const LONGEST_SESSION: usize = 200;

/// How many things that are wrong are told at once.
pub const MOST_COMPLAINTS: usize = 20;

/// Rounds of a discussion.
pub const ROUNDS: RangeInclusive<u32> = 1..=10;

/// How freely models speak.
pub const TEMPERATURE: RangeInclusive<f64> = 0.0..=2.0;

/// Tokens of one answer.
pub const TOKENS_PER_TURN: RangeInclusive<u32> = 16..=200_000;

/// How long one answer may take, in milliseconds.
pub const PROVIDER_TIMEOUT: RangeInclusive<u64> = 5_000..=300_000;

/// How long everything may take, in milliseconds: a second to a day.
pub const BUDGET_MS: RangeInclusive<u64> = 1_000..=86_400_000;

/// How deep sub-discussions may go.
pub const DEPTH: RangeInclusive<u32> = 0..=4;

/// A share of a whole.
pub const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// How long a simulated reply may take, in milliseconds.
pub const LATENCY_MS: RangeInclusive<u64> = 0..=300_000;

/// Dollars that a discussion may be allowed to cost.
pub const COST: RangeInclusive<f64> = 1e-9..=1e9;

/// The most participants that any pattern of this registry takes.
#[must_use]
pub fn most_seats(registry: &Registry) -> usize {
    registry.patterns().iter().map(|it| it.usual.seats.1).max().unwrap_or_default()
}

/// The fewest.
#[must_use]
pub fn least_seats(registry: &Registry) -> usize {
    registry.patterns().iter().map(|it| it.usual.seats.0).min().unwrap_or_default()
}
