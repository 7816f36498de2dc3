//! What answers say about the run of a workflow, beside what they say about every discussion.

use quorum::{Registry, Snapshot, model::state::State, workflow::RunResult};
use serde_json::{Value, json};

use crate::mcp::schema;

/// The fields of a run: its workflow, its steps and its output; none if it is no run.
pub(crate) fn fields(registry: &Registry, state: &State) -> Vec<(&'static str, Value)> {
    let snapshot = Snapshot::new(Box::new(state.clone()), registry.clone());
    let Some(run) = RunResult::of(&snapshot) else { return Vec::new() };
    let steps: Vec<Value> = run.step_results.into_iter().map(|it| without_output(json!(it))).collect();
    let mut fields = vec![
        ("workflowId", json!(run.workflow_id)),
        ("version", json!(run.version)),
        ("stepResults", json!(steps)),
        ("unresolved", json!(run.unresolved)),
    ];
    fields.extend(Some(run.output).filter(|it| !it.is_null()).map(|it| ("output", it)));
    fields.extend(run.error.map(|it| ("error", json!(it))));
    fields
}

/// A step without its output, which may be long; the facts of the run have all of them.
fn without_output(mut step: Value) -> Value {
    if let Some(fields) = step.as_object_mut() {
        fields.remove("output");
    }
    step
}

/// The properties of these fields in an output schema.
pub(crate) fn properties() -> Value {
    json!({
        "workflowId": { "type": "string", "description": "The workflow that was run" },
        "version": { "type": "string" },
        "output": schema::any("The output of the last step; synthesis is its text"),
        "stepResults": { "type": "array", "items": {
            "type": "object", "required": ["stepId", "status"],
            "properties": {
                "stepId": { "type": "string" }, "path": { "type": "string" },
                "status": { "type": "string" }, "success": { "type": "boolean" },
                "discussionId": { "type": "string", "format": "uuid" },
            },
        } },
        "unresolved": {
            "type": "array", "items": { "type": "string" },
            "description": "Expressions in the workflow whose paths were unknown",
        },
    })
}
