//! Text and numbers for people on any surface: harmless and easy to read.

mod clean;
mod figures;
mod hidden;
mod standing;

pub use clean::{clean, escaped};
pub use figures::{count, grouped, line, time, tokens};
pub use standing::{heading, shortfalls, standing};
