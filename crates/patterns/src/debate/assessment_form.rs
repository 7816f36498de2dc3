//! The JSON schema of an assessment. The order of its properties is the order in which a model
//! writes them: the label first, then reasons, then marks.

use serde_json::{Value, json};

use crate::debate::rubric::Rubric;

/// The schema for these debaters, by their labels.
pub(super) fn schema(labels: &[&str], rubric: &Rubric) -> Value {
    let entries =
        json!({ "type": "array", "items": entry(labels, rubric), "description": "One for each debater" });
    json!({
        "type": "object",
        "properties": {
            "assessments": entries,
            "reasoning": { "type": "string", "description": "What this round settled and what it left open" },
            "flags": flags(),
            "qualityScore": {
                "type": "number", "minimum": 0, "maximum": 10, "description": "The round as a whole",
            },
            "recommendations": { "type": "string", "description": "At most two points to address next" },
            "shouldContinue": flag("Whether another round would bring new arguments"),
        },
        "required": ["assessments", "reasoning", "flags", "qualityScore", "recommendations", "shouldContinue"],
        "additionalProperties": false,
    })
}

fn entry(labels: &[&str], rubric: &Rubric) -> Value {
    json!({
        "type": "object",
        "properties": {
            "participant": { "type": "string", "enum": labels, "description": "The debater's label" },
            "strengths": texts("What was good, each naming the argument"),
            "weaknesses": texts("What was not"),
            "criteria": rubric.schema(),
        },
        "required": ["participant", "strengths", "weaknesses", "criteria"],
        "additionalProperties": false,
    })
}

fn flags() -> Value {
    json!({
        "type": "object",
        "properties": {
            "repetitive": flag("Arguments come again"),
            "drifting": flag("It is no longer about the question"),
            "diminishingReturns": flag("Less comes with every round"),
            "convergenceReached": flag("They have met, or it is clear what they differ on"),
        },
        "required": ["repetitive", "drifting", "diminishingReturns", "convergenceReached"],
        "additionalProperties": false,
    })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}
