//! Summaries of earlier turns, made once for all participants whose window is full. A summary is a
//! recorded and paid step like any other; if it fails, the talk goes on without it.

use crate::{
    floor::{
        Floor,
        ask::{Ask, Stretch},
        group::{Asked, Group},
        halt::Halt,
        seat::Seat,
        window::Overflow,
    },
    model::{
        event::{Event, Summarised, Tight},
        id::Step,
        participant::Participant,
    },
    registry::{OnOverflow, SumUp},
};

impl Group<'_, '_> {
    /// Warns of windows that are nearly full, and has the talk summarised if the strategy asks for
    /// it.
    pub(crate) async fn make_room(&mut self) -> Result<(), Halt> {
        self.floor.weigh_summary();
        let mut wanted: Option<SumUp> = None;
        for index in self.to_ask() {
            let seat = &mut self.seats[index];
            let view = seat.look(self.floor);
            let (sum_up, tight) = (view.sum_up, view.tight);
            wanted = wanted.into_iter().chain(sum_up).max_by_key(|it| it.turns);
            if let Some(percent) = tight {
                let participant = seat.name().to_owned();
                let step = Step::from("window").purpose(&participant.replace('/', ":"));
                self.floor.record.once(step, Event::WindowTight(Tight { participant, percent }));
            }
        }
        let Some(asked) = wanted.and_then(|wanted| self.floor.summary_to_ask(wanted)) else { return Ok(()) };
        Box::pin(self.sum_up(asked)).await?;
        self.floor.weigh_summary();
        self.seats.iter_mut().for_each(|seat| seat.view = None);
        Ok(())
    }

    /// Asks for the summary in a group of its own; if that group has to leave, so does this one.
    async fn sum_up(&mut self, asked: Asked) -> Result<(), Halt> {
        let mut seat = Seat::restore(self.floor, asked);
        if let Some(turn) = self.floor.reused(&seat) {
            let fact = (Some(turn.step.clone()), seat.answered(&turn, self.floor.moment()));
            return Ok(self.floor.record.append(vec![fact]).await?);
        }
        let wanted = seat.worst_case(self.floor);
        // The talk goes on without a summary that the budget has no room for.
        if self.floor.ledger.reserve(wanted).is_err() {
            return Ok(());
        }
        let queued = seat.queue_first(wanted, self.floor.services.clock.now());
        let mut summing = Group::of(self.floor, vec![seat], self.key.clone(), &|_| false);
        summing.queue(0, queued);
        summing.run().await
    }
}

impl Floor {
    /// The question for this summary, unless it is too late or too early for one.
    fn summary_to_ask(&self, wanted: SumUp) -> Option<Asked> {
        let from = self.summary().map_or(0, |it| it.covers as usize);
        // While deciding, calls are kept for the decision. A failed summary is retried once as many
        // turns again have been added.
        let failed = self.summaries_so_far().next().filter(|it| it.turn.is_none());
        let not_before = failed.map_or(0, |it| 2 * it.covers as usize - from);
        if !self.now.is_talking() || wanted.turns <= from || wanted.turns < not_before {
            return None;
        }
        let spec = &self.record.state.spec;
        let registry = &self.services.registry;
        let sums_up = || registry.strategies().iter().copied().find(|it| it.overflow == OnOverflow::SumsUp);
        let strategy = registry.strategy(&spec.window.strategy).or_else(sums_up)?;
        let most = u32::try_from(wanted.most).unwrap_or(u32::MAX);
        let stretch = Some(Stretch { from, to: wanted.turns });
        let ask = Ask { stretch, ..(strategy.words)(spec, most).max_tokens(most) };
        Some(Asked::new(&self.summariser()?, Step::summary(wanted.turns), ask))
    }

    /// The present model with the largest window; the first of several.
    fn summariser(&self) -> Option<Participant> {
        let spec = &self.record.state.spec;
        let models = self.seats(&spec.participants).filter(|it| !it.is_person());
        let voiced = models.filter_map(|it| Some((it, self.services.voices.voice(spec, it)?.window)));
        let first_largest = voiced.reduce(|best, next| if next.1 > best.1 { next } else { best });
        first_largest.map(|it| it.0.clone())
    }
}

impl Stretch {
    /// The fact of a summary that was tried after this many turns.
    pub(crate) fn tried(self, heard: u32) -> Summarised {
        Summarised { covers: self.to as u32, heard, turn: None }
    }
}

impl Seat {
    /// Whether its request was too long and it waits for a summary.
    pub(crate) fn wants_summary(&self, floor: &Floor) -> bool {
        self.is_fresh() && self.may_shrink() && floor.overflow() == Overflow::SumUp
    }
}
