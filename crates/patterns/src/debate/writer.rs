//! What readers of a result should know about who wrote the answer of a debate.

use quorum_core::model::{participant::Participant, state::State};

use crate::{
    debate::judging,
    readers::synthesis_reader::SYNTHESIS,
    roles::{self, PROPONENT},
};

/// Says that a debater wrote the answer, and what it had argued.
pub(crate) fn remark(state: &State) -> Option<String> {
    let name = state.decision.as_ref()?.synthesizer.as_ref()?;
    let writer = state.spec.seat(name).filter(|it| roles::is_debater(it))?;
    // The last speech may stand in for an answer that nobody could write; that is told elsewhere.
    let written = state.readings.iter().any(|it| it.participant == *name && it.reading.kind == SYNTHESIS);
    written.then(|| format!("Written by {name}, who argued {}", argued(state, writer)))
}

fn argued(state: &State, writer: &Participant) -> String {
    let parts = judging::cast(state).map(|it| it.parts).unwrap_or_default();
    let part = parts.into_iter().find(|it| it.participant == writer.name);
    match part {
        Some(part) => format!("for this position: {}", part.position),
        None if writer.role == PROPONENT => "for what the question proposes.".to_owned(),
        None => "against what the question proposes.".to_owned(),
    }
}
