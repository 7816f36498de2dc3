//! The nouns of a discussion: what was asked for, what happened, and what can be read from it.
//!
//! Reading order: [`spec`] what was asked for, [`event`] what happened, [`state`] what that amounts to,
//! [`outcome`] what the user gets.

pub mod command;
pub mod error;
pub mod event;
pub mod excerpt;
pub mod flips;
pub mod id;
pub mod lifecycle;
pub mod likeness;
pub mod mask;
pub mod money;
pub mod outcome;
pub mod participant;
pub mod phase;
pub mod reading;
pub mod ruling;
pub mod settings;
pub mod spec;
pub mod state;
pub mod time;
pub mod transcript;

/// Whether a count need not be written, because nothing was counted.
pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
