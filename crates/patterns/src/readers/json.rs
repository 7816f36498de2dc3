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
        found = object.filter(|it| value(it, key).is_some()).or(found);
        rest = &rest[start + length..];
    }
    found
}

/// Whether the text could hold an object with this key, however it is written.
pub(crate) fn may_hold(text: &str, key: &str) -> bool {
    // A key stands in quotes, and may be spelled with escapes.
    text.contains('"') && (text.contains("\\u") || folded(text).contains(&format!("\"{}\"", folded(key))))
}

/// The object that starts here, and how many bytes to skip.
fn leading_object(text: &str) -> (Option<Object>, usize) {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(object))) => (Some(object), values.byte_offset()),
        _ => (None, 1),
    }
}

/// The value under this key, whatever the key's case, hyphens and underscores. Two spellings with
/// different values are ambiguous, so there is none.
pub(crate) fn value<'o>(object: &'o Object, key: &str) -> Option<&'o Value> {
    let key = folded(key);
    let mut found = object.iter().filter(|(name, _)| folded(name) == key).map(|it| it.1);
    let first = found.next()?;
    found.all(|it| it == first).then_some(first)
}

/// The text without case, spaces, hyphens and underscores.
pub(crate) fn folded(text: &str) -> String {
    let kept = text.chars().filter(|it| !(matches!(it, '_' | '-') || it.is_whitespace()));
    kept.flat_map(char::to_lowercase).collect()
}

/// The trimmed text under this key; a list of texts counts as their lines. `None` if it is missing
/// or blank.
pub(crate) fn text(object: &Object, key: &str) -> Option<String> {
    let text = match value(object, key)? {
        Value::String(text) => text.trim().to_owned(),
        list @ Value::Array(_) => texts_of(list)?.join("\n"),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The texts in the list under this key; other values in it are ignored.
pub(crate) fn texts(object: &Object, key: &str) -> Vec<String> {
    value(object, key).and_then(texts_of).unwrap_or_default()
}

/// The texts in a list, or a single text; `None` for any other value.
pub(crate) fn texts_of(value: &Value) -> Option<Vec<String>> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        text @ Value::String(_) => std::slice::from_ref(text),
        _ => return None,
    };
    let texts = list.iter().filter_map(|it| it.as_str().map(|text| text.trim().to_owned()));
    Some(texts.filter(|it| !it.is_empty()).collect())
}

/// The objects in the list under this key.
pub(crate) fn objects<'o>(object: &'o Object, key: &str) -> impl Iterator<Item = &'o Object> {
    value(object, key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// A number on a scale up to `best`, also as text: `7`, `7,5`, `7/10`, `70 %`.
pub(crate) fn number(value: &Value, best: f64) -> Option<f64> {
    let Some(text) = value.as_str() else { return value.as_f64() };
    let text = text.trim().replace(',', ".");
    let of = |part: &str| part.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    if let Some(percent) = text.strip_suffix('%') {
        return Some(of(percent)? * best / 100.0);
    }
    match text.split_once('/').or_else(|| text.split_once("out of")) {
        Some((part, whole)) => Some(of(part)? * best / of(whole).filter(|it| 0.0 < *it)?),
        None => of(&text),
    }
}

/// True or false, also as text.
pub(crate) fn flag(value: &Value) -> Option<bool> {
    match (value, value.as_str().map(|it| it.trim().to_lowercase()).as_deref()) {
        (Value::Bool(flag), _) => Some(*flag),
        (_, Some("true" | "yes")) => Some(true),
        (_, Some("false" | "no")) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn a_reply_without_the_key_has_no_object() {
        check("I choose a", None);
        check(r#"{"vote": "a"}"#, None);
        check(r#"{"choice": 1}"#, None);
        check(&"{".repeat(100_000), None);
        check(&"{\"a\":".repeat(20_000), None);
    }

    #[test]
    fn keys_numbers_flags_and_lists_are_read_where_they_are_plain() {
        let object = |text: &str| last_object_with(text, "shouldContinue").unwrap_or_default();
        let spelled = object(r#"{"should_continue": true, "Quality-Score": 7}"#);
        assert_eq!(value(&spelled, "qualityScore"), Some(&Value::from(7)));
        assert_eq!(value(&object(r#"{"shouldContinue": 1, "should_continue": 2}"#), "shouldContinue"), None);
        for (written, read) in [
            ("7", Some(7.0)),
            ("\"7\"", Some(7.0)),
            ("\"7,5\"", Some(7.5)),
            ("\"7/10\"", Some(7.0)),
            ("\"70 %\"", Some(7.0)),
            ("\"4 out of 5\"", Some(8.0)),
            ("\"seven\"", None),
            ("\"NaN\"", None),
            ("\"7/0\"", None),
            ("null", None),
        ] {
            let value: Value = serde_json::from_str(written).unwrap_or_default();
            assert_eq!(number(&value, 10.0), read, "{written}");
        }
        assert_eq!(
            [json!("Yes"), json!(false), json!("maybe")].each_ref().map(flag),
            [Some(true), Some(false), None]
        );
        let lists = json!({"a": ["x", 1, " "], "b": "y", "c": 3});
        let lists = lists.as_object().cloned().unwrap_or_default();
        assert_eq!(
            (texts(&lists, "a"), texts(&lists, "b"), texts(&lists, "c")),
            (vec!["x".to_owned()], vec!["y".to_owned()], Vec::new())
        );
        assert_eq!(text(&lists, "a").as_deref(), Some("x"));
    }

    #[test]
    fn a_key_is_noticed_however_it_is_written() {
        for text in [r#"{"choice": 1}"#, r#"{ "CHOICE" : 1"#, "{\"cho_ice\"", r#"{"ch\u006fice": 1}"#] {
            assert!(may_hold(text, "choice"), "{text}");
        }
        assert!(!may_hold("the choice is 'choice'", "choice"));
    }
}
