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
    let line = spec.speakers();
    let Some(mut author) = first_to_write(floor, line, |who| talk::propose(&spec, who)).await? else {
        return Ok(None);
    };
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
        let line = from_author_on(spec.speakers(), &author);
        match first_to_write(floor, line, |who| talk::refine(&spec, who, round)).await? {
            Some(writer) => author = writer,
            None => break,
        }
    }
    Ok(None)
}

/// The first participant in line that answers. If an author fails, the next one present takes over
/// (INV-DISC-400).
async fn first_to_write(
    floor: &mut Floor,
    line: Vec<Participant>,
    ask: impl Fn(&Participant) -> Ask,
) -> Result<Option<Participant>, Halt> {
    for writer in line {
        if floor.ask(&writer, ask(&writer)).await?.is_some() {
            return Ok(Some(writer));
        }
    }
    Ok(None)
}

fn from_author_on(mut speakers: Vec<Participant>, author: &Participant) -> Vec<Participant> {
    let seat = speakers.iter().position(|it| it.name == author.name).unwrap_or_default();
    speakers.rotate_left(seat);
    speakers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inv_disc_400_the_next_in_seating_order_takes_over() {
        let table = ["ann", "bob", "cyd"].map(Participant::of);
        let line = from_author_on(table.to_vec(), &table[1]);
        let names: Vec<&str> = line.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["bob", "cyd", "ann"]);
    }
}
