//! `conditional`: one of two lists of steps.

use quorum_patterns::workflow::{condition::Condition, plan::Action};
use serde_json::json;

use super::{StepType, steps_schema};
use crate::workflow::{
    check::{Following, Reading},
    node::{Node, Place},
    reader::{Fields, text},
};

pub(super) const STEP: StepType = StepType {
    name: "conditional",
    summary: "Runs steps if a condition is true, or others if it is false",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "condition": { "type": ["string", "boolean"] },
                "then": steps_schema(),
                "else": steps_schema(),
            },
            "required": ["condition"],
            "additionalProperties": false,
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a conditional step's config", &mut reading.wrong)?;
    let condition = condition(reading, &mut fields, "condition");
    let then = reading.inner(&mut fields, "then", Following::InOrder).unwrap_or_default();
    let otherwise = reading.inner(&mut fields, "else", Following::InOrder).unwrap_or_default();
    fields.finish(&mut reading.wrong);
    if condition.is_none() {
        reading.wrong(config.place, "condition is missing or can't be read");
    }
    let (condition, _) = condition?;
    Some(Action::Conditional { condition, then, otherwise })
}

/// A condition that can be read, and its place.
pub(super) fn condition(
    reading: &mut Reading<'_>,
    fields: &mut Fields<'_>,
    name: &'static str,
) -> Option<(String, Place)> {
    let node = fields.take_field(&[name], &mut reading.wrong)?;
    let written = match node.plain() {
        serde_json::Value::Bool(it) => it.to_string(),
        _ => text(node, name, &mut reading.wrong)?,
    };
    match Condition::parse(&written) {
        Ok(_) => Some((written, node.place)),
        Err(error) => {
            reading.wrong(node.place, format!("{name}: {error}"));
            None
        }
    }
}
