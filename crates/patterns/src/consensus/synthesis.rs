//! Synthesis: one participant combines all perspectives into one answer. After a critique, the
//! author's last refinement is the answer.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::outcome::Decision,
    registry::Consensus,
};

use super::{
    FORMS, OPTIONS, RESULTS,
    answer_value::{self, formatted},
    counts_no_votes,
    draft::{decided, draft, fallback},
    longest, poll,
};
use crate::{
    first::{self, baseline},
    pattern::critique,
    provenance,
};

pub(crate) const METHOD: Consensus = Consensus {
    name: "synthesis",
    summary: "One participant combines all perspectives into one answer",
    options: OPTIONS,
    forms: FORMS,
    results: RESULTS,
    remarks: counts_no_votes,
    calls: |spec| 1 + answer_value::calls(spec) + baseline::calls(spec),
    longest,
    writes_answer: true,
    trace: provenance::trace,
    finish: |floor, decision| Box::pin(formatted(floor, decision)),
    opens: first::are_asked,
    open: |floor| Box::pin(first::ask(floor)),
    compare: |floor| Box::pin(baseline::draw(floor)),
    decide: |floor| Box::pin(decide(floor)),
    ..Consensus::PLAIN
};

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    if let Some(refined) = critique::answer(floor) {
        return Ok(refined);
    }
    let written = draft(floor).await?;
    let unwritten = || {
        fallback(floor, "no participant could write the synthesis; the last recorded answer is used instead")
    };
    let decision = written.map_or_else(unwritten, decided);
    Ok(Decision { found: poll::tally_of_talk(floor), ..decision })
}
