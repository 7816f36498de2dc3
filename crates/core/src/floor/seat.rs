//! One participant inside a group: what it was asked, how far that has come, what the record already knows of it.

mod facts;
mod seen;

use std::{any::Any, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    call::{
        Call, Message,
        lane::{Closed, Place},
        retry::{Failures, LONGEST_WAIT_MS},
    },
    floor::{
        Floor,
        collect::{Reply, collect},
        group::Asked,
        reuse::digest,
        view::View,
    },
    model::{
        error::{ErrorClass, ProviderError},
        event::{Placed, SubConcluded},
        id::Step,
        money::Spent,
        time::Timestamp,
        transcript::Turn,
    },
    record::{Record, Settled},
    seams::Voice,
};

/// A voice may convene so often within one step.
const MOST_SUBS: u32 = 2;

pub(crate) struct Seat {
    pub(crate) asked: Asked,
    /// The step of the call now to be made: the base step, or `…/after1` when a sub-discussion came between.
    pub(crate) step: Step,
    pub(crate) voice: Option<Voice>,
    pub(crate) stage: Stage,
    /// What the ledger holds for the next call.
    pub(crate) reserved: Option<Spent>,
    /// What was built to see what the call may cost, kept for the call itself.
    pub(crate) view: Option<View>,
    attempts: u32,
    cut_off: bool,
    failures: Failures,
    /// When the next attempt may be made, where the record says so.
    not_before: Option<Timestamp>,
    /// Whether nobody else may ask its provider before that.
    limited: bool,
    subs: u32,
    began: Option<Instant>,
    deadline: Option<Instant>,
    placed_at: Timestamp,
}

/// How far a seat has come.
pub(crate) enum Stage {
    /// Nothing is under way.
    Fresh,
    /// Waiting for its turn at the provider, or after a failure.
    Waiting,
    /// A call is under way.
    Calling(Placed),
    /// A person is awaited.
    Person,
    /// A sub-discussion is to be run, or is running, at this step.
    Convening { step: Step, topic: String },
    /// It answered or failed for good.
    Settled(Option<Arc<Turn>>),
}

/// What became of something under way.
pub(crate) enum News {
    /// It is this seat's turn at the provider.
    Cleared(Place),
    /// The call is over.
    Answered(Result<Reply, Failed>),
    /// The sub-discussion is over; `None` when it is suspended.
    Convened(Option<Box<SubConcluded>>),
    /// It broke down.
    Fault(Fault),
}

/// A fault of this program, caught. Others may have answered meanwhile, so it is not let loose before that is recorded.
pub(crate) type Fault = Box<dyn Any + Send>;

/// A call that failed.
pub(crate) struct Failed {
    pub(crate) error: ProviderError,
    /// What had come of its answer.
    pub(crate) said: String,
}

impl From<ProviderError> for Failed {
    fn from(error: ProviderError) -> Self {
        Failed { error, said: String::new() }
    }
}

pub(crate) type Arrival = (usize, News);

impl Seat {
    /// Takes a place at the table, going on where the record ends.
    pub(crate) fn take(floor: &Floor, asked: Asked) -> Seat {
        let spec = &floor.record.state.spec;
        let voice = floor.shared.voices.voice(spec, &asked.who);
        let mut seat = Seat {
            step: asked.step.clone(),
            asked,
            voice,
            stage: Stage::Fresh,
            reserved: None,
            view: None,
            attempts: 0,
            cut_off: false,
            failures: Failures::default(),
            not_before: None,
            limited: false,
            subs: 0,
            began: None,
            deadline: None,
            placed_at: floor.shared.clock.now(),
        };
        seat.recall(&floor.record);
        if seat.asked.who.is_person() && !seat.is_settled() {
            seat.stage = Stage::Person;
        }
        seat
    }

    pub(crate) fn name(&self) -> &str {
        &self.asked.who.name
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// The attempt that was under way when the process ended, unless it has been made again.
    pub(crate) fn cut_off_attempt(&self) -> Option<u32> {
        (self.cut_off && !self.is_settled()).then_some(self.attempts)
    }

    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self.stage, Stage::Fresh)
    }

    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.stage, Stage::Person)
    }

    pub(crate) fn turn(&self) -> Option<&Arc<Turn>> {
        match &self.stage {
            Stage::Settled(turn) => turn.as_ref(),
            _ => None,
        }
    }

    /// Structured replies are short and bounded; only someone who speaks may ask for a sub-discussion.
    pub(crate) fn may_ask_for_help(&self) -> bool {
        self.asked.ask.spoken && self.subs < MOST_SUBS
    }

    /// What the record knows: an answer, a failure, sub-discussions on the way, attempts made.
    fn recall(&mut self, record: &Record) {
        loop {
            if let Some(settled) = record.settled(&self.step) {
                self.stage = Stage::Settled(match settled {
                    Settled::Turn(turn) => Some(turn.clone()),
                    Settled::Failed => None,
                });
                return;
            }
            let sub_step = self.asked.step.purpose(&format!("sub{}", self.subs + 1));
            let Some((turn, sub)) = record.sub(&sub_step) else { break };
            match &sub.end {
                None => {
                    self.subs += 1;
                    self.asked.ask.exchange.extend(self.so_far(turn));
                    self.stage = Stage::Convening { step: sub_step, topic: sub.topic.clone() };
                    return;
                }
                Some(end) => {
                    self.subs += 1;
                    self.asked.ask.exchange.extend(self.so_far(turn));
                    self.go_on_after(&sub.topic, end);
                }
            }
        }
        let past = record.past(&self.step);
        (self.attempts, self.failures, self.cut_off) = (past.attempts, past.failures, past.cut_off);
        (self.not_before, self.limited) = (past.not_before, past.limited);
    }

    fn so_far(&self, turn: &Arc<Turn>) -> Vec<Message> {
        let question = (self.subs == 1).then(|| Message::Ask(self.asked.ask.prompt.clone()));
        let said = (!turn.text.is_empty()).then(|| Message::Said { turn: turn.clone(), own: true });
        question.into_iter().chain(said).collect()
    }

    /// Makes ready to go on with what the sub-discussion found.
    fn go_on_after(&mut self, topic: &str, end: &SubConcluded) {
        let found = match (&end.synthesis, &end.problem) {
            (Some(synthesis), _) => synthesis.clone(),
            (None, Some(problem)) => format!("No sub-discussion was held: {}.", problem.message),
            (None, None) => "The sub-discussion came to no result.".to_owned(),
        };
        self.asked.ask.exchange.push(Message::Found { topic: topic.to_owned(), text: found });
        self.step = self.asked.step.purpose(&format!("after{}", self.subs));
        self.stage = Stage::Fresh;
        (self.attempts, self.failures, self.cut_off) = (0, Failures::default(), false);
        (self.began, self.deadline) = (None, None);
    }

    /// What is left of a wait that was under way when the process ended: nobody comes back earlier than told (F5). Between two
    /// processes there is only the wall clock, so whatever it says, nobody waits longer than for a provider that is there.
    pub(crate) fn owed_ms(&mut self, now: Timestamp) -> u64 {
        let owed_ms = self.not_before.take().map_or(0, |at| at.ms_after(now).min(LONGEST_WAIT_MS));
        if let Some(voice) = self.voice.as_ref().filter(|_| self.limited && 0 < owed_ms) {
            voice.lane.close_for(Duration::from_millis(owed_ms));
        }
        owed_ms
    }

    /// Waits, then queues at the provider; before a retry not beyond the step's deadline.
    pub(crate) fn wait(&mut self, index: usize, wait_ms: u64) -> BoxFuture<'static, Arrival> {
        self.stage = Stage::Waiting;
        let lane = self.voice.as_ref().map(|voice| voice.lane.clone());
        let deadline = self.deadline;
        let tokens = self.reserved.map_or(0, |reserved| reserved.tokens);
        Box::pin(async move {
            if wait_ms > 0 {
                sleep(Duration::from_millis(wait_ms)).await;
            }
            let Some(lane) = lane else { return (index, News::Answered(Err(no_such_voice().into()))) };
            let too_late =
                |_| ProviderError::new(ErrorClass::Timeout, "its turn at the provider came too late");
            let entered = match deadline {
                Some(deadline) => timeout_at(deadline, lane.enter(tokens)).await.map_err(too_late),
                None => Ok(lane.enter(tokens).await),
            };
            let place = entered.and_then(|entered| entered.map_err(closed));
            (index, place.map_or_else(|error| News::Answered(Err(error.into())), News::Cleared))
        })
    }

    /// Prepares the call whose turn has come, as it will be recorded.
    pub(crate) fn place(&mut self, floor: &Floor) -> (Placed, Arc<Call>) {
        let spec = floor.record.state.spec.clone();
        self.attempts += 1;
        let now = Instant::now();
        self.began.get_or_insert(now);
        self.deadline.get_or_insert(now + Duration::from_millis(spec.timing.step_ms));
        self.placed_at = floor.shared.clock.now();
        let view = self.view.take().unwrap_or_else(|| self.view(floor));
        let (ask, who) = (&self.asked.ask, &self.asked.who);
        let nonce = format!("{:016x}", floor.shared.clock.draw());
        let placed = Placed {
            attempt: self.attempts,
            participant: who.name.clone(),
            provider: who.provider.clone(),
            model: who.model.clone(),
            reserved: self.reserved.unwrap_or_default(),
            nonce: nonce.clone(),
            digest: Some(digest(&self.asked.ask, &view.messages)),
            repeats: std::mem::take(&mut self.cut_off),
            labels: ask.mask.as_ref().map(|mask| mask.labels()).unwrap_or_default(),
            unheard: view.unheard,
            counted: view.counted,
        };
        let call = Call {
            discussion: floor.record.state.id,
            step: self.step.clone(),
            attempt: self.attempts,
            round: floor.now.round,
            participant: Arc::new(who.clone()),
            system: ask.system.clone(),
            messages: view.messages,
            shape: ask.shape.clone(),
            stop: ask.stop.clone(),
            temperature: ask.temperature.unwrap_or(spec.manner.temperature),
            max_tokens: self.token_limit(floor),
            may_convene: self.may_ask_for_help() && floor.may_convene(),
            nonce,
            spec,
        };
        self.stage = Stage::Calling(placed.clone());
        (placed, Arc::new(call))
    }

    /// Makes the call; at the deadline it is dropped, wherever it is.
    pub(crate) fn call(
        &self,
        index: usize,
        call: Arc<Call>,
        place: Place,
        floor: &Floor,
    ) -> BoxFuture<'static, Arrival> {
        let Some(voice) = &self.voice else {
            return Box::pin(async move { (index, News::Answered(Err(no_such_voice().into()))) });
        };
        let step_ms = call.spec.timing.step_ms;
        let deadline = self.deadline.unwrap_or_else(Instant::now);
        let (provider, feed) = (voice.provider.clone(), floor.record.feed().clone());
        Box::pin(async move {
            let mut said = String::new();
            let answered = timeout_at(deadline, collect(provider, call, feed, &mut said)).await;
            drop(place);
            let too_late =
                || Err(ProviderError::new(ErrorClass::Timeout, format!("no answer within {step_ms} ms")));
            let answered = answered.unwrap_or_else(|_| too_late());
            (index, News::Answered(answered.map_err(|error| Failed { error, said })))
        })
    }

    /// Whether and when the call is tried again after this failure.
    pub(crate) fn retry_ms(&mut self, error: &ProviderError, draw: u64) -> Option<u64> {
        self.failures.count(error.class);
        if let (Some(voice), ErrorClass::RateLimit) = (&self.voice, error.class) {
            let told = error.retry_after_ms.unwrap_or_default();
            voice.lane.close_for(Duration::from_millis(told));
        }
        let wait = if error.class == ErrorClass::ContextOverflow && self.may_shrink() {
            0
        } else {
            self.failures.wait_ms(error, self.asked.ask.retries, draw)?
        };
        let deadline = self.deadline?;
        (Instant::now() + Duration::from_millis(wait) < deadline).then_some(wait)
    }

    /// Whether a request was too long at some attempt of this step.
    pub(crate) fn overflowed(&self) -> bool {
        self.failures.overflowed()
    }

    /// Whether it was so for the first time; a summary is not worth a second try.
    pub(crate) fn may_shrink(&self) -> bool {
        self.failures.may_shrink() && self.asked.ask.stretch.is_none()
    }

    /// Begins a sub-discussion on this topic; returns its step.
    pub(crate) fn begin_sub(&mut self, topic: &str, turn: &Arc<Turn>) -> Step {
        self.subs += 1;
        let step = self.asked.step.purpose(&format!("sub{}", self.subs));
        self.asked.ask.exchange.extend(self.so_far(turn));
        self.stage = Stage::Convening { step: step.clone(), topic: topic.to_owned() };
        step
    }

    /// Ends it, and makes ready to go on.
    pub(crate) fn end_sub(&mut self, end: &SubConcluded) {
        if let Stage::Convening { topic, .. } = &self.stage {
            let topic = topic.clone();
            self.go_on_after(&topic, end);
        }
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.map_or(0, |began| began.elapsed().as_millis() as u64)
    }
}

fn no_such_voice() -> ProviderError {
    ProviderError::new(ErrorClass::Validation, "there is no provider of that name")
}

fn closed(Closed(wait): Closed) -> ProviderError {
    let message = format!("the provider asked to be left alone for {} s", wait.as_secs());
    let retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    ProviderError { retry_after_ms, ..ProviderError::new(ErrorClass::RateLimit, message) }
}
