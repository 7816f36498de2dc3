//! Synthesis: one participant makes one answer of all perspectives.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::outcome::Decision,
    registry::Consensus,
};

use super::{
    OPTIONS, RESULTS,
    draft::{draft, stand_in},
    poll,
};
use crate::readers::synthesis_reader;

pub(crate) const METHOD: Consensus = Consensus {
    name: "synthesis",
    summary: "One participant makes one answer of all perspectives",
    options: OPTIONS,
    forms: &[&synthesis_reader::FORM],
    results: RESULTS,
    decide: |floor| Box::pin(decide(floor)),
    ..Consensus::PLAIN
};

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    let written = draft(floor).await?;
    let unwritten =
        || stand_in(floor, "nobody could write the synthesis; the last recorded answer stands in for it");
    let decision = written.map_or_else(unwritten, |it| it.value.decision(&it.participant));
    Ok(Decision { found: poll::found(floor), ..decision })
}
