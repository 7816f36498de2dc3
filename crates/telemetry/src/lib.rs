//! Discussions as OpenTelemetry traces.
//!
//! Spans are made from facts, when these are durable: `spans` folds the facts of a record, and
//! returns a span when it has ended. The facts before a run are folded too, without returning
//! anything, so a process that takes over ends what another has begun, and no span is made twice.
//! No context travels between processes: all ids follow from the record.
//!
//! `names` has the names of the semantic conventions, `settings` the environment variables,
//! `export` sends spans to a collector.

mod content;
mod export;
mod ids;
mod names;
mod settings;
mod span_data;
mod spans;
mod tracing;

pub use settings::{Content, SettingsError};
pub use tracing::Tracing;
