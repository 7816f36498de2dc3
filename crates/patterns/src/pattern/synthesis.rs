//! Synthesis: everyone answers at once, then discusses across; a consensus method makes one answer of it.

use quorum_core::{
    craft::{Loss, Pattern},
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
};

use crate::{confidence, pattern::two_speakers, prompts::talk};

const ANSWERING: Phase = Phase("answering");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "synthesis",
    summary: "All at once, then across, then one answer made of it",
    flow: 1,
    phases: PhaseTable { first: &[ANSWERING], next: &[(ANSWERING, &[ANSWERING])] },
    check: two_speakers,
    loss: Loss::TooFewProviders,
    run: |floor| Box::pin(run(floor)),
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(ANSWERING, round).await?;
        let speakers = floor.present(&spec.speakers());
        let enough = |turns: &[_]| confidence::is_enough(&spec, &confidence::stated(turns));
        floor.ask_until(&speakers, |who| talk::answer(&spec, who, round), enough).await?;
    }
    Ok(None)
}
