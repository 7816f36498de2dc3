//! Who answers.
//!
//! # Layout
//!
//! - [`catalog`]: what is known of each provider; a row is a provider.
//! - `simulated/`: a provider without a model, the same every time.
//! - `voices.rs`: which voice answers for which seat.

pub mod catalog;
mod simulated;
mod voices;

pub use simulated::Simulated;
pub use voices::SimulatedVoices;
