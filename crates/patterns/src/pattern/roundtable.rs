//! Roundtable: one speaker at a time, in sequence, people among them, round after round (requirement C).

use quorum_core::{
    craft::{Loss, Pattern},
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
    },
};

use crate::{pattern::two_speakers, prompts::talk};

const SPEAKING: Phase = Phase("speaking");

/// Turns in one go; then it stays active, and the next word or resume goes on (C04).
const TURNS_IN_ONE_GO: u32 = 20;

/// What a speech ends at where the agent's own settings say nothing (C03).
const STOP: [&str; 3] = ["[", "\n\n", "Speaker:"];

pub(crate) const PATTERN: Pattern = Pattern {
    name: "roundtable",
    summary: "One at a time in a fixed order, people among them",
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
        for speaker in floor.present(&spec.participants) {
            floor.rest_after(TURNS_IN_ONE_GO)?;
            let ask = talk::at_the_table(&spec, &speaker, round).stopping_at(stop(&speaker));
            floor.ask(&speaker, ask).await?;
        }
    }
    Ok(None)
}

fn stop(speaker: &Participant) -> Vec<String> {
    speaker.stop.clone().unwrap_or_else(|| STOP.map(str::to_owned).to_vec())
}
