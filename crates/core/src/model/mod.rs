//! The data types of a discussion: the request, the facts, the state folded from them, the result.
//!
//! Reading order: [`spec`] (what was asked for), [`event`] (what happened), [`state`] (the facts
//! folded so far), [`outcome`] (what the user gets).

pub mod account;
pub mod agent;
pub mod client;
pub mod command;
pub mod digest;
pub mod effort;
pub mod error;
pub mod event;
pub mod excerpt;
pub mod flips;
pub mod id;
pub mod known_voices;
pub mod labels;
pub mod language;
pub mod lifecycle;
pub mod likeness;
pub mod list_status;
pub mod mask;
pub mod mention;
pub mod money;
pub mod outcome;
pub mod participant;
pub mod phase;
pub mod piece;
pub mod reading;
pub mod recall;
pub mod relevance;
pub mod retry_policy;
pub mod ruling;
pub mod seed_rows;
pub mod settings;
pub mod spec;
pub mod state;
pub mod time;
pub mod traceparent;
pub mod transcript;
pub mod window;

/// Whether a count is zero and can be left out of the JSON.
pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
