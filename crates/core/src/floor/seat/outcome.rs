//! The effect of an arrival on a seat: the facts to record, and the next action. A pure function;
//! readings of the clock and the ledger are passed in as values.

use std::sync::Arc;

use super::{Moment, Seat, Sub, tried::Rules};
use crate::{
    call::retry::LONGEST_WAIT_MS,
    floor::{
        collect::Reply,
        request::{Cleared, Failed},
        window::Overflow,
    },
    model::{
        error::{ErrorClass, ProviderError},
        event::{Event, SubConcluded, WindUp},
        transcript::Turn,
    },
    record::Entry,
};

/// The result of something that was under way. `P` is a place in a provider's lane.
pub(crate) enum News<P = Cleared> {
    /// The provider's lane has a place for this seat's request.
    Cleared(P),
    /// The provider's lane refused the request.
    TurnedAway(ProviderError),
    /// The call ended with an answer.
    Answered(Reply),
    /// The call failed. The seat has counted the failure already.
    Failed(Failed),
    /// The sub-discussion is over; `None` when it is suspended.
    Convened(Sub, Option<Box<SubConcluded>>),
}

impl From<Result<Cleared, ProviderError>> for News {
    fn from(entered: Result<Cleared, ProviderError>) -> Self {
        entered.map_or_else(News::TurnedAway, News::Cleared)
    }
}

impl From<Result<Reply, Failed>> for News {
    fn from(answered: Result<Reply, Failed>) -> Self {
        answered.map_or_else(News::Failed, News::Answered)
    }
}

/// The conditions, apart from the seat itself, that decide what an arrival means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    pub(crate) moment: Moment,
    /// Whether nothing new may begin.
    pub(crate) draining: bool,
    /// What to do if a request is too long.
    pub(crate) overflow: Overflow,
    /// Whether the budget has room for another attempt once this one is paid.
    pub(crate) affordable: bool,
    /// How long a provider's rate limit can be waited for beyond the time of the step; `None` if
    /// the discussion can go on without this seat.
    pub(crate) patience_ms: Option<u64>,
    /// A random number, for the jitter of a wait.
    pub(crate) draw: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Outcome<P = Cleared> {
    pub(crate) facts: Vec<Entry>,
    pub(crate) next: Next<P>,
}

/// The next action, once the facts are recorded.
#[derive(Debug, PartialEq)]
pub(crate) enum Next<P = Cleared> {
    /// Do nothing for now.
    Rest,
    /// Place the call.
    Place(P),
    /// Queue again after this many milliseconds.
    Retry(u64),
    /// Queue again after this many milliseconds, with a new step timeout, unless the other seats
    /// turn out to be enough.
    Hold(u64, Box<Failed>),
    /// Ask again once the talk is summarised, or people have decided.
    Shrink,
    /// End deliberation.
    WindUp(WindUp),
    /// The seat answered, or failed for good.
    Settle(Option<Arc<Turn>>),
    /// Run the sub-discussion that the reply in this turn asked for.
    Convene(Sub, Arc<Turn>),
    /// Go on with what the sub-discussion on this topic found.
    GoOn(String, Box<SubConcluded>),
    /// Do the same as `GoOn`, once new calls may begin again.
    Learn(String, Box<SubConcluded>),
}

/// Decides what this news means for this seat.
pub(crate) fn outcome<P>(seat: &Seat, news: News<P>, situation: &Situation) -> Outcome<P> {
    let bare = |next| Outcome { facts: Vec::new(), next };
    match news {
        News::Cleared(_) if situation.draining => bare(Next::Rest),
        News::Cleared(place) => bare(Next::Place(place)),
        News::TurnedAway(error) => {
            let failed = Failed::of(error);
            match patience_ms(seat, &failed, situation) {
                Some(wait_ms) => bare(Next::Hold(wait_ms, Box::new(failed))),
                None => given_up(seat, &failed, situation),
            }
        }
        News::Answered(reply) => answered(seat, &reply, situation),
        News::Failed(failed) => failed_once(seat, &failed, situation),
        News::Convened(_, None) => bare(Next::Rest),
        News::Convened(sub, Some(end)) => {
            let concluded = Event::SubConcluded((*end).clone());
            let next = if situation.draining { Next::Learn } else { Next::GoOn };
            Outcome { facts: vec![(Some(sub.step), concluded)], next: next(sub.topic, end) }
        }
    }
}

/// Handles a reply: it is the seat's turn, unless it asks for a sub-discussion first.
fn answered<P>(seat: &Seat, reply: &Reply, situation: &Situation) -> Outcome<P> {
    let turn = seat.spoke(reply, situation.moment);
    if let Some(topic) = reply.convene.clone().filter(|_| seat.may_ask_for_help()) {
        let step = seat.nested.next_step(&seat.question.asked.step);
        let requested = Event::SubRequested { turn: turn.clone(), topic: topic.clone() };
        let facts = vec![(Some(step.clone()), requested)];
        return Outcome { facts, next: Next::Convene(Sub { step, topic }, turn) };
    }
    let facts = vec![(Some(seat.step().clone()), seat.answered(&turn, situation.moment))];
    Outcome { facts, next: Next::Settle(Some(turn)) }
}

/// Handles a failed attempt: retry it, or give up on this participant, or end the talk.
fn failed_once<P>(seat: &Seat, failed: &Failed, situation: &Situation) -> Outcome<P> {
    let in_step = retry_ms(seat, failed, situation);
    let beyond = if in_step.is_none() { patience_ms(seat, failed, situation) } else { None };
    let Some(wait_ms) = in_step.or(beyond).filter(|_| situation.affordable) else {
        return given_up(seat, failed, situation);
    };
    let overflow = (failed.error.class == ErrorClass::ContextOverflow).then_some(situation.overflow);
    let next = match overflow {
        Some(Overflow::End) => Next::WindUp(WindUp::WindowFull { participant: seat.name().to_owned() }),
        // Wait for the others first, then summarise the talk for this seat, or ask people.
        Some(Overflow::SumUp | Overflow::Ask) => Next::Shrink,
        Some(Overflow::Shrink) | None if situation.draining => Next::Rest,
        None if beyond.is_some() => Next::Hold(wait_ms, Box::new(failed.clone())),
        Some(Overflow::Shrink) | None => Next::Retry(wait_ms),
    };
    let retry_in_ms = (overflow != Some(Overflow::End)).then_some(wait_ms);
    let call_failed = Event::CallFailed {
        attempt: seat.tried.attempts,
        participant: seat.name().to_owned(),
        class: failed.error.class,
        message: failed.error.message.clone(),
        limit: failed.error.limit,
        only_thoughts: failed.only_thoughts,
        retry_in_ms,
        broken: seat.broken(failed),
    };
    Outcome { facts: vec![(Some(seat.step().clone()), call_failed)], next }
}

/// How long to wait for a provider that limits our rate for longer than the step may take. Each
/// wait is longer than the last, even if the provider asks for less: if the last wait had been
/// enough, it would not have limited us again.
fn patience_ms(seat: &Seat, failed: &Failed, situation: &Situation) -> Option<u64> {
    let least_ms = seat.tried.failures.back_off_ms(failed.error.class, situation.draw);
    let wait_ms = failed.error.retry_after_ms.unwrap_or(LONGEST_WAIT_MS).max(least_ms);
    let is_limited = failed.error.class == ErrorClass::RateLimit;
    situation.patience_ms.filter(|patience_ms| is_limited && wait_ms < *patience_ms).map(|_| wait_ms)
}

fn retry_ms(seat: &Seat, failed: &Failed, situation: &Situation) -> Option<u64> {
    let retries = seat.question.ask().retries.clone();
    let rules = Rules { retries, may_shrink: seat.may_shrink(), draw: situation.draw };
    seat.tried.retry_ms(failed, &rules, situation.moment.now)
}

fn given_up<P>(seat: &Seat, failed: &Failed, situation: &Situation) -> Outcome<P> {
    let facts = vec![(Some(seat.step().clone()), seat.gave_up(failed, situation.moment))];
    Outcome { facts, next: Next::Settle(None) }
}

#[cfg(test)]
mod tests;
