//! The types of steps, one file each.

mod conditional;
mod delegate;
mod discuss;
mod parallel;
mod prompt;
mod repeat;
mod tool;

use serde_json::Value;

use crate::{
    Complaint,
    workflow::{
        check::{ReadStep, Reading},
        node::Place,
    },
};

/// A type of step.
pub struct StepType {
    /// The name in files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The JSON Schema of its `config`.
    pub schema: fn() -> Value,
    pub(crate) read: ReadStep,
}

/// Every type of step.
pub const STEPS: &[StepType] = &[
    prompt::STEP,
    discuss::STEP,
    tool::STEP,
    parallel::STEP,
    conditional::STEP,
    repeat::STEP,
    delegate::STEP,
];

/// Reports the complaints about the request behind a step.
pub(crate) fn complain(reading: &mut Reading<'_>, place: Place, complaints: Vec<Complaint>) {
    for complaint in complaints {
        reading.wrong(place, format!("{}: {}", complaint.field, complaint.message));
    }
}

/// The schema of a list of steps.
pub(crate) fn steps_schema() -> Value {
    serde_json::json!({ "type": "array", "items": { "$ref": "#/$defs/step" } })
}
