//! Discussions written down: what they look like, and that nothing in them is more than text.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod golden;
mod hostile;
mod shown;
mod talk;
