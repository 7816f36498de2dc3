//! Anthropic's subset of JSON schema: what it does not know, it refuses with the whole request.

use serde_json::{Map, Value, json};

/// Bounds of numbers, texts and lists. Prompts say them as well, and whoever reads the reply checks them.
const UNKNOWN: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The same form in what is accepted.
pub(super) fn accepted(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            choice(fields.iter().filter_map(|(name, value)| field(name, value)).collect())
        }
        Value::Array(list) => list.iter().map(accepted).collect(),
        other => other.clone(),
    }
}

fn field(name: &str, value: &Value) -> Option<(String, Value)> {
    let value = match (name, value) {
        // What stands here are names of the user's own, not words of the schema.
        ("properties" | "$defs", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), accepted(schema))).collect()
        }
        ("enum" | "const" | "required" | "default", value) => value.clone(),
        (name, _) if UNKNOWN.contains(&name) => return None,
        (_, value) => accepted(value),
    };
    Some((name.to_owned(), value))
}

/// An object that may be left out is written as a choice of two forms.
fn choice(mut fields: Map<String, Value>) -> Value {
    let is_choice = fields.get("type") == Some(&json!(["object", "null"]));
    if !is_choice {
        return Value::Object(fields);
    }
    let description = fields.remove("description");
    fields.insert("type".to_owned(), json!("object"));
    let mut choice = json!({ "anyOf": [fields, { "type": "null" }] });
    if let Some(description) = description {
        choice["description"] = description;
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_understood_is_sent() {
        let check = |schema: Value, expected: Value| assert_eq!(accepted(&schema), expected);
        check(
            json!({ "type": "number", "minimum": 0, "maximum": 1, "description": "How sure" }),
            json!({ "type": "number", "description": "How sure" }),
        );
        check(
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 2, "maxItems": 2 }),
            json!({ "type": "array", "items": { "type": "string" } }),
        );
        check(
            json!({ "type": ["object", "null"], "properties": {}, "additionalProperties": false, "description": "Who" }),
            json!({
                "anyOf": [{ "type": "object", "properties": {}, "additionalProperties": false }, { "type": "null" }],
                "description": "Who",
            }),
        );
        check(json!({ "type": ["string", "null"] }), json!({ "type": ["string", "null"] }));
    }

    #[test]
    fn a_field_may_have_the_name_of_a_bound() {
        let schema = json!({
            "type": "object",
            "properties": { "minimum": { "type": "number", "minimum": 0 } },
            "required": ["minimum"],
        });
        let expected = json!({
            "type": "object",
            "properties": { "minimum": { "type": "number" } },
            "required": ["minimum"],
        });
        assert_eq!(accepted(&schema), expected);
    }
}
