//! Checks the arguments of a tool against its input schema, and reports all mistakes at once.
//!
//! It knows the keywords that our input schemas use; a text's `pattern` and a list's `uniqueItems`
//! are left to the check of the request, which words them better.

use std::fmt;

use quorum::{config::nearest, model::excerpt::in_short, request::limits::MOST_COMPLAINTS};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

/// One mistake: the field, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) field: String,
    pub(crate) message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// The arguments without fields that are null, which means left out.
pub(crate) fn given(arguments: Option<Map<String, Value>>) -> Map<String, Value> {
    arguments.unwrap_or_default().into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// All mistakes in these arguments, as far as they are listed.
pub(crate) fn mistakes(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Vec<Mistake> {
    let mut found = Vec::new();
    check_fields(schema, arguments, "", &mut found);
    found.truncate(MOST_COMPLAINTS);
    found
}

fn check_fields(
    schema: &Map<String, Value>,
    fields: &Map<String, Value>,
    place: &str,
    found: &mut Vec<Mistake>,
) {
    let path = |name: &str| match place {
        "" => in_short(name),
        place => format!("{place}.{}", in_short(name)),
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|it| !fields.contains_key(*it)) {
        found.push(Mistake { field: path(name), message: "is missing".to_owned() });
    }
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let others = schema.get("additionalProperties");
    for (name, value) in fields {
        match (known.get(name), others) {
            (Some(schema), _) => check(schema, value, &path(name), found),
            (None, Some(Value::Bool(false))) => {
                found.push(Mistake { field: path(name), message: unknown(name, known) });
            }
            (None, Some(schema)) => check(schema, value, &path(name), found),
            (None, None) => {}
        }
    }
}

fn unknown(name: &str, known: &Map<String, Value>) -> String {
    match nearest(name, known.keys().map(String::as_str)) {
        Some(nearest) => format!("there is no such field; did you mean `{nearest}`?"),
        None => "there is no such field".to_owned(),
    }
}

fn check(schema: &Value, value: &Value, place: &str, found: &mut Vec<Mistake>) {
    if let Some(alternatives) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        return check_one_of(alternatives, value, place, found);
    }
    if let Some(message) = wrong_kind(schema, value).or_else(|| out_of_bounds(schema, value)) {
        return found.push(Mistake { field: place.to_owned(), message });
    }
    if let (Some(schema), Some(fields)) = (schema.as_object(), value.as_object()) {
        check_fields(schema, fields, place, found);
    }
    if schema["items"].is_object() {
        let items = value.as_array().into_iter().flatten().enumerate();
        items.for_each(|(at, item)| check(&schema["items"], item, &format!("{place}[{at}]"), found));
    }
}

/// Reports what is wrong by the alternative of the value's own kind.
fn check_one_of(alternatives: &[Value], value: &Value, place: &str, found: &mut Vec<Mistake>) {
    let mistakes = alternatives.iter().map(|schema| {
        let mut found = Vec::new();
        check(schema, value, place, &mut found);
        (wrong_kind(schema, value).is_none(), found)
    });
    let mistakes: Vec<(bool, Vec<Mistake>)> = mistakes.collect();
    if mistakes.iter().any(|(_, found)| found.is_empty()) {
        return;
    }
    let fitting = mistakes.into_iter().filter(|(is_of_kind, _)| *is_of_kind).map(|(_, found)| found);
    match fitting.min_by_key(Vec::len) {
        Some(of_kind) => found.extend(of_kind),
        None => {
            let kinds: Vec<&str> = alternatives.iter().filter_map(kind_of).map(in_words).collect();
            let message = format!("must be {}, not {}", kinds.join(" or "), what(value));
            found.push(Mistake { field: place.to_owned(), message });
        }
    }
}

fn kind_of(schema: &Value) -> Option<&str> {
    schema["type"].as_str()
}

fn in_words(kind: &str) -> &'static str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "another value",
    }
}

fn what(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => in_short(other),
    }
}

fn wrong_kind(schema: &Value, value: &Value) -> Option<String> {
    let kind = kind_of(schema)?;
    let is_right = match kind {
        "string" => value.is_string(),
        // In JSON, 3.0 is as whole as 3.
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    (!is_right).then(|| format!("must be {}, not {}", in_words(kind), what(value)))
}

fn out_of_bounds(schema: &Value, value: &Value) -> Option<String> {
    let listed = schema["enum"].as_array().filter(|names| !names.contains(value));
    if let Some(names) = listed {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let meant = value.as_str().and_then(|it| nearest(it, names.iter().copied()));
        let meant = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        return Some(format!("must be one of {}, not {}{meant}", names.join(", "), what(value)));
    }
    match value {
        Value::String(text) => text_bounds(schema, text),
        Value::Number(number) => number_bounds(schema, number),
        Value::Array(list) => {
            count_bounds(schema, ("minItems", "maxItems"), list.len()).map(|it| format!("{it} entries"))
        }
        Value::Object(fields) => count_bounds(schema, ("minProperties", "maxProperties"), fields.len())
            .map(|it| format!("{it} fields")),
        Value::Null | Value::Bool(_) => None,
    }
}

fn text_bounds(schema: &Value, text: &str) -> Option<String> {
    if schema["format"] == "uuid" && Uuid::parse_str(text).is_err() {
        return Some(format!("must be a UUID, not {}", in_short(text)));
    }
    let length = text.chars().count();
    if length == 0 && schema["minLength"].as_u64() > Some(0) {
        return Some("is empty".to_owned());
    }
    count_bounds(schema, ("minLength", "maxLength"), length).map(|it| format!("{it} characters"))
}

/// What the bounds of a length say about it, up to the unit.
fn count_bounds(schema: &Value, (least, most): (&str, &str), count: usize) -> Option<String> {
    let bound = |key: &str| schema[key].as_u64().map(|it| it as usize);
    let (least, most) = (bound(least).unwrap_or(0), bound(most));
    let is_fine = least <= count && most.is_none_or(|most| count <= most);
    let range = match most {
        Some(most) => format!("{least} to {most}"),
        None => format!("at least {least}"),
    };
    (!is_fine).then(|| format!("has {count}, and must have {range}"))
}

fn number_bounds(schema: &Value, given: &Number) -> Option<String> {
    let number = given.as_f64()?;
    let bound = |key: &str| schema[key].as_f64();
    let (least, most) = (bound("minimum"), bound("maximum"));
    let is_fine = least.is_none_or(|it| it <= number) && most.is_none_or(|it| number <= it);
    let range = match (least, most) {
        (Some(least), Some(most)) => format!("from {least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => return None,
    };
    (!is_fine).then(|| format!("must be {range}, not {}", in_short(given)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, arguments: Value, expected: &[&str]) {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else {
            panic!("objects are needed")
        };
        let found: Vec<String> = mistakes(&schema, &arguments).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    fn schema() -> Value {
        json!({
            "type": "object", "required": ["topic"], "additionalProperties": false,
            "properties": {
                "topic": { "type": "string", "minLength": 1, "maxLength": 5 },
                "rounds": { "type": "integer", "minimum": 1, "maximum": 10 },
                "pattern": { "type": "string", "enum": ["relay", "chorus"] },
                "providers": { "type": "array", "minItems": 2, "maxItems": 6, "items": { "type": "string" } },
                "seat": { "oneOf": [{ "type": "string" }, {
                    "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } },
                    "additionalProperties": false,
                }] },
                "session": { "type": "string", "format": "uuid" },
            },
        })
    }

    #[test]
    fn b10_every_mistake_is_reported_at_once() {
        check(schema(), json!({ "topic": "x?", "rounds": 3.0, "seat": { "id": "a" } }), &[]);
        check(schema(), json!({}), &["topic: is missing"]);
        check(
            schema(),
            json!({
                "topic": "", "rounds": 0, "pattern": "relai", "providers": ["a"], "seat": 3, "round": 1,
                "session": "x",
            }),
            &[
                "topic: is empty",
                "rounds: must be from 1 to 10, not 0",
                "pattern: must be one of relay, chorus, not \"relai\"; did you mean `relay`?",
                "providers: has 1, and must have 2 to 6 entries",
                "seat: must be a text or an object, not 3",
                "round: there is no such field; did you mean `rounds`?",
                "session: must be a UUID, not x",
            ],
        );
        check(
            schema(),
            json!({ "topic": 7, "rounds": "two", "providers": [1, "b"], "seat": { "ide": "a" } }),
            &[
                "topic: must be a text, not 7",
                "rounds: must be a whole number, not \"two\"",
                "providers[0]: must be a text, not 1",
                "seat.id: is missing",
                "seat.ide: there is no such field; did you mean `id`?",
            ],
        );
        check(
            schema(),
            json!({ "topic": "abcdef", "providers": ["a", "b", "c", "d", "e", "f", "g"] }),
            &[
                "topic: has 6, and must have 1 to 5 characters",
                "providers: has 7, and must have 2 to 6 entries",
            ],
        );
    }
}
