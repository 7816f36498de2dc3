//! What a discussion is and how it is run.
//!
//! A discussion is a list of facts ([`model::event`]). A pattern ([`registry::Pattern`]) is a
//! deterministic async function over a [`floor::Floor`]; everything that is not the flow of talk
//! lives once, beneath the floor. The [`engine`] runs it all, and what it needs from outside are
//! the [`seams`].

pub mod call;
pub mod engine;
pub mod floor;
pub mod memory;
pub mod model;
mod record;
pub mod registry;
pub mod seams;
pub mod vocabulary;
