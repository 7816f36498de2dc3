//! Summaries of earlier turns, made once for all participants whose window is full. A summary is a
//! recorded and paid step like any other; if it fails, the talk goes on without it.

use crate::{
    call::Effort,
    floor::{
        Floor,
        ask::{Ask, Stretch},
        group::{Asked, Group},
        halt::Halt,
        seat::Seat,
        share::SHORTEST,
        window::Overflow,
    },
    model::{
        event::{Event, Summarised, Tight},
        id::Step,
        participant::{Participant, Role},
    },
    registry::{OnOverflow, SumUp},
};

impl Group<'_, '_> {
    /// Warns of windows that are nearly full, and has the talk summarised if the strategy asks for
    /// it.
    pub(crate) async fn make_room(&mut self) -> Result<(), Halt> {
        self.floor.weigh_summary();
        let mut wanted: Option<SumUp> = None;
        let mut needed = false;
        for index in self.to_ask() {
            let seat = &mut self.seats[index];
            let view = seat.look(self.floor);
            let (sum_up, tight) = (view.sum_up, view.tight);
            needed |= view.unfit.is_some();
            wanted = wanted.into_iter().chain(sum_up).max_by_key(|it| it.turns);
            // A retry after a refusal warns of nothing: it may have been made without this pass.
            if let Some(percent) = tight.filter(|_| !seat.overflowed()) {
                let participant = seat.name().to_owned();
                let step = Step::from("window").purpose(&participant.replace('/', ":"));
                self.floor.record.once(step, Event::WindowTight(Tight { participant, percent }));
            }
        }
        let asked = wanted.and_then(|wanted| self.floor.summary_to_ask(wanted, needed));
        let Some(asked) = asked else { return Ok(()) };
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
        if self.floor.reserve(wanted).await?.is_err() {
            return Ok(());
        }
        let queued = seat.queue_first(wanted, self.floor.record.active_ms());
        let mut group = Group::of(self.floor, vec![seat], self.key.clone(), &|_| false);
        group.queue(0, queued);
        group.run().await
    }
}

impl Floor {
    /// The question for this summary; `None` if it is too late or too early for one, or if there is
    /// room only for a summary too short to be useful.
    fn summary_to_ask(&self, wanted: SumUp, needed: bool) -> Option<Asked> {
        let from = self.summary().map_or(0, |it| it.covers as usize);
        // While deciding, calls are kept for the decision, unless that can't be made without a
        // summary. A failed summary is retried once as many turns again have been added.
        let failed = self.summaries_so_far().next().filter(|it| it.turn.is_none());
        let not_before = failed.map_or(0, |it| 2 * it.covers as usize - from);
        let in_time = self.now.is_talking() || (needed && !self.now.closing);
        let is_worth_it = SHORTEST <= wanted.most;
        if !in_time || !is_worth_it || wanted.turns <= from || wanted.turns < not_before {
            return None;
        }
        let spec = &self.record.state.spec;
        let registry = &self.services.registry;
        let sums_up = || registry.strategies().iter().copied().find(|it| it.overflow == OnOverflow::SumsUp);
        let strategy = registry.strategy(&spec.window.strategy).or_else(sums_up)?;
        let most = u32::try_from(wanted.most).unwrap_or(u32::MAX);
        let stretch = Some(Stretch { from, to: wanted.turns });
        let ask = (strategy.words)(spec, most).max_tokens(most).effort(Effort::Low);
        let ask = Ask { stretch, ..ask };
        Some(Asked::new(&self.summariser()?, Step::summary(wanted.turns), ask))
    }

    /// The model that summarises: of those that don't speak in the talk, the one with the largest
    /// window; if there are none, of those without a role. On a tie, the first.
    fn summariser(&self) -> Option<Participant> {
        let spec = &self.record.state.spec;
        let models = || self.seats(&spec.participants).filter(|it| !it.is_person());
        let largest = |is_wanted: fn(&Participant) -> bool| {
            let wanted = models().filter(|it| is_wanted(it));
            let voiced = wanted.filter_map(|it| Some((it, self.services.voices.voice(spec, it)?.window)));
            voiced.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|it| it.0.clone())
        };
        largest(|it| it.aside).or_else(|| largest(|it| it.role == Role::SPEAKER))
    }
}

impl Stretch {
    /// The fact of a summary that was tried after this many turns.
    pub(crate) fn tried(self, heard: u32) -> Summarised {
        Summarised { covers: self.to as u32, heard, turn: None }
    }
}

impl Seat {
    /// Whether its request was too long and it waits for a summary or for people.
    pub(crate) fn waits_for_room(&self, floor: &Floor) -> bool {
        let waits = || matches!(floor.overflow(self.name()), Overflow::SumUp | Overflow::Ask);
        self.is_fresh() && self.may_shrink() && waits()
    }
}
