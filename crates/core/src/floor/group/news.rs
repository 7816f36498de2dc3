//! Records what arrives in a group, and starts the next actions. What an arrival means is decided
//! by [`outcome`](crate::floor::seat::outcome).

use std::{panic::resume_unwind, sync::Arc, time::Duration};

use futures::FutureExt;

use super::{
    Group,
    calls::{Arrival, Fault},
};
use crate::{
    floor::{
        halt::Halt,
        request::{Failed, Request},
        seat::{
            Seat, Stage, Sub,
            outcome::{News, Next, Situation, outcome},
        },
    },
    model::{
        event::{Event, WindUp},
        money::Spent,
        transcript::Turn,
    },
    record::Entry,
};

/// The actions to start once the facts are recorded.
enum Start {
    Call(Request),
    Queue(Duration),
    Convene(Sub),
}

/// The combined results of a batch of arrivals.
#[derive(Default)]
struct Batch {
    facts: Vec<Entry>,
    starts: Vec<(usize, Start)>,
    /// Why deliberation has to end, if it does.
    wind_up: Option<WindUp>,
    fault: Option<Fault>,
}

impl Group<'_, '_> {
    /// Takes in this arrival and all others that have arrived by now; records them in one write,
    /// then starts the next actions.
    pub(super) async fn take_in(
        &mut self,
        first: Arrival<News>,
        draining: bool,
    ) -> Result<Option<WindUp>, Halt> {
        if !self.floor.record.is_owing() {
            self.calls.settle().await;
        }
        let arrivals = self.arrived(first);
        let is_faulty = arrivals.iter().any(|(_, news)| news.is_err());
        let mut batch = Batch::default();
        for (index, news) in arrivals {
            match news {
                Ok(news) => self.advance(index, news, draining || is_faulty, &mut batch).await?,
                Err(fault) => batch.fault = Some(fault),
            }
        }
        if let Some(fault) = batch.fault {
            self.floor.record.append(batch.facts).await?;
            resume_unwind(fault);
        }
        if batch.starts.is_empty() && self.is_over() {
            // The next question is recorded right away, and these facts in the same write.
            self.floor.record.owe(batch.facts);
            return Ok(batch.wind_up);
        }
        self.calls.go_on_during(self.floor.record.append(batch.facts)).await?;
        batch.starts.into_iter().for_each(|(index, start)| self.start(index, start));
        Ok(batch.wind_up)
    }

    fn arrived(&mut self, first: Arrival<News>) -> Vec<Arrival<News>> {
        let more = std::iter::from_fn(|| self.calls.arrived());
        std::iter::once(first).chain(more).collect()
    }

    /// Applies one piece of news to its seat.
    async fn advance(
        &mut self,
        index: usize,
        news: News,
        draining: bool,
        batch: &mut Batch,
    ) -> Result<(), Halt> {
        let situation = self.situation(index, &news, draining).await?;
        let outcome = outcome(&self.seats[index], news, &situation);
        batch.facts.extend(outcome.facts);
        match self.follow(index, outcome.next, &mut batch.facts).await? {
            Ok(start) => batch.starts.extend(start.map(|it| (index, it))),
            Err(reason) => batch.wind_up = Some(reason),
        }
        Ok(())
    }

    /// The conditions for handling this news, once a failed attempt is counted and paid.
    async fn situation(&mut self, index: usize, news: &News, draining: bool) -> Result<Situation, Halt> {
        let (affordable, draw) = match news {
            News::Failed(failed) => (self.pay_failed(index, failed).await?, self.floor.services.clock.draw()),
            News::Cleared(_) | News::TurnedAway(_) | News::Answered(_) | News::Convened(..) => (false, 0),
        };
        let (moment, overflow) = (self.floor.moment(), self.floor.overflow(self.seats[index].name()));
        let patience_ms = self.patience_ms(index);
        Ok(Situation { moment, draining, overflow, affordable, patience_ms, draw })
    }

    /// Keeps back from sub-discussions what this discussion itself still needs.
    pub(super) fn keep_for_the_talk(&self) {
        let names: Vec<&str> = self.seats.iter().map(Seat::name).collect();
        let going_on = self.seats.iter().filter(|seat| matches!(seat.stage, Stage::Convening(_)));
        self.floor.keep_for_the_talk(going_on.count() as u32, &names);
    }

    /// How long this seat's provider can be waited for; `None` if the others are enough without it,
    /// or too few with it.
    fn patience_ms(&self, index: usize) -> Option<u64> {
        if self.seats[index].question.ask().stretch.is_some() {
            return None;
        }
        let is_open = |seat: &Seat| !(seat.is_settled() || seat.is_awaited() || seat.is_held());
        let others_open = self.seats.iter().enumerate().any(|(it, seat)| it != index && is_open(seat));
        let is_needed = others_open || !self.is_enough_without(|it, seat| it == index || seat.is_held());
        (is_needed && self.is_enough_without(|_, _| false)).then(|| self.floor.remaining_ms())
    }

    /// Whether enough participants are left without these seats, and those that failed.
    fn is_enough_without(&self, lost: impl Fn(usize, &Seat) -> bool) -> bool {
        let seats = self.seats.iter().enumerate();
        let lost =
            seats.filter(|(index, seat)| lost(*index, seat) || matches!(seat.stage, Stage::Settled(None)));
        let lost: Vec<&str> = lost.map(|(_, seat)| seat.name()).collect();
        self.floor.is_enough_without(&lost)
    }

    /// Gives up the seats that wait for a rate limit beyond their step's time, if waiting for them
    /// changes nothing: every other seat has ended, and the others are enough without them or too
    /// few even with them.
    pub(super) async fn give_up_held(&mut self) -> Result<(), Halt> {
        let is_open = |seat: &Seat| !(seat.is_settled() || seat.is_awaited() || seat.is_held());
        let enough_without = self.is_enough_without(|_, seat| seat.is_held());
        let too_few_with = !self.is_enough_without(|_, _| false);
        if !self.seats.iter().any(Seat::is_held)
            || self.seats.iter().any(is_open)
            || !(enough_without || too_few_with)
        {
            return Ok(());
        }
        let moment = self.floor.moment();
        let mut facts = Vec::new();
        for seat in self.seats.iter_mut().filter(|seat| seat.is_held()) {
            facts.extend(seat.give_up(&self.floor.ledger, moment));
        }
        Ok(self.calls.go_on_during(self.floor.record.append(facts)).await?)
    }

    /// Counts a failed attempt and pays for it. Reserves the same amount for another attempt, or
    /// more if that gets more room to think, and returns whether the budget allowed that.
    async fn pay_failed(&mut self, index: usize, failed: &Failed) -> Result<bool, Halt> {
        let (seat, floor) = (&mut self.seats[index], &*self.floor);
        seat.count_failure(failed);
        let same = seat.tried.reserved.unwrap_or_default();
        let broken = seat.broken(failed).map(|it| it.bill.spent()).unwrap_or_default();
        seat.settle(&floor.ledger, Spent { calls: 1, ..broken });
        let reserved = if failed.only_thoughts { seat.worst_case(floor) } else { same };
        let is_affordable = self.calls.go_on_during(self.floor.draw_and_reserve(reserved)).await?.is_ok();
        self.seats[index].tried.reserved = is_affordable.then_some(reserved);
        Ok(is_affordable)
    }

    /// Changes the seat and the ledger according to the outcome; the inner error is why
    /// deliberation has to end.
    async fn follow(
        &mut self,
        index: usize,
        next: Next,
        facts: &mut Vec<Entry>,
    ) -> Result<Result<Option<Start>, WindUp>, Halt> {
        let (seat, floor) = (&mut self.seats[index], &mut *self.floor);
        match next {
            Next::Rest => seat.stage = Stage::Fresh,
            Next::Shrink => seat.rest_unfunded(&floor.ledger),
            Next::WindUp(reason) => {
                seat.rest_unfunded(&floor.ledger);
                return Ok(Err(reason));
            }
            Next::Hold(wait_ms, failed) => {
                seat.tried.wait_for_limit(failed);
                return Ok(Ok(Some(Start::Queue(Duration::from_millis(wait_ms)))));
            }
            Next::Retry(wait_ms) => return Ok(Ok(Some(Start::Queue(Duration::from_millis(wait_ms))))),
            Next::Place(cleared) => {
                if let Some(failed) = seat.unfit(floor) {
                    // It was too long, and nothing smaller is worth sending.
                    facts.push((Some(seat.step().clone()), seat.gave_up(&failed, floor.moment())));
                    self.settle(index, None);
                    return Ok(Ok(None));
                }
                let (placed, request) = seat.place(floor, cleared);
                facts.push((Some(seat.step().clone()), Event::CallPlaced(placed)));
                return Ok(Ok(Some(Start::Call(request))));
            }
            Next::Settle(turn) => self.settle(index, turn),
            Next::Convene(sub, turn) => {
                seat.settle(&floor.ledger, turn.bill.spent());
                seat.begin_sub(sub.clone(), &turn);
                return Ok(Ok(Some(Start::Convene(sub))));
            }
            Next::Learn(topic, end) => seat.end_sub(topic, &end),
            Next::GoOn(topic, end) => {
                seat.end_sub(topic, &end);
                let wanted = seat.worst_case(floor);
                if let Err(reason) = self.calls.go_on_during(floor.draw_and_reserve(wanted)).await? {
                    return Ok(Err(reason));
                }
                seat.tried.reserved = Some(wanted);
                return Ok(Ok(Some(Start::Queue(Duration::ZERO))));
            }
        }
        Ok(Ok(None))
    }

    fn settle(&mut self, index: usize, turn: Option<Arc<Turn>>) {
        let (seat, floor) = (&mut self.seats[index], &mut *self.floor);
        let used = turn.as_ref().map(|turn| turn.bill.spent()).unwrap_or_default();
        seat.settle(&floor.ledger, used);
        floor.now.fresh += u32::from(turn.is_some() && seat.question.ask().stretch.is_none());
        seat.stage = Stage::Settled(turn);
    }

    fn start(&mut self, index: usize, start: Start) {
        match start {
            Start::Call(request) => self.calls.spawn(index, request.answer().map(News::from)),
            Start::Queue(wait) => {
                let queued = self.seats[index].queue(wait);
                self.queue(index, queued);
            }
            Start::Convene(sub) => self.convene(index, sub),
        }
    }
}
