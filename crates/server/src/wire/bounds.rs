//! Adds the limits of fixed bodies and parameters to the OpenAPI document, each from the constant
//! that also checks it.

use std::ops::RangeInclusive;

use quorum::request::limits::{LONGEST_NAME, LONGEST_SEARCH, LONGEST_SESSION, MOST_SAID};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    routes::{self, discussions::MOST_LISTED},
    seeds,
    wire::order::LONGEST_KEY,
};

/// A text with something in it besides white space.
const NOT_BLANK: &str = r"[^\s\u0085]";

/// The schema, the field, and its limits.
pub(crate) type Field = (&'static str, &'static str, Value);

/// The limits of the fields that no pattern owns.
fn fields() -> [Field; 11] {
    [
        ("Say", "text", text(MOST_SAID)),
        ("Say", "participant", optional_name()),
        ("Say", "userId", optional_name()),
        ("Decision", "kind", name()),
        ("Decision", "choice", name()),
        ("Decision", "candidate", name()),
        ("Note", "text", text(MOST_SAID)),
        ("Message", "message", text(MOST_SAID)),
        ("Message", "userId", text(LONGEST_NAME)),
        ("Message", "organizationId", optional_name()),
        ("NewSession", "name", text(LONGEST_SESSION)),
    ]
}

/// A place in a list: a time in microseconds and an id.
const CURSOR: &str = "^(0|[1-9][0-9]{0,17})-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
const LONGEST_CURSOR: usize = 18 + 1 + 36;

/// The longest id of an event: two numbers of 64 bits and a hyphen.
const LONGEST_EVENT_ID: usize = 20 + 1 + 20;

/// The limits of the parameters, by name.
fn parameters() -> [(&'static str, Value); 7] {
    let key = json!({ "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$" });
    let limit = range(&(1..=MOST_LISTED));
    // Longer ones are names of nothing, which is a 404.
    let named = json!({ "minLength": 1, "maxLength": 2 * LONGEST_NAME });
    [
        ("Idempotency-Key", key),
        ("limit", limit),
        ("Last-Event-ID", json!({ "maxLength": LONGEST_EVENT_ID })),
        ("q", json!({ "maxLength": LONGEST_SEARCH })),
        ("cursor", json!({ "maxLength": LONGEST_CURSOR, "pattern": CURSOR })),
        ("model", named.clone()),
        ("response", named),
    ]
}

pub(crate) fn text(longest: usize) -> Value {
    json!({ "minLength": 1, "maxLength": longest, "pattern": NOT_BLANK })
}

pub(crate) fn name() -> Value {
    json!({ "minLength": 1, "maxLength": LONGEST_NAME })
}

pub(crate) fn optional_name() -> Value {
    json!({ "maxLength": LONGEST_NAME })
}

pub(crate) fn range<T: Serialize>(range: &RangeInclusive<T>) -> Value {
    json!({ "minimum": range.start(), "maximum": range.end() })
}

/// Adds the limits to the document.
pub(crate) fn declare(document: &mut Value) {
    for (schema, field, limits) in
        fields().into_iter().chain(seeds::limits()).chain(routes::workflows::limits())
    {
        add(&mut document["components"]["schemas"][schema]["properties"][field], limits);
    }
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.filter_map(|(_, methods)| methods.as_object_mut()).flatten();
    let declared = operations.filter_map(|(_, it)| it.get_mut("parameters")?.as_array_mut()).flatten();
    for parameter in declared {
        let limits = parameters().into_iter().find(|(name, _)| parameter["name"] == *name);
        if let Some((_, limits)) = limits {
            add(&mut parameter["schema"], limits);
        }
    }
}

fn add(schema: &mut Value, limits: Value) {
    if let (Value::Object(schema), Value::Object(limits)) = (schema, limits) {
        schema.extend(limits);
    }
}
