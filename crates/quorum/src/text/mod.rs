//! Text and numbers for people on any surface: harmless and easy to read.

mod agents;
mod clean;
mod figures;
mod hidden;
mod local;
mod standing;
mod support;

pub use agents::reason;
pub use clean::{clean, escaped, without_escapes};
pub use figures::{cost, count, early_exit, grouped, line, response_figures, time, tokens, total_cost};
pub use local::{local_of_iso, local_second, local_time};
pub use standing::{dissent_heading, heading, shortfalls, standing};
pub(crate) use support::{annotated, is_block};
pub use support::{source_note, support, with_sources};
