//! `tool`: memory, or a program that the user's configuration declares.

use quorum_patterns::workflow::plan::{Action, ToolAction};
use serde_json::{Map, Value, json};

use super::StepType;
use crate::workflow::{check::Reading, node::Node, reader::Fields};

pub(super) const STEP: StepType = StepType {
    name: "tool",
    summary: "Uses a tool; the output is what it returns",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "tool": { "type": "string" },
                "toolName": { "type": "string" },
                "args": { "type": "object" },
                "toolInput": { "type": "object" },
            },
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a tool's config", &mut reading.wrong)?;
    let named = fields.text(&["tool", "toolName"], &mut reading.wrong);
    let beside = reading.common.tool.clone();
    if let (Some(one), Some(other)) = (&named, &beside)
        && one != other
    {
        reading.wrong(config.place, format!("the step names two tools: {other} and {one}"));
    }
    let arguments = fields.take_field(&["args", "toolInput"], &mut reading.wrong).map(Node::plain);
    let rest = fields.rest().into_iter().map(|(name, _, node)| (name.to_owned(), node.plain()));
    let rest: Map<String, Value> = rest.collect();
    let arguments = match (arguments, rest.is_empty()) {
        (Some(arguments), true) => arguments,
        (None, _) => Value::Object(rest),
        (Some(_), false) => {
            let names: Vec<&str> = rest.keys().map(String::as_str).collect();
            let message = format!("put all arguments into args; beside it are {}", names.join(", "));
            reading.wrong(config.place, message);
            return None;
        }
    };
    let Some(tool) = named.or(beside) else {
        reading.wrong(config.place, "tool is missing: the tool's name");
        return None;
    };
    match reading.at.tools.find(&tool) {
        Ok(repeatable) => {
            let retry = reading.common.retry.clone();
            Some(Action::Tool(ToolAction { tool, arguments, repeatable, retry }))
        }
        Err(message) => {
            reading.wrong(config.place, message);
            None
        }
    }
}
