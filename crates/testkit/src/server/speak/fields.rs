//! Checks that a JSON object has only known fields, each of its type.

use serde_json::{Map, Value};

/// The type of a field. Null is always accepted, as if the field were missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Whole,
    Flag,
    Object,
    List,
    TextOrList,
    TextOrObject,
    Any,
}

/// Known fields.
pub(super) type Fields = &'static [(&'static str, Type)];

/// A problem with an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Odd<'o> {
    /// An unknown field.
    Unknown(&'o str),
    /// A field of the wrong type.
    IllTyped(&'o str, Type, &'o Value),
}

impl Type {
    fn takes(self, value: &Value) -> bool {
        match self {
            Type::Text => value.is_string(),
            Type::Number => value.is_number(),
            Type::Whole => value.is_u64() || value.is_i64(),
            Type::Flag => value.is_boolean(),
            Type::Object => value.is_object(),
            Type::List => value.is_array(),
            Type::TextOrList => value.is_string() || value.is_array(),
            Type::TextOrObject => value.is_string() || value.is_object(),
            Type::Any => true,
        }
    }
}

/// The first field that is wrong.
pub(super) fn odd<'o>(object: &'o Map<String, Value>, fields: Fields) -> Option<Odd<'o>> {
    object.iter().find_map(|(name, value)| match fields.iter().find(|field| field.0 == name) {
        None => Some(Odd::Unknown(name)),
        Some((_, wanted)) if value.is_null() || wanted.takes(value) => None,
        Some((_, wanted)) => Some(Odd::IllTyped(name, *wanted, value)),
    })
}

/// Converts a name to camel case, for APIs that accept both spellings.
pub(super) fn in_camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut name, part| {
        let mut letters = part.chars();
        name.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// The JSON type of a value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The objects in a list; other values become empty objects.
pub(super) fn objects(list: Option<&Value>) -> impl Iterator<Item = Map<String, Value>> {
    let entries = list.and_then(Value::as_array).into_iter().flatten();
    entries.map(|it| it.as_object().cloned().unwrap_or_default())
}

/// A field's text, or an empty one.
pub(super) fn text<'o>(object: &'o Map<String, Value>, name: &str) -> &'o str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The strings of a list, or a single string as a list.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => {
            several.iter().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_known_and_of_their_type() {
        const FIELDS: Fields = &[("a", Type::Text), ("b", Type::Whole), ("c", Type::TextOrList)];
        let check = |object: &Value, expected: Option<Odd<'_>>| {
            assert_eq!(odd(object.as_object().unwrap(), FIELDS), expected, "{object}");
        };
        check(&json!({ "a": "x", "b": 1, "c": [] }), None);
        check(&json!({ "a": null }), None);
        check(&json!({ "d": 1 }), Some(Odd::Unknown("d")));
        check(&json!({ "b": 1.5 }), Some(Odd::IllTyped("b", Type::Whole, &json!(1.5))));
        assert_eq!(in_camel_case("max_output_tokens"), "maxOutputTokens");
    }
}
