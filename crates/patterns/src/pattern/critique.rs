//! Critique: one participant proposes, the others criticise in parallel, the author refines; for as
//! many rounds as the spec says.

use quorum_core::{
    floor::{Floor, ask::Ask, halt::Halt},
    model::{
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable},
    },
    registry::Pattern,
};

use crate::{pattern::two_speakers, prompts::talk};

const PROPOSING: Phase = Phase("proposing");
const CRITIQUING: Phase = Phase("critiquing");
const REFINING: Phase = Phase("refining");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "critique",
    summary: "One proposes, the others criticise, the author refines",
    phases: PhaseTable {
        first: &[PROPOSING],
        next: &[(PROPOSING, &[CRITIQUING]), (CRITIQUING, &[REFINING]), (REFINING, &[CRITIQUING])],
    },
    check: two_speakers,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    floor.enter(PROPOSING, 1).await?;
    let proposed = first_to_write(floor, spec.speakers(), |who| talk::propose(&spec, who)).await?;
    let Some(mut author) = proposed else { return Ok(None) };
    for round in 1..=spec.rounds {
        floor.enter(CRITIQUING, round).await?;
        let critics: Vec<Participant> =
            spec.speakers().into_iter().filter(|it| it.name != author.name).collect();
        let critiques =
            floor.ask_all(&critics, |critic| talk::criticise(&spec, critic, &author, round)).await?;
        if critiques.is_empty() {
            break;
        }
        floor.enter(REFINING, round).await?;
        match first_to_write(floor, spec.speakers(), |who| talk::refine(&spec, who, round)).await? {
            Some(writer) => author = writer,
            None => break,
        }
    }
    Ok(None)
}

/// The first speaker that answers. Everyone seated before an author has failed, so if an author
/// fails, the next in seating order takes over (INV-DISC-400).
async fn first_to_write(
    floor: &mut Floor,
    speakers: Vec<Participant>,
    ask: impl Fn(&Participant) -> Ask,
) -> Result<Option<Participant>, Halt> {
    for writer in speakers {
        if floor.ask(&writer, ask(&writer)).await?.is_some() {
            return Ok(Some(writer));
        }
    }
    Ok(None)
}
