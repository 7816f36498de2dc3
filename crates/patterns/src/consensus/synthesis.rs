//! Synthesis: one participant combines all perspectives into one answer.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::outcome::Decision,
    registry::Consensus,
};

use super::{
    OPTIONS, RESULTS,
    draft::{decided, draft, fallback},
    longest, poll,
};
use crate::readers::synthesis_reader;

pub(crate) const METHOD: Consensus = Consensus {
    name: "synthesis",
    summary: "One participant combines all perspectives into one answer",
    options: OPTIONS,
    forms: &[&synthesis_reader::FORM],
    results: RESULTS,
    longest,
    decide: |floor| Box::pin(decide(floor)),
    ..Consensus::PLAIN
};

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    let written = draft(floor).await?;
    let unwritten = || {
        fallback(floor, "no participant could write the synthesis; the last recorded answer is used instead")
    };
    let decision = written.map_or_else(unwritten, decided);
    Ok(Decision { found: poll::tally_of_talk(floor), ..decision })
}
