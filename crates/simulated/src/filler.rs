//! Replies to forms without a sample: every key that the schema requires, with a value that
//! satisfies its part of the schema.

use quorum_core::call::Shape;
use serde_json::{Map, Number, Value};

use crate::mind::Mind;

/// The maximum depth to which a schema is followed.
const DEEPEST: u32 = 8;

/// The longest list and the longest text that a schema gets.
const LONGEST: u64 = 1_000;

pub(super) fn filled(mind: &Mind<'_>, shape: &Shape) -> String {
    completed(mind, Value::Object(Map::new()), shape.schema.as_deref()).to_string()
}

/// The value, completed with everything else that the schema requires; a new one for `null`.
pub(super) fn completed(mind: &Mind<'_>, value: Value, schema: Option<&Value>) -> Value {
    let Some(schema) = schema else { return value };
    let filler = Filler { mind, root: schema };
    match value {
        Value::Null => filler.invented(&Place { key: "answer", number: 0, depth: 0 }, schema),
        value => filler.complete(value, schema, 0),
    }
}

struct Filler<'f> {
    mind: &'f Mind<'f>,
    /// The whole schema, for references into it.
    root: &'f Value,
}

/// What a value is invented for: the number of an item in the list under this key.
struct Place<'p> {
    key: &'p str,
    number: u64,
    depth: u32,
}

impl<'f> Filler<'f> {
    fn complete(&self, value: Value, schema: &'f Value, depth: u32) -> Value {
        match value {
            Value::Object(object) => Value::Object(self.object(object, schema, depth)),
            Value::Array(items) => {
                let parts = self.parts(schema, depth);
                let wanted = word(&parts, "items").unwrap_or(&Value::Null);
                Value::Array(items.into_iter().map(|it| self.complete(it, wanted, depth + 1)).collect())
            }
            plain => plain,
        }
    }

    fn object(&self, mut object: Map<String, Value>, schema: &'f Value, depth: u32) -> Map<String, Value> {
        let parts = self.parts(schema, depth);
        for key in parts.iter().flat_map(|it| required(it)) {
            let property = |part: &&'f Value| part.get("properties")?.get(key);
            let Some(wanted) = parts.iter().find_map(property) else { continue };
            let had = object.get_mut(key).map(Value::take);
            let had = had.map(|had| self.complete(had, wanted, depth + 1));
            let place = Place { key, number: 0, depth: depth + 1 };
            object.insert(key.to_owned(), had.unwrap_or_else(|| self.invented(&place, wanted)));
        }
        object
    }

    /// The schema with the parts that it refers to and combines; the first of its alternatives.
    fn parts(&self, schema: &'f Value, depth: u32) -> Vec<&'f Value> {
        if depth > DEEPEST {
            return Vec::new();
        }
        let list = |word: &str| schema.get(word).and_then(Value::as_array);
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
        let target = reference.and_then(|it| self.root.pointer(it));
        let first = ["anyOf", "oneOf"].into_iter().filter_map(|word| list(word)?.first());
        let inner = target.into_iter().chain(list("allOf").into_iter().flatten()).chain(first);
        let inner: Vec<&Value> = inner.flat_map(|it| self.parts(it, depth + 1)).collect();
        std::iter::once(schema).chain(inner).collect()
    }

    /// A value that satisfies the schema.
    fn invented(&self, place: &Place<'_>, schema: &'f Value) -> Value {
        let parts = self.parts(schema, place.depth);
        if let Some(only) = word(&parts, "const") {
            return only.clone();
        }
        if let Some(choices) = word(&parts, "enum").and_then(Value::as_array).filter(|it| !it.is_empty()) {
            return choices[place.number as usize % choices.len()].clone();
        }
        match kind(&parts) {
            _ if place.depth > DEEPEST => Value::Null,
            "object" => Value::Object(self.object(Map::new(), schema, place.depth)),
            "array" => self.list(place, &parts),
            "boolean" => Value::Bool(true),
            "integer" => Value::from(self.number(place, &parts, 1.0).round() as i64),
            "number" => Number::from_f64(self.number(place, &parts, 0.0)).map_or(Value::Null, Value::Number),
            "null" => Value::Null,
            _ => Value::String(self.text(place, &parts)),
        }
    }

    /// One item, or as many as are required.
    fn list(&self, place: &Place<'_>, parts: &[&'f Value]) -> Value {
        let Some(wanted) = word(parts, "items") else { return Value::Array(Vec::new()) };
        let count = |name: &str| word(parts, name).and_then(Value::as_u64);
        let count = count("minItems").unwrap_or(1).max(1).min(count("maxItems").unwrap_or(LONGEST));
        let item = |number: u64| Place { key: place.key, number, depth: place.depth + 1 };
        Value::Array((0..count.min(LONGEST)).map(|number| self.invented(&item(number), wanted)).collect())
    }

    /// A number within the bounds, towards the upper end, because most numbers asked for are
    /// scores. Bounds that are excluded are left by this step, or by a hundredth.
    fn number(&self, place: &Place<'_>, parts: &[&'f Value], step: f64) -> f64 {
        let bound = |name: &str| word(parts, name).and_then(Value::as_f64);
        let step = bound("multipleOf").filter(|it| *it > 0.0).unwrap_or(step);
        let margin = if step > 0.0 { step } else { 0.01 };
        let above = bound("exclusiveMinimum").map(|it| it + margin);
        let below = bound("exclusiveMaximum").map(|it| it - margin);
        let least = bound("minimum").into_iter().chain(above).reduce(f64::max);
        let most = bound("maximum").into_iter().chain(below).reduce(f64::min);
        let least = least.unwrap_or_else(|| most.map_or(0.0, |most| most.min(0.0)));
        let most = most.unwrap_or(least + 10.0);
        let share = 0.55 + 0.35 * self.mind.chance(place.key).fraction();
        let value = ((least + (most - least) * share) * 100.0).round() / 100.0 + place.number as f64 * step;
        if word(parts, "multipleOf").is_none() {
            return value;
        }
        let multiple = (value / step).floor() * step;
        if multiple < least { multiple + step } else { multiple }
    }

    fn text(&self, place: &Place<'_>, parts: &[&'f Value]) -> String {
        let length =
            |name: &str| word(parts, name).and_then(Value::as_u64).map(|it| it.min(LONGEST) as usize);
        let format = word(parts, "format").and_then(Value::as_str);
        let mut text = format.and_then(example).map_or_else(|| self.words(place.key), str::to_owned);
        if place.number > 0 {
            text = format!("{} {text}", place.number + 1);
        }
        let (count, least) = (text.chars().count(), length("minLength").unwrap_or(0));
        text.extend(std::iter::repeat_n('.', least.saturating_sub(count)));
        text.chars().take(length("maxLength").unwrap_or(usize::MAX)).collect()
    }

    fn words(&self, key: &str) -> String {
        let mind = self.mind;
        match key {
            "participant" | "name" | "speaker" => {
                mind.table.others.first().map_or(mind.label(), |it| it.name).to_owned()
            }
            "position" | "choice" | "answer" | "decision" => mind.position().to_owned(),
            _ => mind.argument(),
        }
    }
}

/// The value of a word of the schema, in the first part that has it.
fn word<'s>(parts: &[&'s Value], name: &str) -> Option<&'s Value> {
    parts.iter().find_map(|it| it.get(name))
}

/// The first type that is allowed, or the one that the other words are about.
fn kind<'s>(parts: &[&'s Value]) -> &'s str {
    let named = word(parts, "type").map(|it| it.get(0).unwrap_or(it)).and_then(Value::as_str);
    let has = |name: &str| word(parts, name).is_some();
    named.unwrap_or(match () {
        () if has("properties") => "object",
        () if has("items") => "array",
        () => "string",
    })
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// A text of a format that readers check.
fn example(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "date-time" => "2026-01-31T12:00:00Z",
        "email" => "ann@example.org",
        "uri" => "https://example.org/",
        "uuid" => "01890000-0000-7000-8000-000000000000",
        _ => return None,
    })
}
