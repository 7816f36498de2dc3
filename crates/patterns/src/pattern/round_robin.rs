//! Round-robin: participants speak in seating order, each having heard everyone before
//! (INV-DISC-013).

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
    registry::Pattern,
};

use crate::{pattern::two_speakers, prompts::talk};

const SPEAKING: Phase = Phase("speaking");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "round-robin",
    summary: "Each in turn, building on what was said",
    phases: PhaseTable { first: &[SPEAKING], next: &[(SPEAKING, &[SPEAKING])] },
    check: two_speakers,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(SPEAKING, round).await?;
        for speaker in floor.speakers() {
            floor.ask(&speaker, talk::build_on(&spec, &speaker, round)).await?;
        }
    }
    Ok(None)
}
