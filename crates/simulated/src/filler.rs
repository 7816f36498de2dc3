//! Replies to forms without a sample: every key that the schema requires, with a value of the right
//! type.

use quorum_core::call::Shape;
use serde_json::{Map, Number, Value};

use crate::mind::Mind;

/// The maximum depth to which a schema is followed.
const DEEPEST: u32 = 8;

pub(super) fn filled(mind: &Mind<'_>, shape: &Shape) -> String {
    completed(mind, Value::Object(Map::new()), shape.schema.as_deref()).to_string()
}

/// The value, completed with everything else that the schema requires.
pub(super) fn completed(mind: &Mind<'_>, value: Value, schema: Option<&Value>) -> Value {
    schema.map_or(value.clone(), |schema| complete(mind, value, schema, 0))
}

fn complete(mind: &Mind<'_>, value: Value, schema: &Value, depth: u32) -> Value {
    match value {
        Value::Object(mut object) => {
            for key in required(schema) {
                let Some(wanted) = schema.get("properties").and_then(|it| it.get(&key)) else { continue };
                let had =
                    object.get_mut(&key).map(Value::take).map(|had| complete(mind, had, wanted, depth + 1));
                object.insert(key.clone(), had.unwrap_or_else(|| invented(mind, &key, wanted, depth + 1)));
            }
            Value::Object(object)
        }
        Value::Array(items) => {
            let wanted = schema.get("items").unwrap_or(&Value::Null);
            Value::Array(items.into_iter().map(|it| complete(mind, it, wanted, depth + 1)).collect())
        }
        plain => plain,
    }
}

fn required(schema: &Value) -> Vec<String> {
    let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    keys.filter_map(|key| Some(key.as_str()?.to_owned())).collect()
}

/// A value of the type that the schema requires for this key.
fn invented(mind: &Mind<'_>, key: &str, schema: &Value, depth: u32) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|it| it.first()) {
        return first.clone();
    }
    let kind = schema.get("type").map(|it| it.get(0).unwrap_or(it)).and_then(Value::as_str);
    match kind {
        _ if depth > DEEPEST => Value::Null,
        Some("object") => complete(mind, Value::Object(Map::new()), schema, depth),
        Some("array") => {
            let item = schema.get("items").map(|it| invented(mind, key, it, depth + 1));
            Value::Array(item.into_iter().collect())
        }
        Some("boolean") => Value::Bool(true),
        Some("integer") => Value::from(middle(mind, key, schema).round() as i64),
        Some("number") => Number::from_f64(middle(mind, key, schema)).map_or(Value::Null, Value::Number),
        Some("null") => Value::Null,
        _ => Value::String(words(mind, key)),
    }
}

/// A number within the bounds, towards the upper end, because most numbers asked for are scores.
fn middle(mind: &Mind<'_>, key: &str, schema: &Value) -> f64 {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let least = bound("minimum").unwrap_or(0.0);
    let most = bound("maximum").unwrap_or(least + 10.0);
    let share = 0.55 + 0.35 * mind.chance(key).fraction();
    ((least + (most - least) * share) * 100.0).round() / 100.0
}

fn words(mind: &Mind<'_>, key: &str) -> String {
    match key {
        "participant" | "name" | "speaker" => {
            mind.table.others.first().map_or(mind.label(), |it| it.name).to_owned()
        }
        "position" | "choice" | "answer" | "decision" => mind.position().to_owned(),
        _ => mind.argument(),
    }
}
