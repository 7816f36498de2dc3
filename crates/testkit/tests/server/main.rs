//! The servers speak as the vendors do, fail as they are told, and leave nothing behind.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should say so and stop")]

mod checks;
mod client;
mod faults;
mod life;
mod speech;
