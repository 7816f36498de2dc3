//! Replies with a form, filled in as emptily as they may be, and always so that the talk goes on.

use quorum_core::call::Shape;
use serde_json::{Map, Value, json};

use super::understudy::WORD;

/// A reply that can be read.
pub(super) fn filled(shape: &Shape) -> String {
    match &shape.schema {
        Some(schema) => instance(schema, "", 0).to_string(),
        // The one form that is given in words: a dialogue's check, where nobody agrees.
        None => {
            format!("[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n0\n[REASONING]\n{WORD}")
        }
    }
}

/// Something that a schema allows; `place` tells the items of a list apart.
fn instance(schema: &Value, name: &str, place: usize) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values.get(place).or(values.first()).cloned().unwrap_or_default();
    }
    match kind(schema) {
        "object" => Value::Object(object(schema, place)),
        "array" => (0..items(schema)).map(|place| instance(&schema["items"], name, place)).collect(),
        "boolean" => json!(name == "shouldContinue"),
        "number" | "integer" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        _ => json!(format!("{WORD} {place}")),
    }
}

fn kind(schema: &Value) -> &str {
    let several = schema["type"].as_array().and_then(|kinds| kinds.first());
    several.unwrap_or(&schema["type"]).as_str().unwrap_or_default()
}

fn object(schema: &Value, place: usize) -> Map<String, Value> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.map(|(name, field)| (name.clone(), instance(field, name, place))).collect()
}

/// One for each name that may stand in it, where there are such names.
fn items(schema: &Value) -> usize {
    let names = |field: &Value| field["enum"].as_array().map(Vec::len);
    let fields = schema["items"]["properties"].as_object();
    let named = fields.and_then(|fields| fields.values().filter_map(names).max());
    named.or_else(|| Some(schema["minItems"].as_u64()? as usize)).unwrap_or_default()
}
