//! The types of steps, one file each.

mod conditional;
mod delegate;
mod discuss;
mod parallel;
mod prompt;
mod repeat;
mod tool;

use quorum_core::model::error::Code;
use serde_json::Value;

use crate::{
    Complaint, Remedy,
    workflow::{
        check::{ReadStep, Reading},
        mistake::Mistake,
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
        let message = format!("{}: {}", complaint.field, complaint.message);
        let is_lacking = complaint.code == Code::InsufficientProviders;
        let lacking = is_lacking.then(|| Box::new(without_seats(complaint)));
        reading.wrong.push(Mistake { lacking, ..Mistake::at(place, message) });
    }
}

/// The complaint without advice on whom to seat: in a workflow, the file says that.
fn without_seats(mut complaint: Complaint) -> Complaint {
    complaint.remedies.retain(|it| matches!(it, Remedy::Simulate | Remedy::Provide { .. }));
    complaint
}

/// The schema of a list of steps.
pub(crate) fn steps_schema() -> Value {
    serde_json::json!({ "type": "array", "items": { "$ref": "#/$defs/step" } })
}
