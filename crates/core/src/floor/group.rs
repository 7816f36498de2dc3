//! Asking several at once. Only this loop records, one append at a time, while the calls under way go on.

mod news;

use std::{collections::VecDeque, sync::Arc};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{sync::watch, time::sleep_until};

use crate::{
    floor::{
        Floor,
        ask::Ask,
        below::WENT_ON,
        gate::Holding,
        halt::Halt,
        seat::{Arrival, Fault, Seat, Stage},
    },
    model::{
        command::Command,
        event::{Abandoned, Event, WindUp},
        id::Step,
        money::Spent,
        participant::Participant,
        transcript::Turn,
    },
    record::{Entry, control::Control, failure::Failure},
};

/// One participant, what it is asked, and the name of that.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) who: Participant,
    pub(crate) ask: Ask,
    /// Without the purpose of a reminder.
    pub(crate) base: Step,
    pub(crate) step: Step,
}

impl Asked {
    pub(crate) fn new(who: &Participant, step: Step, ask: Ask) -> Self {
        let step = match ask.purpose {
            Some(purpose) => step.purpose(purpose),
            None => step,
        };
        Asked { who: who.clone(), ask, base: step.clone(), step }
    }
}

type Enough<'e> = &'e (dyn Fn(&[Arc<Turn>]) -> bool + Send + Sync);

/// Asks all of them and waits until all have answered or failed, or it is enough. Answers in the order asked.
pub(crate) async fn hold(
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
    let seats = asked.into_iter().map(|it| Seat::take(floor, it)).collect();
    Group::of(floor, seats, key, enough).hold().await
}

pub(crate) struct Group<'f, 'e> {
    pub(crate) floor: &'f mut Floor,
    pub(crate) seats: Vec<Seat>,
    pub(crate) calls: FuturesUnordered<BoxFuture<'static, Arrival>>,
    /// What arrived while something was being recorded.
    pub(crate) early: VecDeque<Arrival>,
    /// What went wrong in a call by a fault of this program.
    pub(crate) fault: Option<Fault>,
    pub(crate) key: Step,
    pub(crate) enough: Enough<'e>,
}

impl<'f, 'e> Group<'f, 'e> {
    pub(crate) fn of(floor: &'f mut Floor, seats: Vec<Seat>, key: Step, enough: Enough<'e>) -> Self {
        let (calls, early) = (FuturesUnordered::new(), VecDeque::new());
        Group { floor, seats, calls, early, fault: None, key, enough }
    }

    async fn hold(mut self) -> Result<Vec<Option<Arc<Turn>>>, Halt> {
        if let Some(taken) = self.floor.record.group_closed(&self.key).map(<[String]>::to_vec) {
            // Someone who was let go answers nothing, whatever came in at the last moment.
            let dropped = self.seats.iter_mut().filter(|seat| !taken.iter().any(|name| name == seat.name()));
            dropped.for_each(|seat| seat.stage = Stage::Fresh);
            let turns = self.leave();
            // Whoever failed before it was closed is missed now as it was then.
            self.floor.bear(&self.key).await?;
            return Ok(turns);
        }
        if !self.floor.now.closing && self.floor.record.has_mark(&self.key.purpose("wound-up")) {
            self.leave();
            return Err(Halt::wind_up());
        }
        // A second time for whoever was shown too much, once the others have answered.
        while !self.is_over() {
            if let Err(halt) = self.open().await {
                self.leave();
                return Err(halt);
            }
            self.run().await?;
        }
        self.hear_people().await?;
        self.close().await
    }

    /// Whether nobody is left to be asked: people come last, when all models have answered.
    fn is_over(&self) -> bool {
        self.seats.iter().all(|seat| seat.is_settled() || seat.is_awaited()) || self.is_enough()
    }

    /// Leaves when people are still to be heard; their answers are found in the record by a later run.
    async fn hear_people(&mut self) -> Result<(), Halt> {
        if !self.seats.iter().any(Seat::is_awaited) || self.is_enough() {
            return Ok(());
        }
        if let Err(halt) = self.floor.gate(&self.key).await {
            self.leave();
            return Err(halt);
        }
        if self.seats.iter().any(|seat| seat.is_awaited() && self.floor.record.settled(&seat.step).is_some())
        {
            // Somebody spoke just now: the record is ahead of what was known when this group began.
            return Err(Halt::taken_back());
        }
        self.reuse(Seat::is_awaited).await?;
        if !self.seats.iter().any(Seat::is_awaited) {
            return Ok(());
        }
        for seat in self.seats.iter().filter(|seat| seat.is_awaited()) {
            let awaited = Event::PersonAwaited(seat.awaited(self.floor));
            self.floor.record.once(seat.step.purpose("awaited"), awaited);
        }
        Err(Halt::awaiting())
    }

    fn is_enough(&self) -> bool {
        let turns: Vec<Arc<Turn>> = self.seats.iter().filter_map(Seat::turn).cloned().collect();
        !turns.is_empty() && (self.enough)(&turns)
    }

    /// Nobody is asked unless all may be.
    async fn open(&mut self) -> Result<(), Halt> {
        self.floor.gate(&self.key).await?;
        self.make_room().await?;
        self.reuse(Seat::is_fresh).await?;
        let wanted: Vec<(usize, Spent)> = self
            .to_ask()
            .into_iter()
            .map(|index| (index, self.seats[index].worst_case(self.floor)))
            .collect();
        let mut all = Spent::default();
        wanted.iter().for_each(|(_, spent)| all += *spent);
        if let Err(short) = self.floor.ledger.reserve(all) {
            return Err(self.floor.wind_up(&self.key, short).await?);
        }
        let now = self.floor.shared.clock.now();
        for (index, reserved) in wanted {
            let seat = &mut self.seats[index];
            seat.reserved = Some(reserved);
            let owed_ms = seat.owed_ms(now);
            let waiting = seat.wait(index, owed_ms);
            self.calls.push(waiting);
        }
        for index in 0..self.seats.len() {
            if matches!(self.seats[index].stage, Stage::Convening { .. }) {
                self.convene(index);
            }
        }
        Ok(())
    }

    /// In a fork: takes over what was answered to the same questions.
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

    pub(crate) async fn run(&mut self) -> Result<(), Halt> {
        let mut holding: Option<Holding> = None;
        let control = self.floor.control.clone();
        let mut wishes = self.floor.record.state.lineage.is_some().then(|| control.wishes());
        while !self.is_over() && !self.is_idle(holding.as_ref()) {
            self.pay_up().await?;
            // Looked at anew each time: a sub-discussion that has ended gives its time back.
            let deadline = self.floor.deadline();
            tokio::select! {
                biased;
                () = spoken_to(&control, wishes.as_mut()) => {
                    holding = self.heed(holding).await?;
                }
                Some(arrival) = next(&mut self.early, &mut self.calls) => {
                    let short = self.take_in(arrival, holding.is_some()).await?;
                    holding = holding.or(short.map(Holding::WindUp));
                }
                () = sleep_until(deadline) => {
                    self.abandon(Abandoned::Deadline).await?;
                    holding = Some(Holding::WindUp(WindUp::Deadline));
                }
            }
        }
        if self.is_over() || (holding.is_none() && self.seats.iter().any(|it| it.wants_summary(self.floor))) {
            return Ok(());
        }
        self.give_back();
        let key = self.key.clone();
        let halt = match holding {
            Some(Holding::WindUp(reason)) => self.floor.wind_up(&key, reason).await?,
            Some(Holding::Suspend) if self.floor.control.wished() != Some(Command::Pause) => {
                Halt::taken_back()
            }
            Some(Holding::Suspend) | None => Halt::suspended(),
        };
        self.leave();
        Err(halt)
    }

    /// Takes commands while calls are under way. Only an abort drops them.
    async fn heed(&mut self, holding: Option<Holding>) -> Result<Option<Holding>, Halt> {
        match self.floor.heed().await {
            Ok(wish) => Ok(holding.or(wish)),
            Err(aborted) => {
                self.abandon(Abandoned::Aborted).await?;
                self.leave();
                Err(aborted)
            }
        }
    }

    /// Whether nothing more will arrive: nothing is under way, or nothing that a hold lets finish. Who only waits has not begun.
    fn is_idle(&self, holding: Option<&Holding>) -> bool {
        let under_way = |seat: &Seat| matches!(seat.stage, Stage::Calling(_) | Stage::Convening { .. });
        let waiting = !(self.calls.is_empty() && self.early.is_empty());
        if holding.is_some() { !self.seats.iter().any(under_way) } else { !waiting }
    }

    /// Before anything is waited for: records what the last group owes, unless there is something to record it with.
    async fn pay_up(&mut self) -> Result<(), Halt> {
        if !self.floor.record.is_owing() {
            return Ok(());
        }
        if let Some(Some(arrival)) = self.calls.next().now_or_never() {
            self.early.push_back(arrival);
        }
        if self.early.is_empty() { Ok(self.floor.record.pay_up().await?) } else { Ok(()) }
    }

    /// Records while the calls under way go on talking.
    async fn write(&mut self, facts: Vec<Entry>) -> Result<(), Halt> {
        let writing = self.floor.record.append(facts);
        tokio::pin!(writing);
        loop {
            tokio::select! {
                biased;
                written = &mut writing => return Ok(written?),
                Some(arrival) = self.calls.next(), if !self.calls.is_empty() => self.early.push_back(arrival),
            }
        }
    }

    /// Leaves the calls under way behind; what was reserved for them stays spent.
    async fn abandon(&mut self, why: Abandoned) -> Result<(), Halt> {
        let mut facts = Vec::new();
        for seat in &mut self.seats {
            if let Stage::Calling(placed) = &seat.stage {
                let (attempt, participant) = (placed.attempt, placed.participant.clone());
                facts.push((Some(seat.step.clone()), Event::CallAbandoned { attempt, participant, why }));
                seat.reserved = None;
            } else if let Some(attempt) = seat.cut_off_attempt() {
                let (participant, why) = (seat.name().to_owned(), Abandoned::Crashed);
                facts.push((Some(seat.step.clone()), Event::CallAbandoned { attempt, participant, why }));
            }
            if !seat.is_settled() {
                seat.stage = Stage::Fresh;
            }
        }
        (self.calls, self.early) = (FuturesUnordered::new(), VecDeque::new());
        Ok(self.floor.record.append(facts).await?)
    }

    /// Ends the group: lets go whoever is no longer needed, and hears what was said.
    async fn close(&mut self) -> Result<Vec<Option<Arc<Turn>>>, Halt> {
        if !self.seats.iter().all(Seat::is_settled) {
            let (taken, dropped): (Vec<&Seat>, Vec<&Seat>) =
                self.seats.iter().partition(|seat| seat.is_settled());
            let names = |seats: Vec<&Seat>| seats.iter().map(|seat| seat.name().to_owned()).collect();
            let closed = Event::GroupClosed { taken: names(taken), dropped: names(dropped) };
            self.abandon(Abandoned::Enough).await?;
            self.give_back();
            self.floor.record.append(vec![(Some(self.key.purpose("closed")), closed)]).await?;
            self.floor.end_below(WENT_ON).await?;
        }
        let turns = self.leave();
        self.floor.bear(&self.key).await?;
        Ok(turns)
    }

    /// Takes what was said and who failed into the present.
    fn leave(&mut self) -> Vec<Option<Arc<Turn>>> {
        let mut turns = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            match &seat.stage {
                Stage::Settled(Some(turn)) if seat.asked.ask.spoken => self.floor.hear(turn),
                Stage::Settled(None) if seat.asked.ask.stretch.is_none() => {
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
            if let Some(reserved) = seat.reserved.take() {
                self.floor.ledger.settle(reserved, Spent::default());
            }
        }
    }
}

/// Waits for a word from a person: the root listens for its inbox, and everyone below for what the root took from it.
async fn spoken_to(control: &Control, wishes: Option<&mut watch::Receiver<Option<Command>>>) {
    match wishes {
        // It fails only when nobody is left who could wish for something.
        Some(wishes) => drop(wishes.changed().await),
        None => control.woken().await,
    }
}

/// The next arrival: first what came while something was being recorded.
async fn next(
    early: &mut VecDeque<Arrival>,
    calls: &mut FuturesUnordered<BoxFuture<'static, Arrival>>,
) -> Option<Arrival> {
    match early.pop_front() {
        Some(arrival) => Some(arrival),
        None => calls.next().await,
    }
}
