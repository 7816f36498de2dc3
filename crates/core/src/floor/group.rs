//! A group of calls: several participants are asked at once. Only this loop records, one append at
//! a time, while the calls under way continue.

pub(crate) mod calls;
mod news;
mod unfit;
pub(crate) mod waiting;

use std::sync::Arc;

use futures::FutureExt;

use crate::{
    call::retry::Retries,
    floor::{
        Floor,
        ask::Ask,
        gate::Draining,
        group::{
            calls::Calls,
            waiting::{Happened, Listener},
        },
        halt::{Halt, Why},
        open_subs::WENT_ON,
        request::Queued,
        seat::{Seat, Stage, Sub, outcome::News},
    },
    model::{
        command::Command,
        event::{Abandoned, Event, WindUp},
        id::Step,
        money::Spent,
        participant::Participant,
        transcript::Turn,
    },
    record::failure::Failure,
};

/// One participant, its question, and the step of that question.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) who: Participant,
    pub(crate) ask: Ask,
    /// The step without the purpose of a reminder.
    pub(crate) base: Step,
    pub(crate) step: Step,
}

impl Asked {
    /// A question with the standing text of the agent in this seat, if there is one, before its
    /// system text. Here, because every question of every pattern passes.
    pub(crate) fn new(who: &Participant, step: Step, ask: Ask) -> Self {
        let ask = match &who.agent {
            Some(agent) => ask.after(&agent.standing_text(who)),
            None => ask,
        };
        let step = match ask.purpose {
            Some(purpose) => step.purpose(purpose),
            None => step,
        };
        Asked { who: who.clone(), ask, base: step.clone(), step }
    }
}

type Enough<'e> = &'e (dyn Fn(&[Arc<Turn>]) -> bool + Send + Sync);

/// Asks all of them and waits until each has answered or failed, or the answers are enough. Returns
/// the answers in the order asked.
pub(crate) async fn ask_group(
    floor: &mut Floor,
    asked: Vec<Asked>,
    enough: Enough<'_>,
) -> Result<Vec<Option<Arc<Turn>>>, Halt> {
    let Some(key) = asked.first().map(|it| it.step.clone()) else { return Ok(Vec::new()) };
    for it in &asked {
        if !floor.now.taken.insert(it.step.clone()) && !floor.now.closing {
            return Err(Failure::TakenTwice(it.step.clone()).into());
        }
    }
    let policy = floor.record.state.spec.retry.clone().map(Arc::new);
    let retried = |mut it: Asked| {
        it.ask.retries = policy.clone().map_or(it.ask.retries, Retries::Policy);
        it
    };
    let seats = asked.into_iter().map(retried).map(|it| Seat::restore(floor, it)).collect();
    Group::of(floor, seats, key, enough).run_to_end().await
}

pub(crate) struct Group<'f, 'e> {
    pub(crate) floor: &'f mut Floor,
    pub(crate) seats: Vec<Seat>,
    calls: Calls<News>,
    pub(crate) key: Step,
    pub(crate) enough: Enough<'e>,
}

impl<'f, 'e> Group<'f, 'e> {
    pub(crate) fn of(floor: &'f mut Floor, seats: Vec<Seat>, key: Step, enough: Enough<'e>) -> Self {
        Group { floor, seats, calls: Calls::default(), key, enough }
    }

    async fn run_to_end(mut self) -> Result<Vec<Option<Arc<Turn>>>, Halt> {
        if let Some(taken) = self.floor.record.group_closed(&self.key).map(<[String]>::to_vec) {
            // The answer of a participant that was dropped doesn't count, even if it came at the
            // last moment.
            let dropped = self.seats.iter_mut().filter(|seat| !taken.iter().any(|name| name == seat.name()));
            dropped.for_each(|seat| seat.stage = Stage::Fresh);
            let turns = self.leave();
            // A participant that failed before the group was closed is missing in a replay too.
            self.floor.check_enough_left(&self.key).await?;
            return Ok(turns);
        }
        if !self.floor.now.closing && self.floor.record.has_mark(&self.key.purpose("wound-up")) {
            self.leave();
            return Err(Halt::wind_up());
        }
        // Another pass for a participant whose request was too long, once the others have answered.
        while !self.is_over() {
            if let Err(halt) = self.open().await {
                self.leave();
                return Err(halt);
            }
            self.run().await?;
        }
        self.await_people().await?;
        self.close().await
    }

    /// Whether no model is left to ask. People are asked last, when all models have answered.
    fn is_over(&self) -> bool {
        self.seats.iter().all(|seat| seat.is_settled() || seat.is_awaited()) || self.is_enough()
    }

    /// Leaves if people still have to answer; a later run finds their answers in the record.
    async fn await_people(&mut self) -> Result<(), Halt> {
        if !self.seats.iter().any(Seat::is_awaited) || self.is_enough() {
            return Ok(());
        }
        if let Err(halt) = self.floor.gate(&self.key).await {
            self.leave();
            return Err(halt);
        }
        if self.seats.iter().any(|seat| seat.is_awaited() && self.floor.record.settled(seat.step()).is_some())
        {
            // A person answered just now: the record is newer than what this group began with.
            return Err(Halt::pause_cancelled());
        }
        self.reuse(Seat::is_awaited).await?;
        if !self.seats.iter().any(Seat::is_awaited) {
            return Ok(());
        }
        for seat in self.seats.iter().filter(|seat| seat.is_awaited()) {
            let awaited = Event::PersonAwaited(seat.awaited(self.floor));
            self.floor.record.once(seat.step().purpose("awaited"), awaited);
        }
        Err(Halt::awaiting())
    }

    fn is_enough(&self) -> bool {
        let turns: Vec<Arc<Turn>> = self.seats.iter().filter_map(Seat::turn).cloned().collect();
        !turns.is_empty() && (self.enough)(&turns)
    }

    /// Asks all open seats, or none: the budget needs room for all of them.
    async fn open(&mut self) -> Result<(), Halt> {
        self.floor.gate(&self.key).await?;
        self.make_room().await?;
        self.reuse(Seat::is_fresh).await?;
        self.settle_unfit().await?;
        let wanted: Vec<(usize, Spent)> = self
            .to_ask()
            .into_iter()
            .map(|index| (index, self.seats[index].worst_case(self.floor)))
            .collect();
        let mut all = Spent::default();
        wanted.iter().for_each(|(_, spent)| all += *spent);
        if let Err(short) = self.floor.reserve(all).await? {
            return Err(self.floor.wind_up(&self.key, short).await?);
        }
        self.keep_for_the_talk();
        let active_ms = self.floor.record.active_ms();
        for (index, reserved) in wanted {
            let queued = self.seats[index].queue_first(reserved, active_ms);
            self.queue(index, queued);
        }
        for (index, sub) in self.to_convene() {
            self.convene(index, sub);
        }
        Ok(())
    }

    /// Queues a request in the provider's lane.
    pub(crate) fn queue(&mut self, index: usize, queued: Queued) {
        self.calls.push(index, queued.enter().map(News::from));
    }

    fn convene(&mut self, index: usize, sub: Sub) {
        self.keep_for_the_talk();
        let held = self.floor.sub_discussion(self.seats[index].name(), &sub.step, &sub.topic);
        self.calls.push(index, held.map(|end| News::Convened(sub, end)));
    }

    /// In a fork: takes over the answers to identical questions.
    async fn reuse(&mut self, whose: fn(&Seat) -> bool) -> Result<(), Halt> {
        let mut facts = Vec::new();
        for seat in self.seats.iter_mut().filter(|seat| whose(seat)) {
            if let Some(turn) = self.floor.reused(seat) {
                facts.push((Some(turn.step.clone()), Event::TurnCompleted { turn: turn.clone() }));
                seat.stage = Stage::Settled(Some(turn));
            }
        }
        Ok(self.floor.record.append(facts).await?)
    }

    pub(crate) fn to_ask(&self) -> Vec<usize> {
        let fresh = self.seats.iter().enumerate().filter(|(_, seat)| seat.is_fresh());
        fresh.map(|(index, _)| index).collect()
    }

    /// The sub-discussions that were asked for before the process ended.
    fn to_convene(&self) -> Vec<(usize, Sub)> {
        let asked_for = |(index, seat): (usize, &Seat)| match &seat.stage {
            Stage::Convening(sub) => Some((index, sub.clone())),
            _ => None,
        };
        self.seats.iter().enumerate().filter_map(asked_for).collect()
    }

    /// Runs until the group is over; the error is why it ends early.
    pub(crate) async fn run(&mut self) -> Result<(), Halt> {
        let mut draining: Option<Draining> = None;
        let mut listener = Listener::of(self.floor);
        while !self.is_over() && !self.is_idle(draining.as_ref()) {
            self.give_up_held().await?;
            if self.is_over() {
                break;
            }
            match self.wait(&mut listener).await? {
                Happened::Command => draining = self.take_commands(draining).await?,
                Happened::Arrival(arrival) => {
                    let short = self.take_in(arrival, draining.is_some()).await?;
                    draining = draining.or(short.map(Draining::WindUp));
                }
                Happened::Deadline if self.floor.remaining_ms() > 0 => {}
                Happened::Deadline => {
                    self.take_in_arrived().await?;
                    self.abandon(Abandoned::Deadline).await?;
                    draining = Some(Draining::WindUp(WindUp::Deadline));
                }
            }
        }
        if self.is_over() || (draining.is_none() && self.seats.iter().any(|it| it.waits_for_room(self.floor)))
        {
            return Ok(());
        }
        self.give_back();
        let key = self.key.clone();
        let halt = match draining {
            Some(Draining::WindUp(reason)) => self.floor.wind_up(&key, reason).await?,
            Some(Draining::Leave) => Halt::left(),
            Some(Draining::Suspend) if self.floor.control.pending() != Some(Command::Pause) => {
                Halt::pause_cancelled()
            }
            Some(Draining::Suspend) | None => Halt::suspended(),
        };
        self.leave();
        Err(halt)
    }

    /// Handles commands while calls are under way. Only an abort drops the calls.
    async fn take_commands(&mut self, draining: Option<Draining>) -> Result<Option<Draining>, Halt> {
        match self.floor.take_commands().await {
            Ok(new) => Ok(draining.or(new)),
            Err(Halt(Why::Aborted)) => {
                self.take_in_arrived().await?;
                self.abandon(Abandoned::Aborted).await?;
                self.give_back();
                self.leave();
                Err(Halt::aborted())
            }
            // For example, the inbox can't be read. Nothing was aborted, so nothing is recorded
            // as aborted.
            Err(halt) => Err(halt),
        }
    }

    /// Records the answers that have arrived, before the calls under way are dropped.
    async fn take_in_arrived(&mut self) -> Result<(), Halt> {
        self.calls.settle().await;
        while let Some(arrival) = self.calls.arrived() {
            self.take_in(arrival, true).await?;
        }
        Ok(())
    }

    /// Whether nothing more will arrive. If nothing new may begin, only calls and sub-discussions
    /// count as under way: a request that waits in the lane has not begun.
    fn is_idle(&self, draining: Option<&Draining>) -> bool {
        let under_way = |seat: &Seat| matches!(seat.stage, Stage::Calling | Stage::Convening(_));
        if draining.is_some() { !self.seats.iter().any(under_way) } else { self.calls.is_empty() }
    }

    /// Abandons the calls under way; what was reserved for them stays spent.
    async fn abandon(&mut self, why: Abandoned) -> Result<(), Halt> {
        let mut facts = Vec::new();
        for seat in &mut self.seats {
            let abandoned = match (&seat.stage, seat.cut_off_attempt()) {
                (Stage::Calling, _) => Some((seat.tried.attempts, why)),
                (_, cut_off) => cut_off.map(|attempt| (attempt, Abandoned::Crashed)),
            };
            if let Some((attempt, why)) = abandoned {
                let (participant, written) = (seat.name().to_owned(), seat.tried.arrived.tokens());
                let abandoned = Event::CallAbandoned { attempt, participant, why, written };
                facts.push((Some(seat.step().clone()), abandoned));
            }
            if matches!(seat.stage, Stage::Calling) {
                seat.settle(&self.floor.ledger, seat.tried.reserved.unwrap_or_default());
            }
            if !seat.is_settled() {
                seat.stage = Stage::Fresh;
            }
        }
        self.calls = Calls::default();
        Ok(self.floor.record.append(facts).await?)
    }

    /// Ends the group: drops the calls that are no longer needed, and adds the answers to the talk.
    async fn close(&mut self) -> Result<Vec<Option<Arc<Turn>>>, Halt> {
        if !self.seats.iter().all(Seat::is_settled) {
            let (taken, dropped): (Vec<&Seat>, Vec<&Seat>) =
                self.seats.iter().partition(|seat| seat.is_settled());
            let names = |seats: Vec<&Seat>| seats.iter().map(|seat| seat.name().to_owned()).collect();
            let closed = Event::GroupClosed { taken: names(taken), dropped: names(dropped) };
            self.abandon(Abandoned::Enough).await?;
            self.give_back();
            self.floor.record.append(vec![(Some(self.key.purpose("closed")), closed)]).await?;
            self.floor.end_open_subs(WENT_ON).await?;
        }
        let turns = self.leave();
        self.floor.check_enough_left(&self.key).await?;
        Ok(turns)
    }

    /// Adds the answers and the failures to the state of the talk.
    fn leave(&mut self) -> Vec<Option<Arc<Turn>>> {
        let mut turns = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            match &seat.stage {
                Stage::Settled(Some(turn)) if seat.question.ask().spoken => {
                    self.floor.add_to_transcript(&seat.question.ask().public_turn(turn));
                }
                Stage::Settled(None) if seat.question.ask().stretch.is_none() => {
                    self.floor.now.out.insert(seat.name().to_owned());
                }
                _ => {}
            }
            seat.turn().into_iter().for_each(|turn| self.floor.learn_size(turn));
            turns.push(seat.turn().cloned());
        }
        turns
    }

    fn give_back(&mut self) {
        for seat in &mut self.seats {
            seat.give_back(&self.floor.ledger);
        }
    }
}
