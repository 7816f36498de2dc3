//! Steps with their states, read from the value that a pattern gives for them.

use serde::Deserialize;
use serde_json::Value;

use super::Table;
use crate::text::time;

/// A step as documents show it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StepBox {
    /// The step's id.
    pub step_id: String,
    /// Its name in the run.
    pub path: String,
    /// The step's type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its state in one word.
    pub status: String,
    /// The ids of the steps beside it that it waits for.
    pub after: Vec<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// The discussion it holds.
    pub discussion_id: Option<String>,
    /// Why it failed or was skipped.
    pub error: Option<String>,
    /// The turns of the loop around it.
    pub turns: Vec<StepBox>,
    /// The steps inside it.
    pub inside: Vec<Inside>,
}

/// A list of steps inside a step.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Inside {
    /// What distinguishes it from another list of the step.
    pub label: Option<String>,
    /// The steps.
    pub steps: Vec<StepBox>,
}

/// The steps in this value; none if it has another form.
pub(super) fn read(value: &Value) -> Vec<StepBox> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

/// A row for each step, indented by how deep it is nested; the turns of a loop in place
/// of their step.
#[must_use]
pub fn table(steps: &[StepBox]) -> Table {
    let mut rows = Vec::new();
    put(steps, 0, &mut rows);
    Table::new(&["step", "type", "state", "time", "after", "why"], &rows)
}

fn put(steps: &[StepBox], depth: usize, rows: &mut Vec<Vec<String>>) {
    for step in steps {
        if step.turns.is_empty() {
            rows.push(row(step, depth));
            step.inside.iter().for_each(|it| put(&it.steps, depth + 1, rows));
        } else {
            put(&step.turns, depth, rows);
        }
    }
}

fn row(step: &StepBox, depth: usize) -> Vec<String> {
    let name = format!("{}{}", "↳ ".repeat(depth), step.path);
    let took = step.duration_ms.filter(|_| step.status != "skipped").map(time).unwrap_or_default();
    let why = step.error.clone().unwrap_or_default();
    vec![name, step.kind.clone(), step.status.clone(), took, step.after.join(", "), why]
}
