//! Who answers.
//!
//! # Layout
//!
//! - [`catalog`]: what is known of each provider; a row is a provider.
//! - [`setup`]: what the user has set up, and which providers can be asked with it.
//! - [`keys`], [`prices`]: the files those come from.
//! - [`source`]: a provider, ready to be asked.
//! - `simulated/`: a provider without a model, the same every time.
//! - [`wire`]: how the vendors speak; pure translations.
//! - `voices.rs`: which voice answers for which seat.

pub mod catalog;
mod files;
pub mod keys;
pub mod prices;
pub mod setup;
mod simulated;
pub mod source;
mod voices;
pub mod wire;

pub use simulated::Simulated;
pub use voices::SimulatedVoices;
