//! Finds the JSON in a reply: alone, in a code block, or within prose.

use serde_json::{Deserializer, Map, Value};

use crate::readers::unquoted::own_words;

/// The maximum number of opening braces that are tried, so that a reply full of them can't block
/// others.
const MOST_STARTS: usize = 1_000;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The last complete object with this key, outside quotations. The last, because models often think
/// aloud first.
pub(crate) fn last_object_with(reply: &str, key: &str) -> Option<Object> {
    let own = own_words(reply);
    let mut found = None;
    let mut rest = own.as_str();
    for _ in 0..MOST_STARTS {
        let Some(start) = rest.find('{') else { break };
        let (object, length) = leading_object(&rest[start..]);
        found = object.filter(|it| it.contains_key(key)).or(found);
        rest = &rest[start + length..];
    }
    found
}

/// The object that starts here, and how many bytes to skip.
fn leading_object(text: &str) -> (Option<Object>, usize) {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(object))) => (Some(object), values.byte_offset()),
        _ => (None, 1),
    }
}

/// The trimmed text under this key; `None` if it is missing or blank.
pub(crate) fn text(object: &Object, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The texts in the list under this key; other values are ignored.
pub(crate) fn texts(object: &Object, key: &str) -> Vec<String> {
    let list = object.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|it| it.as_str().map(|text| text.trim().to_owned())).filter(|it| !it.is_empty()).collect()
}

/// The objects in the list under this key.
pub(crate) fn objects<'o>(object: &'o Object, key: &str) -> impl Iterator<Item = &'o Object> {
    object.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Option<&str>) {
        let found = last_object_with(reply, "choice").and_then(|it| text(&it, "choice"));
        assert_eq!(found.as_deref(), expected, "{reply}");
    }

    #[test]
    fn the_last_complete_object_with_the_key_counts() {
        check(r#"{"choice": "a"}"#, Some("a"));
        check("```json\n{\"choice\": \"a\"}\n```", Some("a"));
        check(r#"First {"choice": "a"}, no: {"choice": "b"} it is {really}."#, Some("b"));
        check(r#"{"choice": "a"} {"other": 1}"#, Some("a"));
        check(r#"{"choice": "a"} and {"choice": "b""#, Some("a"));
        check(r#"{ {"choice": "a"}"#, Some("a"));
        check("{\"choice\": \"a\"}\n> {\"choice\": \"b\"}", Some("a"));
        check(r#"{"choice": "a {\"choice\": \"b\"}"}"#, Some(r#"a {"choice": "b"}"#));
        check(r#"{"choice": "ä}"}"#, Some("ä}"));
    }

    #[test]
    fn no_object_is_none() {
        check("I choose a", None);
        check(r#"{"vote": "a"}"#, None);
        check(r#"{"choice": 1}"#, None);
        check(&"{".repeat(100_000), None);
        check(&"{\"a\":".repeat(20_000), None);
    }
}
