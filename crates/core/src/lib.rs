//! The core of Quorum: the model of a discussion, and the engine that runs it.
//!
//! A discussion is a list of facts ([`model::event`]). A pattern ([`registry::Pattern`]) is a
//! deterministic async function over a [`floor::Floor`]; everything other than the flow of the talk
//! is implemented once, beneath the floor. The [`engine`] runs discussions; [`seams`] has the
//! traits that other crates implement for it.

pub mod call;
pub mod engine;
pub mod floor;
pub mod memory;
pub mod model;
mod record;
pub mod registry;
pub mod seams;
pub mod vocabulary;
