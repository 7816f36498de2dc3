//! Live events: each event of a discussion is serialized once, for any number of subscribers.
//!
//! A [`channel::Channel`] holds the event log of one discussion so far; a [`watcher::Watcher`] is a
//! cursor into it. Facts are never missed, because the log is complete; text deltas may be, and
//! then the whole text so far is sent again. A [`listener::Listener`] is the same for readers
//! inside the process.

pub(crate) mod channel;
pub(crate) mod frame;
pub(crate) mod hub;
pub(crate) mod listener;
pub(crate) mod watcher;
