//! The part of JSON Schema that the two schemas use. A keyword that it doesn't know panics, so
//! that nothing is passed over.

use serde_json::{Map, Value};

/// Everything in the value that the schema doesn't allow, each with the path to it.
pub(crate) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().expect("a schema is an object");
    for (keyword, rule) in rules {
        let wrong = match keyword.as_str() {
            "description" => None,
            "type" => kind(rule, value),
            "enum" => (!rule.as_array().expect("a list").contains(value)).then_some("not one of the values"),
            "minimum" => bound(value, rule, |number, bound| number < bound).then_some("too small"),
            "maximum" => bound(value, rule, |number, bound| number > bound).then_some("too large"),
            "maxLength" => {
                let length = value.as_str().map(|it| it.chars().count() as u64);
                (length > rule.as_u64()).then_some("too long")
            }
            "format" => (!value.as_str().is_some_and(is_time)).then_some("not a time"),
            "required" => {
                let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                let missing = names.filter(|name| value.get(name).is_none());
                found.extend(missing.map(|name| format!("{path}: {name} is missing")));
                None
            }
            "properties" | "additionalProperties" => None,
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.for_each(|(at, item)| check(rule, item, &format!("{path}/{at}"), found));
                None
            }
            _ => panic!("{keyword} is not known"),
        };
        found.extend(wrong.map(|wrong| format!("{path}: {wrong}")));
    }
    check_fields(rules, value, path, found);
}

fn check_fields(rules: &Map<String, Value>, value: &Value, path: &str, found: &mut Vec<String>) {
    let known = rules.get("properties").and_then(Value::as_object);
    for (name, field) in value.as_object().into_iter().flatten() {
        let rule = known.and_then(|it| it.get(name)).or_else(|| rules.get("additionalProperties"));
        if let Some(rule) = rule {
            check(rule, field, &format!("{path}/{name}"), found);
        }
    }
}

fn kind(rule: &Value, value: &Value) -> Option<&'static str> {
    let (is_right, wrong) = match rule.as_str() {
        Some("object") => (value.is_object(), "not an object"),
        Some("array") => (value.is_array(), "not a list"),
        Some("string") => (value.is_string(), "not a text"),
        Some("boolean") => (value.is_boolean(), "not a boolean"),
        Some("number") => (value.is_number(), "not a number"),
        Some("integer") => (value.is_u64() || value.is_i64(), "not a whole number"),
        _ => panic!("{rule} is not known"),
    };
    (!is_right).then_some(wrong)
}

fn bound(value: &Value, bound: &Value, is_beyond: fn(f64, f64) -> bool) -> bool {
    value.as_f64().zip(bound.as_f64()).is_some_and(|(value, bound)| is_beyond(value, bound))
}

/// Whether it is a time in UTC, as ISO 8601 with a `Z`.
fn is_time(text: &str) -> bool {
    text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}
