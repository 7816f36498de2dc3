//! Rewrites the schemas inside a JSON schema and keeps everything else, including the order of
//! keys.
//!
//! Order matters: a model writes the properties of its answer in the order of the schema, and what
//! it has written influences what it writes next.

use serde_json::{Map, Value};

/// Keywords that hold one schema.
const SINGLE: &[&str] = &["items"];

/// Keywords that hold a list of schemas.
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords that hold schemas by name.
const NAMED: &[&str] = &["properties", "$defs", "definitions"];

/// The schema's fields with every schema directly inside it rewritten.
pub(super) fn rewritten(schema: &Map<String, Value>, rewrite: fn(&Value) -> Value) -> Map<String, Value> {
    schema.iter().map(|(key, value)| (key.clone(), rewritten_field(key, value, rewrite))).collect()
}

fn rewritten_field(key: &str, value: &Value, rewrite: fn(&Value) -> Value) -> Value {
    match value {
        Value::Array(list) if LISTS.contains(&key) => list.iter().map(rewrite).collect(),
        Value::Object(named) if NAMED.contains(&key) => {
            named.iter().map(|(name, inner)| (name.clone(), rewrite(inner))).collect()
        }
        _ if SINGLE.contains(&key) => rewrite(value),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Marks every schema it is given.
    fn marked(schema: &Value) -> Value {
        let Value::Object(fields) = schema else { return schema.clone() };
        let mut fields = rewritten(fields, marked);
        fields.insert("x".to_owned(), json!(1));
        Value::Object(fields)
    }

    #[test]
    fn schemas_are_found_wherever_they_are_and_nothing_else_is_taken_for_one() {
        let schema = json!({
            "type": "object",
            "properties": { "z": { "enum": [{}] }, "items": { "const": {} }, "a": true },
            "$defs": { "z": {}, "a": {} },
            "anyOf": [{ "items": { "prefixItems": [{}] } }],
            "default": { "items": {} },
        });
        let expected =
            r#"{"type":"object","properties":{"z":{"enum":[{}],"x":1},"items":{"const":{},"x":1},"a":true},"#
                .to_owned()
                + r#""$defs":{"z":{"x":1},"a":{"x":1}},"anyOf":[{"items":{"prefixItems":[{"x":1}],"x":1},"x":1}],"#
                + r#""default":{"items":{}},"x":1}"#;
        assert_eq!(marked(&schema).to_string(), expected);
    }
}
