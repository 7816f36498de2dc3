//! Positions and personas for the debaters (D05).

use quorum_core::vocabulary::sample::Mind;
use serde_json::{Map, Value, json};

/// A JSON pointer to the debaters in the schema.
const NAMES: &str = "/properties/positions/items/properties/participant/enum";

pub(crate) fn sample(mind: &dyn Mind, schema: Option<&Value>) -> String {
    let names = schema.and_then(|it| it.pointer(NAMES)).and_then(Value::as_array);
    let Some(names) = names else { return mind.completed(Value::Object(Map::new()), schema).to_string() };
    let parts = names.iter().enumerate().map(|(place, name)| {
        let position = position(mind, name.as_str().unwrap_or_default(), place);
        json!({ "participant": name, "position": position, "persona": mind.lens(place) })
    });
    json!({ "positions": parts.collect::<Vec<_>>() }).to_string()
}

/// The side of this debater, with a different reason for each debater on the same side.
fn position(mind: &dyn Mind, name: &str, place: usize) -> String {
    let answers = mind.answers();
    let Some(answer) = answers.get(mind.bound(name).unwrap_or(place) % answers.len().max(1)) else {
        return mind.argument();
    };
    let because = answer.because.get(place % answer.because.len().max(1)).cloned().unwrap_or_default();
    format!("{}: {because}", answer.position)
}
