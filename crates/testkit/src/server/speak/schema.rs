//! The vendors' errors for JSON schemas they reject.

use serde_json::{Map, Value, json};

/// The path to a problem in a schema.
pub(super) type Context = Vec<String>;

/// Visits every part of a schema until a problem is found.
pub(super) fn walk(
    schema: &Value,
    context: &mut Context,
    wrong: &impl Fn(&Map<String, Value>) -> Option<String>,
) -> Option<(Context, String)> {
    let object = schema.as_object()?;
    if let Some(message) = wrong(object) {
        return Some((context.clone(), message));
    }
    for (name, below) in object {
        let parts: Vec<(Option<String>, &Value)> = match (name.as_str(), below) {
            ("properties" | "$defs", Value::Object(parts)) => {
                parts.iter().map(|(name, part)| (Some(name.clone()), part)).collect()
            }
            ("anyOf", Value::Array(parts)) => {
                parts.iter().enumerate().map(|(at, part)| (Some(at.to_string()), part)).collect()
            }
            ("items", part) => vec![(None, part)],
            _ => Vec::new(),
        };
        for (key, part) in parts {
            let depth = context.len();
            context.push(name.clone());
            context.extend(key);
            let found = walk(part, context, wrong);
            context.truncate(depth);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let named = schema.get("type");
    named == Some(&json!("object"))
        || named.and_then(Value::as_array).is_some_and(|several| several.contains(&json!("object")))
}

/// OpenAI's error for a strict schema.
pub(super) fn openai_complaint(schema: &Value) -> Option<String> {
    let wrong = |object: &Map<String, Value>| {
        if !is_object(object) {
            return None;
        }
        if object.get("additionalProperties") != Some(&json!(false)) {
            return Some("'additionalProperties' is required to be supplied and to be false.".to_owned());
        }
        let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut names = object.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let missing = names.find(|name| !required.contains(&json!(name)))?;
        Some(format!(
            "'required' is required to be supplied and to be an array including every key in properties. Missing '{missing}'."
        ))
    };
    let (context, message) = walk(schema, &mut Context::new(), &wrong)?;
    let mut inside = context.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(", ");
    if context.len() == 1 {
        inside.push(',');
    }
    Some(format!("In context=({inside}), {message}"))
}

/// Bounds that Anthropic rejects, by type.
const UNBOUND: &[(&str, &[&str])] = &[
    ("number", &["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"]),
    ("integer", &["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"]),
    ("string", &["maxLength", "minLength"]),
    ("array", &["maxItems"]),
];

/// Anthropic's error for a schema.
pub(super) fn anthropic_complaint(schema: &Value) -> Option<String> {
    let wrong = |object: &Map<String, Value>| {
        if is_object(object) && object.get("additionalProperties") != Some(&json!(false)) {
            return Some(
                "For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned(),
            );
        }
        let of_type = object.get("type").and_then(Value::as_str)?;
        if of_type == "array" && object.get("minItems").and_then(Value::as_u64).is_some_and(|it| it > 1) {
            return Some(
                "For 'array' type, 'minItems' values other than 0 or 1 are not supported".to_owned(),
            );
        }
        let (_, bounds) = UNBOUND.iter().find(|it| it.0 == of_type)?;
        let found: Vec<&str> = bounds.iter().copied().filter(|it| object.contains_key(*it)).collect();
        match found[..] {
            [] => None,
            [one] => Some(format!("For '{of_type}' type, property '{one}' is not supported")),
            [..] => Some(format!("For '{of_type}' type, properties {} are not supported", found.join(", "))),
        }
    };
    walk(schema, &mut Context::new(), &wrong).map(|(_, message)| message)
}

/// The keywords of Google's own kind of schema.
const GOOGLE_KNOWS: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// Google's error for a schema of its own kind, which is not JSON schema.
pub(super) fn google_complaint(schema: &Value, place: &str) -> Option<String> {
    let wrong = |object: &Map<String, Value>| {
        if object.get("type").is_some_and(Value::is_array) {
            return Some("Proto field is not repeating, cannot start list.".to_owned());
        }
        let unknown = object.keys().find(|name| !GOOGLE_KNOWS.contains(&name.as_str()))?;
        Some(format!("Unknown name \"{unknown}\""))
    };
    let (context, message) = walk(schema, &mut Context::new(), &wrong)?;
    let mut place = place.to_owned();
    for name in context.iter().filter(|it| *it != "properties") {
        place.push('.');
        place.push_str(name);
    }
    Some(match message.starts_with("Unknown") {
        true => format!("Invalid JSON payload received. {message} at '{place}': Cannot find field."),
        false => format!("Invalid value at '{place}.type': {message}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_vendors_refuse_schemas_they_would_refuse() {
        let of = |inner: Value| json!({ "type": "object", "properties": { "a": inner }, "required": ["a"], "additionalProperties": false });
        let openai = |schema: Value, expected: Option<&str>| {
            assert_eq!(openai_complaint(&schema).as_deref(), expected, "{schema}");
        };
        openai(of(json!({ "type": "number", "minimum": 0 })), None);
        openai(
            json!({ "type": "object", "properties": { "b": {} }, "additionalProperties": false }),
            Some(
                "In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'b'.",
            ),
        );
        openai(
            of(json!({ "type": ["object", "null"] })),
            Some(
                "In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
            ),
        );
        let anthropic = |inner: Value, expected: Option<&str>| {
            assert_eq!(anthropic_complaint(&of(inner.clone())).as_deref(), expected, "{inner}");
        };
        anthropic(json!({ "type": "string", "enum": ["x"] }), None);
        anthropic(
            json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            Some("For 'number' type, properties maximum, minimum are not supported"),
        );
        anthropic(
            json!({ "type": "integer", "minimum": 0 }),
            Some("For 'integer' type, property 'minimum' is not supported"),
        );
        anthropic(
            json!({ "type": "array", "items": {}, "minItems": 2 }),
            Some("For 'array' type, 'minItems' values other than 0 or 1 are not supported"),
        );
        let google = |schema: Value, expected: Option<&str>| {
            assert_eq!(google_complaint(&schema, "here").as_deref(), expected, "{schema}");
        };
        google(
            json!({ "type": "OBJECT", "properties": { "a": { "type": "STRING", "nullable": true } } }),
            None,
        );
        google(
            of(json!({ "type": "string" })),
            Some(
                "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'here': Cannot find field.",
            ),
        );
        google(
            json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } } }),
            Some("Invalid value at 'here.a.type': Proto field is not repeating, cannot start list."),
        );
    }
}
