//! Exported discussions: their appearance, and that participants' text stays text.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod golden;
mod hostile;
mod labels;
mod shown;
mod talk;
mod tied;
