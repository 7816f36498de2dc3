//! Replies with a form, filled in as emptily as they may be, and always so that the talk goes on.

use quorum_core::{call::Shape, vocabulary::form::Stub};
use serde_json::{Map, Value, json};

use super::understudy::WORD;

/// A reply that can be read.
pub(super) fn filled(shape: &Shape) -> String {
    match (shape.form.stub, &shape.schema) {
        (Stub::Text(text), _) => text.to_owned(),
        (Stub::Filled, Some(schema)) => instance(schema, ("", 0), &[]).to_string(),
        (Stub::FilledWith(names), Some(schema)) => instance(schema, ("", 0), names).to_string(),
        (Stub::Filled | Stub::FilledWith(_), None) => WORD.to_owned(),
    }
}

/// Something that a schema allows; `place` tells the items of a list apart. The properties named are
/// true.
fn instance(schema: &Value, (name, place): (&str, usize), named: &[&str]) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values.get(place).or(values.first()).cloned().unwrap_or_default();
    }
    match kind(schema) {
        "object" => Value::Object(object(schema, place, named)),
        "array" => (0..items(schema)).map(|place| instance(&schema["items"], (name, place), named)).collect(),
        "boolean" => json!(named.contains(&name)),
        "number" | "integer" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        _ => json!(format!("{WORD} {place}")),
    }
}

fn kind(schema: &Value) -> &str {
    let several = schema["type"].as_array().and_then(|kinds| kinds.first());
    several.unwrap_or(&schema["type"]).as_str().unwrap_or_default()
}

fn object(schema: &Value, place: usize, named: &[&str]) -> Map<String, Value> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.map(|(name, field)| (name.clone(), instance(field, (name, place), named))).collect()
}

/// One for each name that may stand in it, where there are such names.
fn items(schema: &Value) -> usize {
    let names = |field: &Value| field["enum"].as_array().map(Vec::len);
    let fields = schema["items"]["properties"].as_object();
    let named = fields.and_then(|fields| fields.values().filter_map(names).max());
    named.or_else(|| Some(schema["minItems"].as_u64()? as usize)).unwrap_or_default()
}
