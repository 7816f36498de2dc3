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

const PERSPECTIVES: Phase = Phase("perspectives");
const CROSS_DISCUSSION: Phase = Phase("cross-discussion");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "synthesis",
    summary: "All at once, then across, then one answer made of it",
    flow: 1,
    phases: PhaseTable {
        first: &[PERSPECTIVES],
        next: &[(PERSPECTIVES, &[CROSS_DISCUSSION]), (CROSS_DISCUSSION, &[CROSS_DISCUSSION])],
    },
    check: two_speakers,
    loss: Loss::TooFewProviders,
    run: |floor| Box::pin(run(floor)),
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(if round == 1 { PERSPECTIVES } else { CROSS_DISCUSSION }, round).await?;
        let speakers = floor.present(&spec.speakers());
        let enough = |turns: &[_]| confidence::is_enough(&spec, &confidence::stated(turns));
        if round == 1 {
            floor.ask_until(&speakers, |who| talk::perspective(&spec, who), enough).await?;
        } else {
            floor.ask_until(&speakers, |who| talk::cross_discuss(&spec, who, round), enough).await?;
        }
    }
    Ok(None)
}
