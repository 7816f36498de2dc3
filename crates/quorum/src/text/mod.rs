//! Text and numbers for people on any surface: harmless and easy to read.

mod clean;
mod figures;
mod hidden;

pub use clean::{clean, escaped};
pub use figures::{count, grouped, line, time, tokens};
