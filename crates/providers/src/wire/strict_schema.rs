//! Converts a JSON schema to the form that strict decoders accept: every property required, no
//! additional ones, optional ones nullable.
//!
//! OpenAI rejects a strict schema with an optional property; with `strict: false` it takes the
//! schema only as a hint. Anthropic moves optional properties behind the required ones, so a schema
//! keeps its order there only if everything is required. Our readers treat null as missing, so
//! requiring everything loses nothing. A type of `["object", "null"]` becomes an `anyOf`, because
//! grammars that local servers generate from schemas lose the properties of such a type.

use serde_json::{Map, Value, json};

use super::subschemas::rewritten;

/// The schema in its strict form: equivalent, with null for missing values.
pub(super) fn strict(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut made = rewritten(schema, strict);
    if let Some(Value::Object(properties)) = made.get_mut("properties") {
        for (_, inner) in properties.iter_mut().filter(|(name, _)| !is_required(schema, name)) {
            *inner = nullable(inner.take());
        }
        let all = properties.keys().cloned().collect();
        made.insert("required".to_owned(), all);
        made.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    split_union(made)
}

fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|it| it == name))
}

fn nullable(schema: Value) -> Value {
    if allows_null(&schema) { schema } else { json!({ "anyOf": [schema, { "type": "null" }] }) }
}

fn allows_null(schema: &Value) -> bool {
    let by_type = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|it| it == "null"),
        Some(one) => one == "null",
        None => false,
    };
    by_type || schema.get("anyOf").and_then(Value::as_array).is_some_and(|any| any.iter().any(allows_null))
}

/// Splits a type union with an object into one schema per type.
fn split_union(schema: Map<String, Value>) -> Value {
    let types = match schema.get("type") {
        Some(Value::Array(types)) if types.iter().any(|it| it == "object") => types.clone(),
        _ => return Value::Object(schema),
    };
    let each = types.into_iter().map(|one| {
        if one != "object" {
            return json!({ "type": one });
        }
        let mut whole = schema.clone();
        whole.insert("type".to_owned(), one);
        Value::Object(whole)
    });
    json!({ "anyOf": each.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_becomes_strict_at_every_level() {
        let check = |schema: Value, expected: Value| assert_eq!(strict(&schema), expected, "{schema}");
        check(json!({ "type": "string", "enum": ["a"] }), json!({ "type": "string", "enum": ["a"] }));
        let closed = json!({
            "type": "object", "properties": { "a": { "type": "number", "minimum": 0 } },
            "required": ["a"], "additionalProperties": false,
        });
        check(closed.clone(), closed.clone());
        check(json!({ "type": "array", "items": closed, "minItems": 2 }), {
            json!({ "type": "array", "items": closed, "minItems": 2 })
        });
        check(
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": ["string", "null"] } } }),
            json!({
                "type": "object",
                "properties": {
                    "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                    "b": { "type": ["string", "null"] },
                },
                "required": ["a", "b"], "additionalProperties": false,
            }),
        );
    }

    #[test]
    fn an_object_or_null_keeps_its_properties() {
        let schema = json!({
            "type": ["object", "null"], "properties": { "who": { "type": "string" } }, "required": ["who"],
            "description": "Who argued best",
        });
        let object = json!({
            "type": "object", "properties": { "who": { "type": "string" } }, "required": ["who"],
            "additionalProperties": false, "description": "Who argued best",
        });
        assert_eq!(strict(&schema), json!({ "anyOf": [object, { "type": "null" }] }));
        let optional = json!({ "type": "object", "properties": { "winner": schema } });
        let winner = strict(&optional).pointer("/properties/winner").cloned();
        assert_eq!(winner, Some(json!({ "anyOf": [object, { "type": "null" }] })));
    }

    #[test]
    fn schemas_inside_definitions_and_choices_are_strict_too() {
        let open = json!({ "type": "object", "properties": { "a": { "type": "null" } } });
        let closed = strict(&open);
        assert_eq!(closed.get("required"), Some(&json!(["a"])));
        let schema = json!({ "$defs": { "x": open }, "anyOf": [open] });
        assert_eq!(strict(&schema), json!({ "$defs": { "x": closed }, "anyOf": [closed] }));
    }
}
