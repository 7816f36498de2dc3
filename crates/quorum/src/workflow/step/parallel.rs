//! `parallel`: steps at once.

use quorum_patterns::workflow::plan::Action;
use serde_json::json;

use super::{StepType, steps_schema};
use crate::workflow::{
    check::{Following, Reading},
    node::Node,
    reader::Fields,
};

pub(super) const STEP: StepType = StepType {
    name: "parallel",
    summary: "Runs steps at once; the output has theirs by their ids",
    schema: || {
        json!({
            "type": "object",
            "properties": { "steps": steps_schema(), "failureStrategy": { "enum": ["failFast", "failSafe"] } },
            "required": ["steps"],
            "additionalProperties": false,
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a parallel step's config", &mut reading.wrong)?;
    let steps = reading.inner(&mut fields, "steps", Following::AtOnce);
    let strategy = fields.choice(&["failureStrategy"], &["failFast", "failSafe"], &mut reading.wrong);
    fields.finish(&mut reading.wrong);
    if steps.is_none() {
        reading.wrong(config.place, "steps is missing: the steps to run at once");
    }
    Some(Action::Parallel { steps: steps?, fail_safe: strategy == Some("failSafe") })
}
