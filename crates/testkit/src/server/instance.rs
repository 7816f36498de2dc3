//! Generates a value that a JSON schema allows, like a model that follows it.

use serde_json::{Map, Value, json};

use super::script::hash_of;

/// Lists that are left empty: a discussion in which everyone dissents decides nothing.
const LEFT_EMPTY: &[&str] = &["dissent", "claims", "attacked_by", "weaknesses", "areasOfDisagreement"];

/// Flags that are set: a judge that sees no point in another round ends the discussion.
const SET_TO_TRUE: &[&str] = &["shouldContinue"];

/// The maximum depth, for schemas that refer to themselves.
const MAX_DEPTH: usize = 24;

/// Generates a value. Choices and texts differ by model.
pub(super) fn of(schema: &Value, model: &str) -> Value {
    Maker { root: schema, model }.value(schema, &Place { name: "answer", subject: None, depth: 0 })
}

struct Maker<'m> {
    root: &'m Value,
    model: &'m str,
}

/// The position in the value.
#[derive(Clone, Copy)]
struct Place<'p> {
    /// The field's name.
    name: &'p str,
    /// The participant the object is about, if its list has one object per participant.
    subject: Option<&'p Value>,
    depth: usize,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, place: &Place<'_>) -> Value {
        let schema = self.resolved(schema);
        if place.depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.choice(choices, place);
        }
        if let Some(ways) = ["anyOf", "oneOf"].iter().find_map(|it| schema.get(*it)?.as_array()) {
            return ways.first().map_or(Value::Null, |way| self.value(way, place));
        }
        match type_of(schema).as_str() {
            "object" => self.object(schema, place),
            "array" => self.array(schema, place),
            "number" => number(schema),
            "integer" => json!(number(schema).as_f64().unwrap_or_default().round() as i64),
            "boolean" => json!(SET_TO_TRUE.contains(&place.name)),
            "null" => Value::Null,
            _ => self.text(schema, place),
        }
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn choice(&self, choices: &[Value], place: &Place<'_>) -> Value {
        let about = place.subject.filter(|it| choices.contains(it));
        let drawn = hash_of(self.model) % choices.len().max(1) as u64;
        about.or_else(|| choices.get(drawn as usize)).cloned().unwrap_or_default()
    }

    /// An object with its required properties only.
    fn object(&self, schema: &Value, place: &Place<'_>) -> Value {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required = schema.get("required").and_then(Value::as_array);
        let is_wanted = |name: &String| required.is_none_or(|it| it.contains(&json!(name)));
        let wanted = properties.iter().filter(|(name, _)| is_wanted(name));
        let depth = place.depth + 1;
        let made = wanted.map(|(name, schema)| {
            (name.clone(), self.value(schema, &Place { name, subject: place.subject, depth }))
        });
        Value::Object(made.collect())
    }

    /// A list with one item for each participant it can be about, else with the minimum number of
    /// items, at least one.
    fn array(&self, schema: &Value, place: &Place<'_>) -> Value {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        if least == 0 && LEFT_EMPTY.contains(&place.name) {
            return json!([]);
        }
        let any = json!({ "type": "string" });
        let items = self.resolved(schema.get("items").unwrap_or(&any));
        let subjects = items.pointer("/properties/participant/enum").and_then(Value::as_array);
        let count = subjects.map_or(least.max(1), |it| it.len() as u64).max(least);
        let count = count.min(bound("maxItems").unwrap_or(u64::MAX)) as usize;
        let made = (0..count).map(|at| {
            let subject = subjects.and_then(|it| it.get(at)).or(place.subject);
            self.value(items, &Place { name: place.name, subject, depth: place.depth + 1 })
        });
        Value::Array(made.collect())
    }

    fn text(&self, schema: &Value, place: &Place<'_>) -> Value {
        let (model, name) = (self.model, place.name);
        let subject = place.subject.and_then(Value::as_str);
        let mut text = match subject {
            Some(subject) => format!("The {name} of {subject}, as {model} sees it."),
            None => format!("The {name}, as {model} sees it."),
        };
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64).map(|it| it as usize);
        while text.chars().count() < bound("minLength").unwrap_or(0) {
            text.push_str(" And so on.");
        }
        json!(text.chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect::<String>())
    }
}

/// The type in lower case, since Google uses upper case. Of several types the last one, so that
/// nullable values are null.
fn type_of(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::Array(several)) => several.last().and_then(Value::as_str),
        Some(one) => one.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => None,
    };
    if schema.get("nullable") == Some(&json!(true)) {
        return "null".to_owned();
    }
    named.unwrap_or("string").to_lowercase()
}

/// A number at three quarters of the allowed range.
fn number(schema: &Value) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum"));
    let most = bound("maximum").or(bound("exclusiveMaximum"));
    let value = match (least, most) {
        (Some(least), Some(most)) => least + (most - least) * 0.75,
        (Some(least), None) => least + 1.0,
        (None, Some(most)) => most - 1.0,
        // Without bounds, a number within those of every known form.
        (None, None) => 0.75,
    };
    json!(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_to_its_schema() {
        let check = |schema: Value, expected: Value| assert_eq!(of(&schema, "a-1"), expected, "{schema}");
        check(json!({ "type": "number", "minimum": 0, "maximum": 10 }), json!(7.5));
        check(json!({ "type": "INTEGER", "minimum": 1, "maximum": 4 }), json!(3));
        check(json!({ "type": "string", "enum": ["x"] }), json!("x"));
        check(json!({ "type": ["object", "null"], "properties": {} }), json!(null));
        check(json!({ "type": "string", "maxLength": 10 }), json!("The answer"));
        check(json!({ "$ref": "#/$defs/a", "$defs": { "a": { "const": 7 } } }), json!(7));
        check(
            json!({ "type": "object", "properties": {
                "shouldContinue": { "type": "boolean" }, "drifting": { "type": "boolean" },
                "dissent": { "type": "array", "items": { "type": "string" } },
                "strengths": { "type": "array", "items": { "type": "string" } },
            } }),
            json!({ "shouldContinue": true, "drifting": false, "dissent": [],
                "strengths": ["The strengths, as a-1 sees it."] }),
        );
    }

    #[test]
    fn a_list_about_several_has_one_for_each() {
        let entry = json!({ "type": "object", "required": ["participant", "position"], "properties": {
            "participant": { "type": "string", "enum": ["ann", "bob"] }, "position": { "type": "string" },
            "left out": { "type": "string" },
        } });
        let expected = json!([
            { "participant": "ann", "position": "The position of ann, as a-1 sees it." },
            { "participant": "bob", "position": "The position of bob, as a-1 sees it." },
        ]);
        assert_eq!(of(&json!({ "type": "array", "items": entry }), "a-1"), expected);
    }
}
