//! Round-robin: participants speak in seating order, each having heard everyone before
//! (INV-DISC-013). Another one opens each round.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::Pattern,
};

use crate::{pattern::two_speakers, prompts::talk};

const SPEAKING: Phase = Phase("speaking");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "round-robin",
    summary: "Each in turn, building on what was said",
    suits: "Ideas that should grow from one voice to the next",
    sketch: &["1", "2", "3", "1", "2", "3", "*"],
    phases: PhaseTable { first: &[SPEAKING], next: &[(SPEAKING, &[SPEAKING])] },
    check: two_speakers,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(SPEAKING, round).await?;
        for speaker in floor.present(&rotated(&spec, round)) {
            let opens = floor.transcript().last().is_none_or(|turn| turn.round < round);
            floor.ask(&speaker, talk::build_on(&spec, &speaker, round, opens)).await?;
        }
    }
    Ok(None)
}

/// The speakers in the order of this round: the next seat opens each round, so that nobody always
/// has the first word or the last.
fn rotated(spec: &Spec, round: u32) -> Vec<Participant> {
    let mut speakers = spec.speakers();
    let seats = speakers.len().max(1);
    speakers.rotate_left((round as usize - 1) % seats);
    speakers
}
