//! Live events: what one discussion's feed says is put into words once, for however many watch.
//!
//! A [`channel::Channel`] holds all that was told of one discussion so far; a [`watcher::Watcher`] is a place in it. Facts are
//! never missed, because the place is in a list that is complete; text may be, and then what there is of it is told anew.

pub(crate) mod channel;
pub(crate) mod frame;
pub(crate) mod hub;
pub(crate) mod watcher;
