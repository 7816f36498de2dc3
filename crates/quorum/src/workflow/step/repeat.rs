//! `loop`: steps again and again, for each item of a list or while a condition is true.

use quorum_patterns::workflow::plan::{Action, Turns};
use serde_json::{Value, json};

use super::{StepType, conditional::condition, steps_schema};
use crate::workflow::{
    check::{Following, Reading},
    node::Node,
    reader::Fields,
};

/// How many turns a loop has at most, unless it says otherwise.
const USUAL_TURNS: u64 = 10;

pub(super) const STEP: StepType = StepType {
    name: "loop",
    summary: "Runs steps for each item, or while a condition is true; the output lists the last ones",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "items": { "type": ["array", "string"] },
                "while": { "type": ["string", "boolean"] },
                "steps": steps_schema(),
                "maxIterations": { "type": "integer", "minimum": 1, "maximum": 100 },
                "concurrency": { "type": "integer", "minimum": 1, "maximum": 20 },
            },
            "required": ["steps"],
            "additionalProperties": false,
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a loop's config", &mut reading.wrong)?;
    let items = fields.take_field(&["items"], &mut reading.wrong);
    let turns = condition(reading, &mut fields, "while").map(|it| Turns::While(it.0));
    let steps = reading.inner(&mut fields, "steps", Following::InOrder);
    let most = fields.whole(&["maxIterations"], 1..=100, &mut reading.wrong).unwrap_or(USUAL_TURNS);
    let concurrency = fields.whole(&["concurrency"], 1..=20, &mut reading.wrong).unwrap_or(1);
    fields.finish(&mut reading.wrong);
    let over = match (items, turns) {
        (Some(items), None) => match items.plain() {
            Value::Array(list) if list.len() > most as usize => {
                let message = format!("there are {} items, and maxIterations is {most}", list.len());
                reading.wrong(items.place, message);
                None
            }
            value @ (Value::Array(_) | Value::String(_)) => Some(Turns::Items(value)),
            _ if items.is_bare_expression() => {
                reading.wrong(items.place, "write items: \"{{…}}\" in quotes");
                None
            }
            _ => {
                reading.wrong(items.place, "items must be a list, or an expression for one");
                None
            }
        },
        (None, Some(turns)) => Some(turns),
        (Some(_), Some(_)) => {
            reading.wrong(config.place, "give items or while, not both");
            None
        }
        (None, None) => {
            reading.wrong(config.place, "items or while is missing");
            None
        }
    };
    if steps.as_ref().is_none_or(Vec::is_empty) {
        reading.wrong(config.place, "steps is missing: the steps of a turn");
    }
    Some(Action::Loop { over: over?, steps: steps?, most: most as usize, concurrency: concurrency as usize })
}
