//! Workflows: files in YAML or JSON that are checked completely and then run as a durable record.
//!
//! The deterministic run is a pattern (`quorum_patterns::workflow`), because it must replay like
//! every other one. Here is what it doesn't know: files, their places and mistakes, the providers
//! at hand, and the configuration.

pub(crate) mod check;
pub mod find;
pub(crate) mod given;
mod mistake;
mod node;
mod order;
mod reader;
mod references;
mod result;
pub mod schema;
mod step;
pub mod tools;

pub use check::{Checked, LONGEST_WRITTEN};
pub use mistake::{Mistake, Wrong};
pub use node::LARGEST_FILE;
pub use order::{RunError, RunOrder};
pub use quorum_patterns::workflow::{
    plan::{Plan, PlanStep},
    plan_of,
    report::{Status, StepResult},
};
pub use references::{InputUse, uses_of_input};
pub use result::{CostSummary, RunProblem, RunResult};
pub use step::STEPS;
