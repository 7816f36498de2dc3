//! Synthesis: one participant makes one answer of all perspectives.

use quorum_core::{
    craft::Consensus,
    floor::{Floor, halt::Halt},
    model::outcome::Decision,
};

use super::{
    draft::{draft, stand_in},
    poll,
};

pub(crate) const METHOD: Consensus = Consensus {
    name: "synthesis",
    summary: "One participant makes one answer of all perspectives",
    check: |_| Vec::new(),
    calls: |_| 1,
    decide: |floor| Box::pin(decide(floor)),
};

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    let written = draft(floor).await?;
    let unwritten =
        || stand_in(floor, "nobody could write the synthesis; the last recorded answer stands in for it");
    let decision = written.map_or_else(unwritten, |it| Decision::from_synthesis(it.value, &it.participant));
    Ok(Decision { tally: poll::tally(floor), ..decision })
}
