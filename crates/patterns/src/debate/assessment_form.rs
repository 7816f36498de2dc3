//! The JSON schema of an assessment.

use serde_json::{Value, json};

use crate::debate::Criteria;

/// The schema for these debaters, by their labels.
pub(super) fn schema(labels: &[&str]) -> Value {
    let entries = json!({ "type": "array", "items": entry(labels), "description": "One for each debater" });
    json!({
        "type": "object",
        "properties": {
            "shouldContinue": flag("Whether another round would be worth it"),
            "qualityScore": of_ten("The round as a whole"),
            "assessments": entries,
            "flags": flags(),
            "reasoning": { "type": "string", "description": "Why, briefly" },
            "recommendations": { "type": "string", "description": "What should happen next" },
        },
        "required": ["shouldContinue", "qualityScore", "assessments", "flags", "reasoning", "recommendations"],
        "additionalProperties": false,
    })
}

fn entry(labels: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "participant": { "type": "string", "enum": labels, "description": "The debater's label" },
            "strengths": texts("What was good"),
            "weaknesses": texts("What was not"),
            "score": of_ten("This debater in this round"),
            "criteria": criteria(),
        },
        "required": ["participant", "strengths", "weaknesses", "score", "criteria"],
        "additionalProperties": false,
    })
}

fn criteria() -> Value {
    json!({
        "type": "object",
        "properties": {
            "logic": of_ten("Whether it follows and does not contradict itself"),
            "evidence": of_ten("Whether claims are supported by data, examples or research"),
            "engagement": of_ten("Whether the others' points are met"),
            "novelty": of_ten("Whether it is new; 0 for pure repetition"),
            "clarity": of_ten("Whether it is clear and convincing"),
            "relevance": of_ten("Whether it is about the question"),
        },
        "required": Criteria::WEIGHTS.map(|(name, _)| name),
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

fn of_ten(description: &str) -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 10, "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}
