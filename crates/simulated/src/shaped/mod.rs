//! Answers with a form: one file for each kind, and a filler for those nobody wrote a file for.

mod assessment;
mod ballot;
mod casting;
mod consensus_check;
mod filler;
mod synthesis;
mod verdict;

use quorum_core::call::Shape;
use serde::Serialize;

use super::mind::Mind;

type Writer = fn(&Mind<'_>, &Shape) -> String;

/// The kinds of answer by the name of their shape.
const SHAPES: &[(&str, Writer)] = &[
    ("assessment", assessment::assessment),
    ("ballot", ballot::ballot),
    ("casting", casting::casting),
    ("consensus-check", consensus_check::consensus_check),
    ("synthesis", synthesis::synthesis),
    ("verdict", verdict::verdict),
];

/// The answer in this form.
pub(super) fn answer(mind: &Mind<'_>, shape: &Shape) -> String {
    let known = SHAPES.iter().find(|(name, _)| *name == shape.name);
    known.map_or_else(|| filler::filled(mind, shape), |(_, answer)| answer(mind, shape))
}

/// The value as JSON. A value that can't be written so would be an empty object; ours are plain structs.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}
