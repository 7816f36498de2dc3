//! Has one participant write the synthesis, with a fallback if none can.

use quorum_core::{
    floor::{Floor, halt::Halt, reading::Understood},
    model::{
        error::{Code, Problem},
        outcome::Decision,
        participant::Participant,
        reading::Reading,
        spec::Spec,
    },
};

use super::SYNTHESIZER;
use crate::{
    prompts::{
        deciding::{self, Writing},
        minutes_for_people,
    },
    ranking,
    readers::{Synthesis, synthesis_reader::Syntheses},
    roles,
};

/// A synthesis by the first participant that can write one: the one named in the spec, then those
/// that take no side, the strongest for the topic first. If all were cut off, the first one's
/// beginning. `None` if none could write anything.
pub(super) async fn draft(floor: &mut Floor) -> Result<Option<Understood<Synthesis>>, Halt> {
    let spec = floor.spec();
    let mut writers = ranking::strongest_first(floor.present(&spec.participants), &spec.topic);
    writers.sort_by_key(roles::writing_order);
    let named = spec.option(&SYNTHESIZER).and_then(|name| roles::named_writer(&writers, &name).cloned());
    let named = named.or_else(|| wished(&spec, &writers));
    if let Some(named) = named {
        writers.retain(|it| it.name != named.name);
        writers.insert(0, named);
    }
    let mut begun = None;
    for writer in writers {
        match write(floor, &writer, Writing::Synthesizer).await? {
            Some(written) if written.value.cut => begun = begun.or(Some(written)),
            Some(written) => return Ok(Some(written)),
            // This writer was already reminded to send a JSON value; no other participant is asked.
            None if spec.answer_schema().is_some() && !floor.present(&[writer]).is_empty() => break,
            None => {}
        }
    }
    Ok(begun)
}

/// The writer that a profile asks for, if it takes no more of a side than the first one.
fn wished(spec: &Spec, writers: &[Participant]) -> Option<Participant> {
    let wishes = spec.participants.iter().filter_map(|it| it.agent.as_ref()?.writer.as_deref());
    let first = writers.first().map(roles::writing_order);
    let equal: Vec<Participant> =
        writers.iter().filter(|it| Some(roles::writing_order(it)) == first).cloned().collect();
    wishes.into_iter().find_map(|name| ranking::named(&equal, name).cloned())
}

/// A synthesis by this participant.
pub(super) async fn write(
    floor: &mut Floor,
    writer: &Participant,
    writing: Writing,
) -> Result<Option<Understood<Synthesis>>, Halt> {
    let spec = floor.spec();
    let ask = deciding::synthesis(&spec, writer, writing, &last_readings(floor));
    floor.ask_for(writer, ask, &Syntheses::of(&spec, &writer.name)).await
}

/// The written synthesis as a decision. If it was cut off, its beginning is used, and the decision
/// has a problem that says so.
pub(super) fn decided(written: Understood<Synthesis>) -> Decision {
    let (writer, is_cut) = (written.participant, written.value.cut);
    let decision = written.value.decision(&writer);
    if !is_cut {
        return decision;
    }
    let message = format!("{writer}'s synthesis was cut off at its token limit; its beginning is used");
    let problem = Some(Problem::new(Code::SynthesisFailed, message));
    Decision { problem, degraded: true, ..decision }
}

/// Structured replies of the last round, such as votes and verdicts. They are not speeches, so the
/// transcript doesn't contain them.
fn last_readings(floor: &Floor) -> Vec<Understood<Reading>> {
    floor.readings(floor.round())
}

/// The fallback for a synthesis that nobody could write: the last recorded answer.
pub(super) fn fallback(floor: &Floor, message: &str) -> Decision {
    let spec = floor.spec();
    let is_aside = |name: &str| spec.seat(name).is_some_and(|it| it.aside);
    let mut speeches = floor.transcript().iter().rev().filter(|turn| !is_aside(&turn.participant));
    let last = speeches.find_map(|turn| Some((turn.participant.clone(), floor.answer_in(turn)?)));
    let (stand_in, spoken) = last.unzip();
    Decision {
        synthesis: spoken.unwrap_or_else(|| minutes_for_people(&last_readings(floor))),
        stand_in,
        problem: Some(Problem::new(Code::SynthesisFailed, message)),
        degraded: true,
        ..Decision::default()
    }
}
