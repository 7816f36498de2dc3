//! Holds a discussion whose participants may convene sub-discussions.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::mcp::{
    Surface,
    call::Call,
    order, request, schema,
    tools::{CAPS, Effect, Form, Tool, about_money},
};

const DEPTH: RangeInclusive<u32> = 1..=4;
const USUAL_DEPTH: u32 = 2;
const CALLS: RangeInclusive<u32> = 5..=100;
const USUAL_CALLS: u32 = 20;
/// The longest description that is written out again, in bytes.
const LONGEST_DESCRIPTION: usize = 60;
const BUDGET_MS: RangeInclusive<u64> = 30_000..=1_800_000;

pub(crate) const TOOL: Tool = Tool {
    name: "discuss_recursive",
    title: "Hold a discussion with sub-discussions",
    description,
    effect: Effect::Spends,
    form: Form::Json,
    input,
    output: schema::discussion,
    run: |call, mistakes| {
        Box::pin(async move {
            let request = request::read(call, fields(call), mistakes)?;
            order::held(call, &request).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let discuss = surface.names.of("discuss");
    format!(
        "The same as {discuss}, but participants may convene sub-discussions of their own. {}",
        about_money(surface, CAPS)
    )
}

fn input(surface: &Surface<'_>) -> Value {
    let mut schema = schema::order(surface);
    let properties = &mut schema["properties"];
    if let Some(fields) = properties.as_object_mut() {
        fields.remove("recursive");
        fields.values_mut().for_each(|it| refer(it, &surface.names.of("discuss")));
    }
    properties["maxDepth"] = range(&DEPTH, Some(USUAL_DEPTH), "How deep sub-discussions may go");
    properties["maxCalls"] = range(&CALLS, Some(USUAL_CALLS), "The most calls to providers in all");
    let (alias, budget) = schema::TOTAL_BUDGET;
    properties[budget] = range(&BUDGET_MS, None, "The time budget of all levels, in milliseconds");
    properties[alias] = range(&BUDGET_MS, None, &format!("Another name of {budget}"));
    schema
}

/// Replaces a long description by the name of the tool that has it.
fn refer(field: &mut Value, tool: &str) {
    if field["description"].as_str().is_some_and(|it| LONGEST_DESCRIPTION < it.len()) {
        field["description"] = json!(format!("As in {tool}"));
    }
}

fn range<T: Serialize>(bounds: &RangeInclusive<T>, usual: Option<T>, description: &str) -> Value {
    let mut schema = json!({
        "type": "integer", "minimum": bounds.start(), "maximum": bounds.end(), "description": description,
    });
    if let Some(usual) = usual {
        schema["default"] = json!(usual);
    }
    schema
}

fn fields(call: &Call) -> Map<String, Value> {
    let mut fields = call.arguments.clone();
    fields.insert("recursive".to_owned(), json!(true));
    fields.entry("maxDepth").or_insert(json!(USUAL_DEPTH));
    fields.entry("maxCalls").or_insert(json!(USUAL_CALLS));
    fields
}
