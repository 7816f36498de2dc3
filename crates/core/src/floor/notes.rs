//! What a pattern records besides what is said: checks, lots, parts, what was noticed. Each once, under a name of its own.

use uuid::Uuid;

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        debate::{Cast, Detection, JudgeChange, TalkEnd},
        event::{Check, Event},
        id::Step,
        participant::Participant,
        vacancy::Vacancy,
    },
};

impl Floor {
    /// Records how a dialogue's consensus check came out.
    pub async fn note_check(&mut self, check: Check) -> Result<(), Halt> {
        let step = Step::new(check.round, "consensus-check", "result");
        self.record.once(step, Event::ConsensusChecked(check));
        Ok(())
    }

    /// Draws an order by lot for something `who` is asked, and records it; a replay finds the same order. Where the voices are
    /// simulated the lot comes of their seed, so that the same seed is the same discussion.
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
                None => self.shared.clock.draw(),
            };
            order.swap(last, (lot % (last as u64 + 1)) as usize);
        }
        self.record.once(step, Event::OrderDrawn { order: order.clone() });
        order
    }

    /// Records who argues what.
    pub fn note_cast(&mut self, cast: Cast) {
        let step = self.note_step("cast");
        self.record.once(step, Event::PartsCast(cast));
    }

    /// Records what a detector noticed; the same about the same round is recorded once.
    pub fn note_detection(&mut self, found: &Detection) {
        let of = Step::new(found.round, "detected", found.participant.as_deref().unwrap_or("*"));
        let step = of.purpose(&found.detector).purpose(&found.measure);
        self.record.once(step, Event::Detected(found.clone()));
    }

    /// Records that the judge failed and what became of the seat.
    pub fn note_judge(&mut self, change: JudgeChange) {
        let step = self.seat_step(&change.from);
        self.record.once(step, Event::JudgeChanged(change));
    }

    /// What people ruled about the seat of a judge who failed. Leaves where nobody has ruled yet: a later run finds it in the record.
    pub async fn ruling(&mut self, lost: &Participant, able: &[Participant]) -> Result<JudgeChange, Halt> {
        let step = self.seat_step(&lost.name);
        if let Some(change) = self.ruled(lost) {
            return Ok(change);
        }
        if self.now.closing || self.record.has_mark(&step.purpose("wound-up")) {
            return Err(Halt::wind_up());
        }
        self.gate(&step).await?;
        // It may have been in the inbox just now.
        if let Some(change) = self.ruled(lost) {
            return Ok(change);
        }
        let (round, reason) = (self.now.round, self.record.state.why_missing(&lost.name));
        let candidates = able.iter().map(|it| it.name.clone()).collect();
        let vacancy = Vacancy { lost: lost.name.clone(), answers: step.clone(), round, reason, candidates };
        self.record.once(step.purpose("awaited"), Event::JudgeAwaited(vacancy));
        Err(Halt::awaiting())
    }

    /// Who failed is out for good, so nobody loses the seat twice.
    fn ruled(&self, lost: &Participant) -> Option<JudgeChange> {
        self.record.state.debate.judges.iter().find(|it| it.from == lost.name).cloned()
    }

    fn seat_step(&self, lost: &str) -> Step {
        self.note_step(&format!("judge after {lost}"))
    }

    /// Records why a debate ended before its last round.
    pub fn note_end(&mut self, end: TalkEnd) {
        let step = self.note_step("end");
        self.record.once(step, Event::TalkEnded(end));
    }

    fn note_step(&self, what: &str) -> Step {
        // No participant's name begins with a star, so none can be taken for a note.
        Step::new(self.now.round, self.now.phase.unwrap_or("opening"), &format!("*{what}"))
    }
}

/// A number that is the same for the same seed, step and place, and otherwise like a random one.
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
