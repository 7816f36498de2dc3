//! Who answers.
//!
//! # Layout
//!
//! - [`affinity`]: which provider an agent speaks through.
//! - [`catalog`]: what is known of each provider; a row is a provider.
//! - [`clean`]: text without terminal escape sequences.
//! - [`command`]: programs on this machine that answer, such as coding CLIs.
//! - `fenced.rs`: how a model without tools asks for a sub-discussion.
//! - `http/`, `health.rs`, [`guard`]: how a wire's requests travel, and where they may not.
//! - [`setup`]: what the user has set up, and which providers can be asked with it.
//! - [`keys`], [`prices`]: the files those come from.
//! - [`source`]: a provider, ready to be asked.
//! - [`wire`]: how the vendors speak; pure translations.
//! - `voices.rs`: which voice answers for which seat.
//!
//! # Programs that embed this crate
//!
//! A program that lets local CLIs answer should call [`command::supervisor::serve`] first thing in its `main` and give
//! [`command::supervisor::Supervisor::this_program`] to [`setup::Setup::supervised_by`]. Without that, a `kill -9` of the program
//! leaves its local CLIs running and their folders behind, until this crate starts the next one.

pub mod affinity;
pub mod catalog;
pub mod clean;
pub mod command;
mod fenced;
mod files;
pub mod guard;
mod health;
mod http;
pub mod keys;
pub mod prices;
pub mod setup;
pub mod source;
mod voices;
pub mod wire;

pub use voices::RealVoices;
