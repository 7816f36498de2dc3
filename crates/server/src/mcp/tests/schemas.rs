//! The part of JSON Schema that our output schemas use. A keyword that it doesn't know panics, so
//! that nothing is passed over.

use serde_json::Value;

/// Everything in the value that the schema doesn't allow, each with the path to it.
pub(super) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let mut wrong = |what: &str| found.push(format!("{path}: {what}"));
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "description" | "default" | "title" => {}
            "type" if !of_kind(rule, value) => wrong(&format!("is not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => wrong(&format!("is not in {rule}")),
            "minimum" if value.as_f64() < rule.as_f64() => wrong("is too small"),
            "maximum" if value.as_f64().is_some() && value.as_f64() > rule.as_f64() => wrong("is too large"),
            "format" if uuid::Uuid::parse_str(value.as_str().unwrap_or_default()).is_err() => {
                wrong("is no UUID");
            }
            "required" => {
                let missing =
                    rule.as_array().unwrap().iter().filter(|it| value.get(it.as_str().unwrap()).is_none());
                missing.for_each(|it| wrong(&format!("{it} is missing")));
            }
            "anyOf" => {
                let fits = |it: &Value| problems(it, value).is_empty();
                if !rule.as_array().unwrap().iter().any(fits) {
                    wrong("fits no alternative");
                }
            }
            "type" | "enum" | "minimum" | "maximum" | "format" | "properties" | "items" => {}
            other => panic!("{other} is not known"),
        }
    }
    for (name, rule) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(field) = value.get(name) {
            check(rule, field, &format!("{path}/{name}"), found);
        }
    }
    for (at, item) in
        value.as_array().into_iter().flatten().enumerate().filter(|_| schema["items"].is_object())
    {
        check(&schema["items"], item, &format!("{path}/{at}"), found);
    }
}

fn of_kind(rule: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        _ => panic!("{kind} is not known"),
    };
    rule.as_array().map_or_else(|| is(rule), |kinds| kinds.iter().any(is))
}
