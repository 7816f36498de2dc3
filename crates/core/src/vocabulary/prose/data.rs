//! The text for people in a reply that is nothing but data.

use serde_json::{Map, Value};

/// Keys under which models put the text of an answer, if they don't use the one asked for.
pub(super) const TEXT_KEYS: &[&str] = &[
    "answer",
    "text",
    "response",
    "content",
    "finalAnswer",
    "final",
    "conclusion",
    "recommendation",
    "summary",
    "reply",
    "result",
    "output",
    "message",
];

/// Reads a value that may have single quotes, Python's constants or commas too many.
pub(super) fn lenient(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&as_json(text))).ok()
}

/// The text for people in data that has no other part for them; `None` if it holds none.
pub(super) fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(list) => list.iter().filter_map(text_of).collect::<Vec<_>>().join("\n\n"),
        Value::Object(object) => text_in(object)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn text_in(object: &Map<String, Value>) -> Option<String> {
    let known = TEXT_KEYS.iter().find_map(|key| object.iter().find(|(name, _)| super::is_key(name, key)));
    let mut values = object.values();
    let only = values.next().filter(|it| it.is_string() && values.next().is_none());
    match known.map(|it| it.1).or(only)? {
        number @ (Value::Number(_) | Value::Bool(_)) => Some(number.to_string()),
        value => text_of(value),
    }
}

/// The same value with JSON's quotes, constants and commas.
fn as_json(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => match letters.next() {
                Some('\'') => json.push('\''),
                Some(escaped) => json.extend(['\\', escaped]),
                None => {}
            },
            (Some(open), _) if letter == open => {
                json.push('"');
                quote = None;
            }
            (Some('\''), '"') => json.push_str("\\\""),
            (Some(_), '\n') => json.push_str("\\n"),
            (None, '"' | '\'') => {
                json.push('"');
                quote = Some(letter);
            }
            (None, '}' | ']') => {
                let kept = json.trim_end().trim_end_matches(',').len();
                json.truncate(kept);
                json.push(letter);
            }
            (Some(_) | None, _) => json.push(letter),
        }
        if quote.is_none() {
            for (python, constant) in [("True", "true"), ("False", "false"), ("None", "null")] {
                if json.ends_with(python) {
                    json.truncate(json.len() - python.len());
                    json.push_str(constant);
                }
            }
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_in_single_quotes_is_read() {
        for (text, expected) in [
            (r#"{"a": "it's"}"#, json!({ "a": "it's" })),
            (r#"{'a': 'x "y" z', 'b': True}"#, json!({ "a": "x \"y\" z", "b": true })),
            (r"{'a': 'it\'s', 'b': [None, False,],}", json!({ "a": "it's", "b": [null, false] })),
            ("{'a': \"it's\n\"}", json!({ "a": "it's\n" })),
        ] {
            assert_eq!(lenient(text), Some(expected), "{text}");
        }
        assert_eq!(lenient("{'a': True friend}"), None);
    }

    #[test]
    fn the_text_of_data_is_under_a_known_key_or_the_only_one() {
        for (data, text) in [
            (json!({ "answer": "Tabs." }), Some("Tabs.")),
            (json!({ "confidence": 0.9, "Final_Answer": "Tabs." }), Some("Tabs.")),
            (json!({ "response": { "text": ["Tabs.", "Mostly."] } }), Some("Tabs.\n\nMostly.")),
            (json!(["Tabs.", { "text": "Mostly." }]), Some("Tabs.\n\nMostly.")),
            (json!({ "indentation": "Tabs." }), Some("Tabs.")),
            (json!({ "answer": 42 }), Some("42")),
            (json!({ "indent": "tab", "width": 4 }), None),
            (json!({ "width": 4 }), None),
            (json!({ "answer": " " }), None),
            (json!([1, 2]), None),
        ] {
            assert_eq!(text_of(&data).as_deref(), text, "{data}");
        }
    }
}
