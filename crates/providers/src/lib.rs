//! Providers: the real models that answer, over HTTP or through a local program.
//!
//! # Layout
//!
//! - [`affinity`]: chooses the provider for an agent.
//! - [`catalog`]: the catalogue of providers; one row each.
//! - [`clean`]: text without terminal escape sequences.
//! - [`command`]: local programs that answer, such as coding CLIs.
//! - `fenced.rs`: sub-discussion requests by models without tools.
//! - `http/`, `health.rs`, [`guard`]: sending requests, availability checks, and forbidden
//!   addresses.
//! - [`setup`]: the user's configuration, and the providers that are available with it.
//! - `model_size.rs`: the size of a model by its name.
//! - [`keys`], [`prices`]: the files of stored keys and imported prices.
//! - [`source`]: a provider that is ready for calls.
//! - [`wire`]: the vendors' wire formats; pure translations.
//! - `voices.rs`: the voice for each seat.
//!
//! # Programs that embed this crate
//!
//! A program that lets local CLIs answer should call [`command::supervisor::serve`] first thing in
//! its `main` and pass [`command::supervisor::Supervisor::this_program`] to
//! [`setup::Setup::supervised_by`]. Otherwise a `kill -9` of the program leaves its local CLIs
//! running and their folders behind, until this crate starts the next one.

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
mod model_size;
pub mod prices;
pub mod setup;
pub mod source;
mod voices;
pub mod wire;

pub use voices::RealVoices;
