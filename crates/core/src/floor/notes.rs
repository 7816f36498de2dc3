//! A pattern's facts besides turns: its own notes, random orders, rulings, its ending. Each is
//! recorded once, under a step of its own.

use serde::{Serialize, de::DeserializeOwned};

use uuid::Uuid;

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        error::StateInvalid,
        event::{Event, Noted, TalkEnd},
        id::Step,
        outcome::StoppingReason,
        participant::Participant,
        ruling::{AwaitedChoice, Ruled, RulingAwaited},
    },
    record::failure::Failure,
    vocabulary::ruling::{RulingChoice, RulingKind},
};

/// Takes the place of the phase in the step of a note.
const NOTED: &str = "noted";

/// The last part of the step of a note that a fork took over.
const TAKEN_OVER: &str = "taken-over";

/// A note to record, in a pattern's own terms.
pub struct Note<'n, T> {
    /// The kind of note: `cast`.
    pub kind: &'n str,
    /// Distinguishes it from other notes of its kind about the same round; may be empty.
    pub key: &'n str,
    /// The round it is about.
    pub round: u32,
    /// The value to record.
    pub value: &'n T,
    /// The same in one line for people, if it is worth one.
    pub told: Option<String>,
}

impl Floor {
    /// Records a note in the pattern's own terms. A kind and key are recorded once per round they
    /// are about, whatever the current round and phase.
    pub fn note<T: Serialize>(&mut self, note: Note<'_, T>) -> Result<(), Halt> {
        let Note { kind, key, round, value, told } = note;
        let step = step_of(kind, key, round);
        let value = serde_json::to_value(value).map_err(|error| Failure::Unwritable(error.to_string()))?;
        self.record.once(step, Event::Noted(Noted { kind: kind.to_owned(), round, value, told }));
        Ok(())
    }

    /// The note of this kind and round that the original of a fork recorded before the point of the
    /// fork, if it `fits` here. It is recorded again, so that a replay doesn't need the original.
    pub fn taken_over<T: DeserializeOwned>(
        &mut self,
        kind: &str,
        round: u32,
        fits: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let step = step_of(kind, "", round);
        let mark = step.purpose(TAKEN_OVER);
        if self.record.has_mark(&mark) {
            return self.record.state.noted(kind).last();
        }
        let noted = self.source.note(&step).or_else(|| self.source.note(&mark))?.clone();
        let value: T = noted.read(kind)?;
        fits(&value).then(|| {
            self.record.once(mark, Event::Noted(Noted { told: None, ..noted }));
            value
        })
    }

    /// Records that the talk ended by its own rules; the pattern must declare this ending.
    pub fn end(&mut self, why: &'static str, round: u32, detail: Option<String>) -> Result<(), Halt> {
        let Some(ending) = self.pattern.ending(why) else {
            let from = format!("the pattern {}", self.pattern.name);
            return Err(
                Failure::Illegal(StateInvalid { from, to: format!("the undeclared ending {why}") }).into()
            );
        };
        let stopping = StoppingReason::named(ending.stopping);
        let end = TalkEnd { round, why: why.to_owned(), detail, stopping };
        self.record.once(self.note_step("end"), Event::TalkEnded(end));
        Ok(())
    }

    /// Draws a random order for something `who` is asked, and records it; a replay finds the same
    /// order. If the voices are simulated, the order derives from their seed, so that the same seed
    /// gives the same discussion.
    pub fn draw_order(&mut self, who: &Participant, purpose: &str, count: usize) -> Vec<usize> {
        let step = self.step(who).purpose(purpose);
        if let Some(order) = self.record.state.orders.get(&step) {
            return order.clone();
        }
        let mut order: Vec<usize> = (0..count).collect();
        if let Some(known) = self.source.order(&step).filter(|it| it.len() == count).cloned() {
            self.record.once(step, Event::OrderDrawn { order: known.clone() });
            return known;
        }
        for last in (1..count).rev() {
            let lot = match &self.record.state.spec.simulation {
                Some(simulation) => lot_of(simulation.seed, &step, last),
                None => self.services.clock.draw(),
            };
            order.swap(last, (lot % (last as u64 + 1)) as usize);
        }
        self.record.once(step, Event::OrderDrawn { order: order.clone() });
        order
    }

    /// The decision of people about one participant. Ends the run if there is none yet; a later run
    /// finds it in the record. If the participant failed, its failure is the reason that people are
    /// shown; otherwise `reason` is.
    pub async fn ruling(
        &mut self,
        kind: &RulingKind,
        about: &Participant,
        reason: &str,
        candidates: &[Participant],
    ) -> Result<Ruled, Halt> {
        let step = self.note_step(&format!("{} after {}", kind.name, about.name));
        if let Some(ruled) = self.ruled(kind, about) {
            return Ok(ruled);
        }
        if self.now.closing || self.record.has_mark(&step.purpose("wound-up")) {
            return Err(Halt::wind_up());
        }
        self.gate(&step).await?;
        // The decision may have been in the inbox just now.
        if let Some(ruled) = self.ruled(kind, about) {
            return Ok(ruled);
        }
        let awaited = RulingAwaited {
            kind: kind.name.to_owned(),
            about: about.name.clone(),
            answers: step.clone(),
            round: self.now.round,
            reason: Some(self.record.state.why_missing(&about.name))
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| reason.to_owned()),
            choices: kind.choices.iter().map(AwaitedChoice::from).collect(),
            candidates: candidates.iter().map(|it| it.name.clone()).collect(),
        };
        self.record.once(step.purpose("awaited"), Event::RulingAwaited(awaited));
        Err(Halt::awaiting())
    }

    /// The recorded ruling about this participant. A participant that failed is out for good, so
    /// there is at most one.
    fn ruled(&self, kind: &RulingKind, about: &Participant) -> Option<Ruled> {
        let mut ruled = self.record.state.ruled.iter();
        ruled.find(|it| it.ruling.kind == kind.name && it.about == about.name).cloned()
    }

    fn note_step(&self, what: &str) -> Step {
        // No participant's name begins with a star, so none can be confused with a note.
        Step::new(self.now.round, self.now.phase.unwrap_or("opening"), &format!("*{what}"))
    }
}

impl From<&RulingChoice> for AwaitedChoice {
    fn from(choice: &RulingChoice) -> Self {
        AwaitedChoice { name: choice.name.to_owned(), takes_candidate: choice.takes_candidate }
    }
}

/// The step of a note.
fn step_of(kind: &str, key: &str, round: u32) -> Step {
    let name = if key.is_empty() { format!("*{kind}") } else { format!("*{kind} {key}") };
    Step::new(round, NOTED, &name)
}

/// A pseudo-random number derived from seed, step and place.
fn lot_of(seed: u64, step: &Step, place: usize) -> u64 {
    let namespace = Uuid::from_u64_pair(seed, place as u64);
    Uuid::new_v5(&namespace, step.as_str().as_bytes()).as_u64_pair().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_lot_is_the_same_for_its_seed_and_fair_over_many() {
        let lots = |seed: u64| -> Vec<u64> {
            (1..=100).map(|round| lot_of(seed, &Step::new(round, "judging", "cyd"), 1) % 2).collect()
        };
        assert_eq!(lots(7), lots(7));
        assert_ne!(lots(7), lots(8));
        assert!((35..=65).contains(&lots(7).iter().sum::<u64>()), "{:?}", lots(7));
    }
}
