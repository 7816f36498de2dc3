//! Positions and personas for the debaters (D05).

use quorum_core::call::Shape;
use serde_json::{Value, json};

use super::{super::mind::Mind, filler::filled};

/// Where the form says for whom.
const NAMES: &str = "/properties/positions/items/properties/participant/enum";

pub(super) fn casting(mind: &Mind<'_>, shape: &Shape) -> String {
    let names = shape.schema.as_deref().and_then(|it| it.pointer(NAMES)).and_then(Value::as_array);
    let Some(names) = names else { return filled(mind, shape) };
    let parts = names.iter().enumerate().map(|(place, name)| {
        let position = position(mind, name.as_str().unwrap_or_default(), place);
        json!({ "participant": name, "position": position, "persona": persona(mind, place) })
    });
    json!({ "positions": parts.collect::<Vec<_>>() }).to_string()
}

/// The side this one is on, and among several on one side a reason of its own.
fn position(mind: &Mind<'_>, name: &str, place: usize) -> String {
    let answers = &mind.question.answers;
    let side = mind.call.spec.seat(name).and_then(|it| mind.question.bound(it));
    let answer = &answers[side.unwrap_or(place) % answers.len()];
    let because = answer.because.get(place % answer.because.len().max(1));
    let because = because.map(|it| mind.fill(it, &[])).unwrap_or_default();
    format!("{}: {because}", answer.position)
}

/// Somebody who looks at it in one way above all.
fn persona(mind: &Mind<'_>, place: usize) -> String {
    let lenses = &mind.bank.lens;
    let words = lenses.get(place % lenses.len().max(1)).and_then(|it| it.words.first());
    words.map(|it| mind.fill(it, &[])).unwrap_or_else(|| mind.position().to_owned())
}
