//! Synthesis: everyone answers in parallel, then reacts to the others; a consensus method makes one
//! answer from it.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
    registry::Pattern,
};

use crate::{pattern::two_speakers, prompts::talk, readers::confidence};

const ANSWERING: Phase = Phase("answering");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "synthesis",
    summary: "Everyone answers, then reacts to the others; one answer is made from it",
    suits: "Open questions that deserve several views and one answer; a good first choice",
    sketch: &["123", "123", "*"],
    phases: PhaseTable { first: &[ANSWERING], next: &[(ANSWERING, &[ANSWERING])] },
    check: two_speakers,
    answer_in: |_, text| Some(confidence::without_statement(text)),
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(ANSWERING, round).await?;
        let speakers = floor.speakers();
        let enough = |turns: &[_]| confidence::is_enough(&spec, &confidence::stated(turns));
        floor.ask_until(&speakers, |who| talk::answer(&spec, who, round), enough).await?;
    }
    Ok(None)
}
