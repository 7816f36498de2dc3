//! Size limits of a document, checked while it is read and before it is deserialized.
//!
//! A [`Shape`] is made from a JSON schema, so the lists and texts it refuses are those that the
//! schema excludes. Reading stops at a limit: everything beyond it is skipped and only counted.

use std::{collections::BTreeMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::request::limits::{LONGEST_NAME, MOST_COMPLAINTS};

/// The limit on entries of a list or object whose schema states none.
const UNDECLARED: usize = 100;

/// The depth to which schemas are followed; ours end before it.
const DEEPEST: usize = 8;

/// The size limits of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The limit on characters of a text.
    longest: Option<usize>,
    /// The limit on entries of a list or fields of an object.
    most: Option<usize>,
    item: Option<Box<Shape>>,
    fields: BTreeMap<String, Shape>,
    others: Option<Box<Shape>>,
    /// Whether the limits also apply to everything inside the value.
    inside: bool,
}

/// A key of schemas: the limits also apply to everything inside the value, however deep. For values
/// whose form is read elsewhere.
pub const LIMITS_APPLY_INSIDE: &str = "x-limits-apply-inside";

/// A value that exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// Its path: `participants[1].person`; empty for the document itself.
    pub path: String,
    /// The unit of the limit.
    pub of: Unit,
    /// The limit.
    pub most: usize,
    /// The actual number.
    pub found: usize,
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Characters of a text.
    Characters,
    /// Characters of a field name.
    NameCharacters,
    /// Entries of a list.
    Entries,
    /// Fields of an object.
    Fields,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { most, found, .. } = self;
        match self.of {
            Unit::Characters => write!(f, "may have at most {most} characters; this has {found}"),
            Unit::NameCharacters => {
                write!(f, "has a field name of {found} characters; at most {most} are allowed")
            }
            Unit::Entries => write!(f, "may have at most {most} entries; there are {found}"),
            Unit::Fields => write!(f, "may have at most {most} fields; there are {found}"),
        }
    }
}

impl Shape {
    /// The limits that a schema declares. References to other schemas are looked up in
    /// `definitions`.
    #[must_use]
    pub fn of(schema: &Value, definitions: &Value) -> Shape {
        let mut shape = Shape::unsaid();
        shape.take_in(schema, definitions, DEEPEST);
        shape
    }

    const fn unsaid() -> Shape {
        Shape { longest: None, most: None, item: None, fields: BTreeMap::new(), others: None, inside: false }
    }

    /// Adds the limits of another schema of the same value. Of alternatives, the largest counts.
    fn take_in(&mut self, schema: &Value, definitions: &Value, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
            self.take_in(&definitions[name], definitions, deeper);
        }
        for several in ["allOf", "anyOf", "oneOf"] {
            let alternatives = schema[several].as_array().into_iter().flatten();
            alternatives.for_each(|it| self.take_in(it, definitions, deeper));
        }
        let number = |key: &str| schema[key].as_u64().map(|it| it as usize);
        // `None` is less than any number.
        self.longest = self.longest.max(number("maxLength"));
        self.most = self.most.max(number("maxItems")).max(number("maxProperties"));
        self.inside |= schema[LIMITS_APPLY_INSIDE] == true;
        let within = |schema: &Value, known: Option<Box<Shape>>| {
            let mut shape = known.map_or_else(Shape::unsaid, |it| *it);
            shape.take_in(schema, definitions, deeper);
            shape
        };
        if schema["items"].is_object() {
            self.item = Some(Box::new(within(&schema["items"], self.item.take())));
        }
        if schema["additionalProperties"].is_object() {
            self.others = Some(Box::new(within(&schema["additionalProperties"], self.others.take())));
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let known = self.fields.remove(name).map(Box::new);
            self.fields.insert(name.clone(), within(field, known));
        }
    }

    /// The first few values that exceed a limit. A malformed document is checked up to the point
    /// where it breaks off; the caller that deserializes it reports the error.
    pub fn excesses<'de, D: Deserializer<'de>>(&self, document: D) -> Vec<Excess> {
        let mut found = Found::default();
        // A malformed document is refused by the caller that deserializes it.
        let _ = Walk { shape: Some(self), found: &mut found }.deserialize(document);
        found.excesses
    }
}

/// The current path, and the excesses found so far.
#[derive(Default)]
struct Found {
    path: String,
    excesses: Vec<Excess>,
}

impl Found {
    fn check(&mut self, of: Unit, most: usize, found: usize) {
        if most < found && self.excesses.len() < MOST_COMPLAINTS {
            self.excesses.push(Excess { path: self.path.clone(), of, most, found });
        }
    }
}

/// Reads a value without keeping it.
struct Walk<'w> {
    /// `None` if the schema does not describe the value.
    shape: Option<&'w Shape>,
    found: &'w mut Found,
}

impl<'w> Walk<'w> {
    /// The shape of what is inside, unless it is described itself.
    fn inside(&self) -> Option<&'w Shape> {
        self.shape.filter(|it| it.inside)
    }

    fn most(&self) -> usize {
        self.shape.and_then(|it| it.most).unwrap_or(UNDECLARED)
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let longest = self.shape.and_then(|it| it.longest).unwrap_or(LONGEST_NAME);
        // A text has no more characters than bytes, so most texts need no counting.
        if longest < text.len() {
            self.found.check(Unit::Characters, longest, text.chars().count());
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (most, item) = (self.most(), self.shape.and_then(|it| it.item.as_deref()).or(self.inside()));
        let outside = self.found.path.len();
        let mut count = 0;
        loop {
            self.found.path.push_str(&format!("[{count}]"));
            let next = match count < most {
                true => list.next_element_seed(Walk { shape: item, found: &mut *self.found })?,
                false => list.next_element::<IgnoredAny>()?.map(drop),
            };
            self.found.path.truncate(outside);
            match next {
                Some(()) => count += 1,
                None => break,
            }
        }
        self.found.check(Unit::Entries, most, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (most, inside) = (self.most(), self.inside());
        let outside = self.found.path.len();
        let mut count = 0;
        while let Some(name) = fields.next_key::<String>()? {
            count += 1;
            if most < count || LONGEST_NAME < name.len() {
                self.found.check(Unit::NameCharacters, LONGEST_NAME, name.chars().count());
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            let known = self.shape.and_then(|it| it.fields.get(&name).or(it.others.as_deref()));
            let known = known.or(inside);
            self.found.path.push_str(if outside == 0 { "" } else { "." });
            self.found.path.push_str(&name);
            fields.next_value_seed(Walk { shape: known, found: &mut *self.found })?;
            self.found.path.truncate(outside);
        }
        self.found.check(Unit::Fields, most, count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn shape() -> Shape {
        let schema = json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "topic": { "type": "string", "maxLength": 10 },
                "rounds": { "type": "integer" },
                "seats": { "oneOf": [{ "type": "null" }, { "type": "array", "maxItems": 2, "items": { "$ref": "#/x/Seat" } }] },
                "roles": { "type": "object", "maxProperties": 1, "additionalProperties": { "type": "string", "maxLength": 200 } },
            },
        });
        let definitions =
            json!({ "Seat": { "type": "object", "properties": { "person": { "maxLength": 150 } } } });
        Shape::of(&schema, &definitions)
    }

    #[track_caller]
    fn check(document: &Value, expected: &[(&str, &str)]) {
        let excesses = shape().excesses(document);
        let told = excesses.iter().map(|it| (it.path.clone(), it.to_string()));
        // The order of an object's fields depends on the features the crate is built with.
        let told: BTreeSet<(String, String)> = told.collect();
        let expected: BTreeSet<(String, String)> =
            expected.iter().map(|(path, told)| ((*path).to_owned(), (*told).to_owned())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_value_within_the_schema_is_accepted() {
        check(
            &json!({ "topic": "ä".repeat(10), "rounds": 5, "seats": [{ "person": "a".repeat(150) }] }),
            &[],
        );
        check(&json!({ "topic": null, "seats": null, "roles": { "ann": "b".repeat(200) } }), &[]);
        check(&json!("a".repeat(128)), &[]);
    }

    #[test]
    fn an_excess_is_reported_with_its_bound() {
        let entries = "may have at most 2 entries; there are 4000";
        check(
            &json!({ "topic": "a".repeat(11), "seats": vec!["a"; 4_000] }),
            &[("seats", entries), ("topic", "may have at most 10 characters; this has 11")],
        );
        let person = json!({ "seats": ["a", { "person": "a".repeat(151) }] });
        check(&person, &[("seats[1].person", "may have at most 150 characters; this has 151")]);
        check(
            &json!({ "roles": { "a": "", "b": "" } }),
            &[("roles", "may have at most 1 fields; there are 2")],
        );
        let name = "has a field name of 129 characters; at most 128 are allowed";
        check(&json!({ "a".repeat(129): 1 }), &[("", name)]);
    }

    #[test]
    fn undeclared_values_are_bounded_too() {
        let text = "may have at most 128 characters; this has 129";
        check(
            &json!({ "rounds": "5".repeat(129), "mood": ["a".repeat(129)] }),
            &[("mood[0]", text), ("rounds", text)],
        );
        check(&json!({ "mood": vec![0; 101] }), &[("mood", "may have at most 100 entries; there are 101")]);
    }

    #[test]
    fn only_the_first_few_are_listed() {
        let many: serde_json::Map<String, Value> =
            (0..90).map(|it| (format!("f{it}"), json!("a".repeat(129)))).collect();
        assert_eq!(shape().excesses(Value::Object(many)).len(), MOST_COMPLAINTS);
    }
}
