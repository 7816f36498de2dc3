//! `delegate`: a prompt that an agent answers.

use quorum_patterns::workflow::plan::Action;
use serde_json::json;

use super::{
    StepType,
    prompt::{Asked, action},
};
use crate::workflow::{
    check::{LONGEST_WRITTEN, Reading},
    node::Node,
    reader::Fields,
};

pub(super) const STEP: StepType = StepType {
    name: "delegate",
    summary: "Gives a task to an agent; the output is that of a prompt",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "targetAgent": { "type": "string" },
                "task": { "type": "string", "maxLength": LONGEST_WRITTEN },
            },
            "required": ["targetAgent"],
            "additionalProperties": false,
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a delegation's config", &mut reading.wrong)?;
    let agent = fields.text(&["targetAgent"], &mut reading.wrong);
    let prompt = fields.short_text(&["task", "prompt"], LONGEST_WRITTEN, &mut reading.wrong);
    fields.finish(&mut reading.wrong);
    if agent.is_none() {
        reading.wrong(config.place, "targetAgent is missing");
        return None;
    }
    let manner = reading.at.base.clone();
    let seat = (None, agent, None);
    action(reading, config.place, Asked { prompt, system: None, json: false, seat, manner })
}
