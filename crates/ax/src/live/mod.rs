//! A running discussion at this terminal: the session that follows it to its end, its events and
//! keys, a person's turn, and the live view.
//!
//! The live view is a pure screen folded from signals and time, a painter that redraws what
//! changed, and the scrollback above it.

mod columns;
pub(crate) mod editor;
pub(crate) mod elsewhere;
pub(crate) mod events;
mod jsonl;
mod keys;
mod layout;
mod live_view;
mod own_editor;
mod painter;
mod screen;
mod scrollback;
pub(crate) mod session;
mod steps;
pub(crate) mod turn;
mod voice;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use keys::Key;
pub(crate) use live_view::{Clock, LiveView};
pub(crate) use screen::Keys;
pub(crate) use watch::Watch;
