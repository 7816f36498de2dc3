//! Checks JSON values against JSON schemas of users: the part of JSON Schema that vendors' strict
//! modes take, without regular expressions.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The largest schema, in bytes of JSON.
pub const LARGEST_SCHEMA: usize = 64 << 10;

/// How many subschemas are visited at most, in one check of a schema or of a value: references can
/// make a small schema large.
const MOST_VISITED: usize = 100_000;

/// The deepest nesting of a schema.
const DEEPEST: usize = 64;

/// Words that are checked.
const CHECKED: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

/// Words that say nothing a value could violate.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// How a schema with words that can't be checked is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownWords {
    /// It is refused.
    Refused,
    /// They are ignored.
    Ignored,
}

/// What is wrong with a schema, as a clause: `/properties/a: there is no type "text"`.
#[must_use]
pub fn complaint(schema: &Value, unknown: UnknownWords) -> Option<String> {
    if schema.to_string().len() > LARGEST_SCHEMA {
        return Some(format!("it has more than {} KiB", LARGEST_SCHEMA >> 10));
    }
    let mut survey = Survey { root: schema, unknown, visited: 0, open: BTreeSet::new() };
    survey.schema(schema, "", 0).err()
}

/// What is wrong with a value by this schema, as a clause; `None` if it satisfies it.
#[must_use]
pub fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    Check { root: schema, visited: 0 }.value(schema, value, "").err()
}

fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

struct Survey<'s> {
    root: &'s Value,
    unknown: UnknownWords,
    visited: usize,
    /// The references that are being followed.
    open: BTreeSet<&'s str>,
}

impl<'s> Survey<'s> {
    fn schema(&mut self, schema: &'s Value, at: &str, depth: usize) -> Result<(), String> {
        self.visited += 1;
        if self.visited > MOST_VISITED || depth > DEEPEST {
            return Err("it is too complex".to_owned());
        }
        let words = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(words) => words,
            _ => return Err(format!("{}: a schema is an object", place(at))),
        };
        self.known_words(words, at)?;
        self.kinds(words, at)?;
        self.reference(words, at, depth)?;
        for list in ["anyOf", "oneOf", "allOf"] {
            let Some(given) = words.get(list) else { continue };
            let Some(ways) = given.as_array().filter(|it| !it.is_empty()) else {
                return Err(format!("{}: {list} is a list of schemas", place(at)));
            };
            for (index, way) in ways.iter().enumerate() {
                self.schema(way, &format!("{at}/{list}/{index}"), depth + 1)?;
            }
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(schema) = words.get(inner) {
                self.schema(schema, &format!("{at}/{inner}"), depth + 1)?;
            }
        }
        self.properties(words, at, depth)
    }

    fn known_words(&self, words: &Map<String, Value>, at: &str) -> Result<(), String> {
        let is_known = |word: &str| CHECKED.contains(&word) || ANNOTATIONS.contains(&word);
        match words.keys().find(|word| !is_known(word)) {
            Some(word) if self.unknown == UnknownWords::Refused => {
                Err(format!("{}: `{word}` is not supported", place(at)))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn kinds(&self, words: &Map<String, Value>, at: &str) -> Result<(), String> {
        for kind in words.get("type").map(listed).unwrap_or_default() {
            if !kind.as_str().is_some_and(|it| TYPES.contains(&it)) {
                return Err(format!("{}: there is no type {kind}", place(at)));
            }
        }
        if words.get("enum").is_some_and(|it| !it.is_array()) {
            return Err(format!("{}: enum is a list", place(at)));
        }
        let required = words.get("required");
        if required.is_some_and(|it| !it.as_array().is_some_and(|it| it.iter().all(Value::is_string))) {
            return Err(format!("{}: required is a list of names", place(at)));
        }
        let is_count = |word: &&&str| words.get(**word).is_some_and(|it| !it.is_number());
        match NUMBERS.iter().find(is_count) {
            Some(word) => Err(format!("{}: {word} is a number", place(at))),
            None => Ok(()),
        }
    }

    fn reference(&mut self, words: &'s Map<String, Value>, at: &str, depth: usize) -> Result<(), String> {
        let Some(given) = words.get("$ref") else { return Ok(()) };
        let found = given.as_str().and_then(|it| Some((it, resolve(self.root, it)?)));
        let Some((reference, target)) = found else {
            return Err(format!("{}: $ref leads nowhere", place(at)));
        };
        if !self.open.insert(reference) {
            return Err(format!("{}: recursive schemas are not supported", place(at)));
        }
        self.schema(target, reference, depth + 1)?;
        self.open.remove(reference);
        Ok(())
    }

    fn properties(&mut self, words: &'s Map<String, Value>, at: &str, depth: usize) -> Result<(), String> {
        let Some(given) = words.get("properties") else { return Ok(()) };
        let Some(properties) = given.as_object() else {
            return Err(format!("{}: properties is an object", place(at)));
        };
        for (name, schema) in properties {
            self.schema(schema, &format!("{at}/properties/{name}"), depth + 1)?;
        }
        Ok(())
    }
}

/// Words whose value is a number.
const NUMBERS: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
];

fn listed(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |it| it.iter().collect())
}

fn place(at: &str) -> &str {
    if at.is_empty() { "/" } else { at }
}

struct Check<'s> {
    root: &'s Value,
    visited: usize,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        self.visited += 1;
        if self.visited > MOST_VISITED {
            return Err("it takes too long to check".to_owned());
        }
        let words = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(words) => words,
            _ => return Err(format!("{} is not allowed", place(at))),
        };
        if let Some(target) = words.get("$ref").and_then(Value::as_str) {
            let target = resolve(self.root, target).ok_or_else(|| format!("there is no {target}"))?;
            self.value(target, value, at)?;
        }
        plain(words, value, at)?;
        self.combined(words, value, at)?;
        match value {
            Value::Object(object) => self.object(words, object, at),
            Value::Array(items) => self.items(words, items, at),
            _ => Ok(()),
        }
    }

    fn combined(&mut self, words: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
        let ways = |word: &str| words.get(word).and_then(Value::as_array);
        for way in ways("allOf").into_iter().flatten() {
            self.value(way, value, at)?;
        }
        for (word, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(ways) = ways(word) else { continue };
            let (mut fitting, mut wrong) = (0, String::new());
            for way in ways {
                match self.value(way, value, at) {
                    Ok(()) => fitting += 1,
                    Err(error) => wrong = error,
                }
            }
            if fitting == 0 {
                return Err(wrong);
            }
            if fitting > most {
                return Err(format!("{} satisfies more than one alternative of {word}", place(at)));
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        words: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        let required = words.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !object.contains_key(name) {
                return Err(format!("{at}/{name} is missing"));
            }
        }
        let properties = words.get("properties").and_then(Value::as_object);
        for (name, value) in object {
            let at = format!("{at}/{name}");
            match properties.and_then(|it| it.get(name)) {
                Some(schema) => self.value(schema, value, &at)?,
                None => {
                    if let Some(others) = words.get("additionalProperties") {
                        self.value(others, value, &at)?;
                    }
                }
            }
        }
        within(words, "Properties", object.len(), at)
    }

    fn items(&mut self, words: &Map<String, Value>, items: &[Value], at: &str) -> Result<(), String> {
        if let Some(schema) = words.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(schema, item, &format!("{at}/{index}"))?;
            }
        }
        let is_unique = words.get("uniqueItems") == Some(&Value::Bool(true));
        let mut before = BTreeSet::new();
        if is_unique && !items.iter().all(|it| before.insert(it.to_string())) {
            return Err(format!("{} has an item twice", place(at)));
        }
        within(words, "Items", items.len(), at)
    }
}

/// Checks what a value is, without its parts.
fn plain(words: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let kinds = words.get("type").map(listed).unwrap_or_default();
    if !kinds.is_empty() && !kinds.iter().filter_map(|it| it.as_str()).any(|kind| is_of(kind, value)) {
        let kinds: Vec<&str> = kinds.iter().filter_map(|it| it.as_str()).collect();
        return Err(format!("{} is not of the type {}", place(at), kinds.join(" or ")));
    }
    let is_listed = |list: &Vec<Value>| list.iter().any(|it| is_same(it, value));
    if words.get("enum").and_then(Value::as_array).is_some_and(|list| !is_listed(list)) {
        return Err(format!("{} is none of the allowed values", place(at)));
    }
    if words.get("const").is_some_and(|it| !is_same(it, value)) {
        return Err(format!("{} is not the only allowed value", place(at)));
    }
    match value {
        Value::String(text) => within(words, "Length", text.chars().count(), at),
        Value::Number(number) => number.as_f64().map_or(Ok(()), |it| number_within(words, it, at)),
        _ => Ok(()),
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|it| Some(it) == other.as_f64())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => false,
    }
}

/// Checks `min…` and `max…` of a count.
fn within(words: &Map<String, Value>, of: &str, count: usize, at: &str) -> Result<(), String> {
    let bound = |name: &str| words.get(&format!("{name}{of}")).and_then(Value::as_f64);
    let count = count as f64;
    if bound("min").is_some_and(|least| count < least) || bound("max").is_some_and(|most| most < count) {
        return Err(format!("{} is too short or too long", place(at)));
    }
    Ok(())
}

fn number_within(words: &Map<String, Value>, number: f64, at: &str) -> Result<(), String> {
    let bound = |name: &str| words.get(name).and_then(Value::as_f64);
    let is_out = bound("minimum").is_some_and(|it| number < it)
        || bound("maximum").is_some_and(|it| it < number)
        || bound("exclusiveMinimum").is_some_and(|it| number <= it)
        || bound("exclusiveMaximum").is_some_and(|it| it <= number);
    if is_out {
        return Err(format!("{} is out of its range", place(at)));
    }
    let is_multiple = |it: f64| {
        let times = number / it;
        (times - times.round()).abs() < 1e-9
    };
    if bound("multipleOf").is_some_and(|it| it != 0.0 && !is_multiple(it)) {
        return Err(format!("{} is not a multiple of the given number", place(at)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_checked_against_each_word() {
        let check = |schema: Value, good: &[Value], bad: &[Value]| {
            assert_eq!(complaint(&schema, UnknownWords::Refused), None, "{schema}");
            good.iter().for_each(|it| assert_eq!(mismatch(&schema, it), None, "{schema} {it}"));
            bad.iter().for_each(|it| assert!(mismatch(&schema, it).is_some(), "{schema} {it}"));
        };
        check(json!({ "type": "integer" }), &[json!(1), json!(2.0)], &[json!(1.5), json!("1"), json!(null)]);
        check(json!({ "type": ["string", "null"] }), &[json!("a"), json!(null)], &[json!(1)]);
        check(json!({ "enum": ["a", 1] }), &[json!("a"), json!(1.0)], &[json!("b")]);
        check(json!({ "const": 3 }), &[json!(3)], &[json!(4)]);
        check(json!({ "minLength": 2, "maxLength": 3 }), &[json!("äö")], &[json!("a"), json!("abcd")]);
        check(
            json!({ "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.1 }),
            &[json!(0), json!(0.3)],
            &[json!(-1), json!(1), json!(0.25)],
        );
        check(
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
                "additionalProperties": false }),
            &[json!({ "a": "" })],
            &[json!({}), json!({ "a": 1 }), json!({ "a": "", "b": 1 }), json!([])],
        );
        check(
            json!({ "type": "array", "items": { "$ref": "#/$defs/n" }, "minItems": 1, "uniqueItems": true,
                "$defs": { "n": { "type": "number" } } }),
            &[json!([1, 2])],
            &[json!([]), json!([1, 1]), json!(["a"])],
        );
        check(
            json!({ "anyOf": [{ "type": "string" }, { "type": "number", "minimum": 3 }] }),
            &[json!("a"), json!(3)],
            &[json!(2), json!(null)],
        );
        check(json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 2 }] }), &[json!(1)], &[json!(3), json!(0)]);
        check(json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }), &[json!(1)], &[json!(3)]);
    }

    #[test]
    fn an_invalid_schema_is_refused() {
        let check = |schema: Value, expected: &str| {
            assert_eq!(complaint(&schema, UnknownWords::Refused).as_deref(), Some(expected), "{schema}");
        };
        check(json!("object"), "/: a schema is an object");
        check(json!({ "type": "text" }), "/: there is no type \"text\"");
        check(json!({ "properties": { "a": 1 } }), "/properties/a: a schema is an object");
        check(json!({ "properties": [] }), "/: properties is an object");
        check(json!({ "required": "a" }), "/: required is a list of names");
        check(json!({ "anyOf": [] }), "/: anyOf is a list of schemas");
        check(json!({ "minimum": "1" }), "/: minimum is a number");
        check(json!({ "$ref": "#/$defs/x" }), "/: $ref leads nowhere");
        check(json!({ "$ref": "#" }), "#: recursive schemas are not supported");
        check(json!({ "pattern": "a+" }), "/: `pattern` is not supported");
        check(json!({ "description": "a".repeat(LARGEST_SCHEMA) }), "it has more than 64 KiB");
        assert_eq!(complaint(&json!({ "pattern": "a+" }), UnknownWords::Ignored), None);
    }

    #[test]
    fn references_that_double_at_each_step_are_refused_in_time() {
        let step = |n: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
            (n.to_string(), json!({ "anyOf": [next, next] }))
        };
        let mut defs: Map<String, Value> = (0..30).map(step).collect();
        defs.insert("30".to_owned(), json!({ "type": "null" }));
        let schema = json!({ "$ref": "#/$defs/0", "$defs": defs });
        assert_eq!(complaint(&schema, UnknownWords::Refused).as_deref(), Some("it is too complex"));
        assert!(mismatch(&schema, &json!(1)).is_some());
    }
}
