//! The live view: a pure screen made of signals and time, a painter that redraws what changed, and the terminal around them.

mod columns;
mod keys;
mod layout;
mod painter;
mod screen;
mod stage;
mod story;
pub(crate) mod terminal;
mod voice;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use keys::Key;
pub(crate) use layout::judged;
pub(crate) use screen::Keys;
pub(crate) use stage::{Clock, Stage};
pub(crate) use watch::Watch;
