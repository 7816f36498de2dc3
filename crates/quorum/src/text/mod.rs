//! Text and numbers for people on any surface: harmless and easy to read.

mod clean;
mod figures;
mod hidden;
mod standing;

pub use clean::{clean, escaped};
pub use figures::{cost, count, early_exit, grouped, line, response_figures, time, tokens, total_cost};
pub use standing::{dissent_heading, heading, shortfalls, standing};
