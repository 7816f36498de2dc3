//! Has the answer written as a JSON value, where a client asks for one and the method or the
//! pattern made it in another form: by votes, or as the last refinement.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{outcome::Decision, spec::Spec},
};

use crate::{
    prompts::deciding,
    ranking,
    readers::{
        json_value::{AnswerValues, fitting},
        synthesis_reader::SYNTHESIS,
    },
    roles,
};

/// The calls that this takes at most: one, and one stricter repetition.
pub(super) fn calls(spec: &Spec) -> u32 {
    if spec.answer_schema().is_some() { 2 } else { 0 }
}

/// The decision with its text as a JSON value. A text that nobody could make one of stays as it is,
/// and the client is told.
pub(super) async fn formatted(floor: &mut Floor, decision: Decision) -> Result<Decision, Halt> {
    let spec = floor.spec();
    let Some(values) = AnswerValues::of(&spec) else { return Ok(decision) };
    // A writer that was asked for the value in its synthesis has had its repetition.
    let was_asked = !floor.unread(floor.round(), SYNTHESIS).is_empty();
    let is_empty = decision.synthesis.trim().is_empty();
    if was_asked || is_empty {
        return Ok(decision);
    }
    if let Ok(value) = fitting(values.schema(), &decision.synthesis) {
        // Without a code fence around it.
        return Ok(Decision { synthesis: value, ..decision });
    }
    let mut writers = ranking::strongest_first(floor.present(&spec.participants), &spec.topic);
    writers.retain(|it| !it.is_person());
    writers.sort_by_key(roles::writing_order);
    for writer in writers {
        let ask = deciding::answer_value(&spec, &writer, &decision.synthesis, values.schema());
        if let Some(value) = floor.ask_for(&writer, ask, &values).await? {
            return Ok(Decision { synthesis: value.value, ..decision });
        }
        if !floor.present(std::slice::from_ref(&writer)).is_empty() {
            break;
        }
    }
    Ok(decision)
}
