//! The JSON Schema of workflow files, made from the types of steps, for editors.

use serde_json::{Value, json};

use crate::workflow::step::STEPS;

/// The schema (JSON Schema 2020-12).
#[must_use]
pub fn schema() -> Value {
    let id = json!({ "type": "string", "pattern": "^[a-z][a-z0-9-]*$", "maxLength": 64 });
    let of_type = |it: &crate::workflow::step::StepType| {
        json!({
            "if": { "properties": { "type": { "const": it.name } }, "required": ["type"] },
            "then": { "properties": { "config": (it.schema)() } },
        })
    };
    let types: Vec<Value> =
        STEPS.iter().map(|it| json!({ "const": it.name, "description": it.summary })).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workflow",
        "type": "object",
        "properties": {
            "workflowId": id,
            "version": { "type": "string", "pattern": r"^\d+\.\d+\.\d+$" },
            "name": { "type": "string", "maxLength": 128 },
            "description": { "type": "string", "maxLength": 512 },
            "category": { "type": "string" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "metadata": { "type": "object" },
            "variables": { "type": "object" },
            "concurrency": { "type": "integer", "minimum": 1, "maximum": 20 },
            "steps": { "type": "array", "minItems": 1, "maxItems": 200, "items": { "$ref": "#/$defs/step" } },
        },
        "required": ["workflowId", "version", "steps"],
        "additionalProperties": false,
        "$defs": {
            "step": {
                "type": "object",
                "properties": {
                    "stepId": id,
                    "type": { "oneOf": types },
                    "name": { "type": "string", "maxLength": 128 },
                    "description": { "type": "string", "maxLength": 512 },
                    "timeout": { "type": "integer", "minimum": 1000, "maximum": 3_600_000 },
                    "timeoutMs": { "type": "integer", "minimum": 1000, "maximum": 3_600_000 },
                    "onError": { "enum": ["fail", "continue"] },
                    "dependencies": { "type": "array", "items": id },
                    "retryPolicy": {
                        "type": "object",
                        "properties": {
                            "maxAttempts": { "type": "integer", "minimum": 1, "maximum": 10 },
                            "backoffMs": { "type": "integer", "minimum": 100, "maximum": 60_000 },
                            "backoffMultiplier": { "type": "number", "minimum": 1, "maximum": 5 },
                            "retryOn": { "type": "array", "items": { "type": "string" } },
                        },
                        "additionalProperties": false,
                    },
                    "tool": { "type": "string" },
                    "config": { "type": "object" },
                },
                "required": ["stepId", "type"],
                "additionalProperties": false,
                "allOf": STEPS.iter().map(of_type).collect::<Vec<Value>>(),
            },
        },
    })
}
