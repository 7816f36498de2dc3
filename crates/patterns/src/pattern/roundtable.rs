//! Roundtable: one speaker at a time, in a fixed order, people among them, round after round
//! (requirement C).

use std::collections::BTreeMap;

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::{Defaults, Pattern},
    vocabulary::option::Opt,
};

use crate::{pattern::two_speakers, prompts::talk, roles};

const SPEAKING: Phase = Phase("speaking");

/// How many turns run in one go. Then the run ends while the discussion stays active, and the next
/// turn or resume continues it (C04).
const TURNS_IN_ONE_GO: u32 = 20;

/// The default stop sequences (C03).
const STOP: [&str; 3] = ["[", "\n\n", "Speaker:"];

/// Stop sequences for single participants.
const STOP_SEQUENCES: Opt<BTreeMap<String, Vec<String>>> = Opt::texts_by_seat(
    "stopSequences",
    "Stop sequences for single participants, in place of the default ones",
    8,
    100,
);

pub(crate) const PATTERN: Pattern = Pattern {
    name: "roundtable",
    summary: "One at a time in a fixed order, with people taking part",
    suits: "Thinking together with the models, with a seat for yourself",
    sketch: &["1", "2", "3", "1", "2", "3", "*"],
    defaults: Defaults { rounds: 3, panel: &["claude", "gemini"], ..Defaults::PLAIN },
    options: &[&STOP_SEQUENCES],
    roles: roles::AT_A_ROUNDTABLE,
    phases: PhaseTable { first: &[SPEAKING], next: &[(SPEAKING, &[SPEAKING])] },
    check: two_speakers,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(SPEAKING, round).await?;
        for speaker in floor.present(&spec.participants) {
            floor.rest_after(TURNS_IN_ONE_GO)?;
            let ask = talk::at_the_table(&spec, &speaker, round).stopping_at(stop(&spec, &speaker));
            floor.ask(&speaker, ask).await?;
        }
    }
    Ok(None)
}

fn stop(spec: &Spec, speaker: &Participant) -> Vec<String> {
    let own = spec.option(&STOP_SEQUENCES).remove(&speaker.name);
    own.unwrap_or_else(|| STOP.map(str::to_owned).to_vec())
}
