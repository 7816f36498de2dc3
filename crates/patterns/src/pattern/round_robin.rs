//! Round-robin: participants speak in seating order, each having heard everyone before (INV-DISC-013).

use quorum_core::{
    craft::{Loss, Pattern},
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
};

use crate::{pattern::two_speakers, prompts::talk};

const SPEAKING: Phase = Phase("speaking");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "round-robin",
    summary: "Each in turn, building on what was said",
    flow: 1,
    phases: PhaseTable { first: &[SPEAKING], next: &[(SPEAKING, &[SPEAKING])] },
    check: two_speakers,
    loss: Loss::TooFewProviders,
    run: |floor| Box::pin(run(floor)),
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(SPEAKING, round).await?;
        for speaker in floor.present(&spec.speakers()) {
            floor.ask(&speaker, talk::build_on(&spec, &speaker, round)).await?;
        }
    }
    Ok(None)
}
