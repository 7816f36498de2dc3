//! One participant inside a group: what it is asked, what was tried, which sub-discussions it asked
//! for, and its stage.

mod facts;
mod nested;
pub(crate) mod outcome;
mod question;
mod seen;
mod tried;

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    call::{Call, ledger::Ledger},
    floor::{
        Floor,
        collect::Emptiness,
        group::Asked,
        labels::Labels,
        request::{Cleared, Failed, Queued, Request},
        view::View,
    },
    model::{error::ErrorClass, event::Placed, id::Step, money::Spent, transcript::Turn},
    record::{Entry, Record, Settled},
    seams::Voice,
};

pub(crate) use facts::Moment;
pub(crate) use nested::{Nested, Sub};
pub(crate) use question::Question;
pub(crate) use tried::Tried;

pub(crate) struct Seat {
    pub(crate) question: Question,
    pub(crate) tried: Tried,
    pub(crate) nested: Nested,
    pub(crate) stage: Stage,
    /// The voice that answers; `None` if no provider has that name.
    pub(crate) voice: Option<Voice>,
    /// The labels under which it sees the others.
    pub(crate) labels: Labels,
    /// The view built to estimate the call's cost, kept for the call itself.
    pub(crate) view: Option<View>,
}

/// The stage of a seat.
pub(crate) enum Stage {
    /// Nothing is under way.
    Fresh,
    /// Waiting in the provider's lane, or for a retry.
    Waiting,
    /// A call is under way.
    Calling,
    /// Waiting for a person.
    Person,
    /// A sub-discussion is to be run, or is running.
    Convening(Sub),
    /// The seat answered, or failed for good.
    Settled(Option<Arc<Turn>>),
}

impl Seat {
    /// Creates a seat, in the state that the record left it.
    pub(crate) fn restore(floor: &Floor, asked: Asked) -> Seat {
        let spec = &floor.record.state.spec;
        let voice = floor.services.voices.voice(spec, &asked.who);
        if let (Some(voice), None) = (&voice, &spec.simulation)
            && let Some(grants) = floor.services.store.grants()
        {
            voice.lane.share(&asked.who.provider, grants);
        }
        let is_person = asked.who.is_person();
        let labels = floor.labels_for(&asked);
        let mut seat = Seat::new(asked, voice, labels);
        seat.recall(&floor.record);
        if is_person && !seat.is_settled() {
            seat.stage = Stage::Person;
        }
        seat
    }

    fn new(asked: Asked, voice: Option<Voice>, labels: Labels) -> Seat {
        Seat {
            question: Question::new(asked, voice.as_ref().and_then(|voice| voice.price)),
            tried: Tried::default(),
            nested: Nested::default(),
            stage: Stage::Fresh,
            voice,
            labels,
            view: None,
        }
    }

    /// Restores what the record has: an answer, a failure, open sub-discussions, attempts made.
    fn recall(&mut self, record: &Record) {
        loop {
            if let Some(settled) = record.settled(self.step()) {
                self.stage = Stage::Settled(match settled {
                    Settled::Turn(turn) => Some(turn.clone()),
                    Settled::Failed => None,
                });
                return;
            }
            let step = self.nested.next_step(&self.question.asked.step);
            let Some((turn, sub)) = record.sub(&step) else { break };
            self.begin_sub(Sub { step, topic: sub.topic.clone() }, turn);
            let Some(end) = &sub.end else { return };
            self.end_sub(sub.topic.clone(), end);
        }
        self.tried = Tried::of(record.past(self.step()));
    }

    pub(crate) fn name(&self) -> &str {
        self.question.name()
    }

    /// The step of the call to make now.
    pub(crate) fn step(&self) -> &Step {
        &self.question.step
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self.stage, Stage::Fresh)
    }

    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.stage, Stage::Person)
    }

    /// Whether it waits for a rate limit beyond the time of its step.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.stage, Stage::Waiting) && self.tried.awaited_limit().is_some()
    }

    /// Gives up a seat that waits for a rate limit.
    pub(crate) fn give_up(&mut self, ledger: &Ledger, moment: Moment) -> Option<Entry> {
        let lost = self.gave_up(self.tried.awaited_limit()?, moment);
        self.give_back(ledger);
        self.stage = Stage::Settled(None);
        Some((Some(self.step().clone()), lost))
    }

    /// The attempt that was under way when the process ended, unless it has been repeated.
    pub(crate) fn cut_off_attempt(&self) -> Option<u32> {
        (self.tried.cut_off && !self.is_settled()).then_some(self.tried.attempts)
    }

    pub(crate) fn turn(&self) -> Option<&Arc<Turn>> {
        match &self.stage {
            Stage::Settled(turn) => turn.as_ref(),
            _ => None,
        }
    }

    /// Whether this seat may ask for a sub-discussion: only in a speech, because structured replies
    /// are short and bounded.
    pub(crate) fn may_ask_for_help(&self) -> bool {
        self.question.ask().spoken && self.nested.may_begin()
    }

    /// Whether a request of this step was too long at some attempt.
    pub(crate) fn overflowed(&self) -> bool {
        self.tried.failures.overflowed()
    }

    /// Whether a request was too long for the first time and may be shortened. A request for a
    /// summary may not: it is not worth a second try.
    pub(crate) fn may_shrink(&self) -> bool {
        self.tried.failures.may_shrink() && self.question.ask().stretch.is_none()
    }

    /// Queues for the first attempt of this run, after what is left of a recorded wait.
    pub(crate) fn queue_first(&mut self, reserved: Spent, active_ms: u64) -> Queued {
        self.tried.reserved = Some(reserved);
        let owed = self.tried.owed(active_ms);
        if let Some(voice) = self.voice.as_ref().filter(|_| owed.closes_lane) {
            voice.lane.close_for(owed.wait);
        }
        self.queue(owed.wait)
    }

    /// Queues at the provider after this wait; a retry does not wait beyond the step's deadline.
    pub(crate) fn queue(&mut self, wait: Duration) -> Queued {
        self.stage = Stage::Waiting;
        let tokens = self.tried.reserved.map_or(0, |reserved| reserved.tokens);
        Queued { voice: self.voice.clone(), wait, deadline: self.tried.deadline(), tokens }
    }

    /// Prepares the call, now that the lane has a place, as it will be recorded.
    pub(crate) fn place(&mut self, floor: &Floor, cleared: Cleared) -> (Placed, Request) {
        let view = self.view.take().unwrap_or_else(|| self.view(floor));
        let repeats = self.tried.begin(floor.services.clock.now(), view.counted);
        let step_time = Duration::from_millis(floor.record.state.spec.timing.step_ms);
        let deadline = self.tried.deadline_from(Instant::now(), step_time);
        let nonce = floor.nonce_for(self.name());
        let placed = self.placed(&view, nonce.clone(), repeats);
        let call = Arc::new(self.call(floor, view, nonce));
        self.stage = Stage::Calling;
        let (feed, arrived) = (floor.record.feed().clone(), self.tried.arrived.clone());
        let if_empty = self.if_empty(floor);
        (placed, Request { cleared, call, deadline, feed, if_empty, arrived })
    }

    /// How an empty answer is treated, and how much room the call had for thinking.
    fn if_empty(&self, floor: &Floor) -> Emptiness {
        let thinking = floor.room_to_think(self);
        Emptiness {
            otherwise: self.question.ask().if_empty,
            thinking: u32::try_from(thinking.now).unwrap_or(u32::MAX),
            may_think_more: !self.tried.failures.needs_room_to_think() && thinking.now < thinking.most,
        }
    }

    fn placed(&self, view: &View, nonce: String, repeats: bool) -> Placed {
        let who = &self.question.asked.who;
        Placed {
            attempt: self.tried.attempts,
            participant: who.name.clone(),
            provider: who.provider.clone(),
            model: self.model(),
            form: self.question.ask().shape.as_ref().map(|shape| shape.form.kind.to_owned()),
            price: self.question.price,
            reserved: self.tried.reserved.unwrap_or_default(),
            nonce,
            digest: Some(view.digest.clone()),
            repeats,
            labels: if self.labels.own { self.labels.mask.labels() } else { Vec::new() },
            unheard: view.unheard,
            shortened: view.shortened,
            counted: view.counted,
            max_tokens: view.max_tokens,
        }
    }

    /// The exact model that is asked.
    pub(super) fn model(&self) -> Option<String> {
        self.voice.as_ref().and_then(|voice| voice.model.clone())
    }

    fn call(&self, floor: &Floor, view: View, nonce: String) -> Call {
        let (ask, spec) = (self.question.ask(), floor.record.state.spec.clone());
        let own = || self.question.asked.who.own_temperature();
        Call {
            discussion: floor.record.state.id,
            max_tokens: view.max_tokens,
            step: self.step().clone(),
            attempt: self.tried.attempts,
            round: floor.now.round,
            participant: Arc::new(self.question.asked.who.clone()),
            system: view.system,
            messages: view.messages,
            labels: self.labels.mask.clone(),
            shape: ask.shape.as_ref().map(|shape| shape.labelled(&self.labels.mask)),
            quoted_forms: floor.services.registry.quoted_forms(&spec),
            mark: ask.mark.clone(),
            cited: ask.cited.clone(),
            stop: ask.stop.clone(),
            effort: ask.effort_wanted(),
            continues: ask.spoken && floor.now.round < spec.rounds,
            temperature: ask.temperature.or_else(own).unwrap_or(spec.manner.temperature),
            may_convene: self.may_ask_for_help() && floor.may_convene(),
            names_phases: floor.pattern.names_phases,
            nonce,
            spec,
        }
    }

    /// Counts a failure. After a rate limit, closes the provider's lane for as long as the provider
    /// asked.
    pub(crate) fn count_failure(&mut self, failed: &Failed) {
        let error = &failed.error;
        self.tried.failures.count(error.class);
        if failed.only_thoughts {
            self.tried.failures.count_only_thoughts();
        }
        if let (Some(voice), ErrorClass::RateLimit) = (&self.voice, error.class) {
            voice.lane.close_for(Duration::from_millis(error.retry_after_ms.unwrap_or_default()));
        }
    }

    /// Charges the ledger with what was used, in place of the reservation.
    pub(crate) fn settle(&mut self, ledger: &Ledger, used: Spent) {
        ledger.settle(self.tried.reserved.take().unwrap_or_default(), used);
    }

    /// Returns the reservation and rests; the next call needs a new one.
    pub(crate) fn rest_unfunded(&mut self, ledger: &Ledger) {
        self.give_back(ledger);
        self.stage = Stage::Fresh;
    }

    /// Returns the reservation for a call that is not made.
    pub(crate) fn give_back(&mut self, ledger: &Ledger) {
        self.settle(ledger, Spent::default());
    }
}
