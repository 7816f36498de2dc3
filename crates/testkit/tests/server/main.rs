//! Tests that the servers answer as the vendors do, fail as scripted, and clean up after
//! themselves.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should say so and stop")]

mod checks;
mod client;
mod faults;
mod life;
mod speech;
