//! What arrives while several are asked, and what follows from it.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};

use super::{Group, next};
use crate::{
    call::{Call, lane::Place},
    floor::{
        halt::Halt,
        seat::{Arrival, Failed, News, Stage},
        window::Overflow,
    },
    model::{
        error::ErrorClass,
        event::{Event, WindUp},
        money::Spent,
    },
    record::Entry,
};

/// What follows once the facts are recorded.
enum Next {
    Call(Arc<Call>, Place),
    Wait(u64),
    Convene,
}

impl Group<'_, '_> {
    /// Takes in what arrived, with whatever else is there by now; records it in one go, then lets it follow.
    pub(super) async fn take_in(&mut self, first: Arrival, holding: bool) -> Result<Option<WindUp>, Halt> {
        let batch = self.arrived(first);
        let is_faulty = batch.iter().any(|(_, news)| matches!(news, News::Fault(_)));
        let (mut facts, mut follow, mut short) = (Vec::new(), Vec::new(), None);
        for (index, news) in batch {
            match self.advance(index, news, holding || is_faulty, &mut facts) {
                Ok(Some(next)) => follow.push((index, next)),
                Ok(None) => {}
                Err(reason) => short = Some(reason),
            }
        }
        if let Some(fault) = self.fault.take() {
            self.floor.record.append(facts).await?;
            resume_unwind(fault);
        }
        if follow.is_empty() && self.is_over() {
            // What comes next is recorded at once; until then nothing is waited for.
            self.floor.record.owe(facts);
            return Ok(short);
        }
        self.write(facts).await?;
        follow.into_iter().for_each(|(index, next)| self.start(index, next));
        Ok(short)
    }

    fn arrived(&mut self, first: Arrival) -> Vec<Arrival> {
        let mut batch = vec![first];
        while let Some(Some(more)) = next(&mut self.early, &mut self.calls).now_or_never() {
            batch.push(more);
        }
        batch
    }

    /// What one piece of news means: facts to record, and what follows.
    fn advance(
        &mut self,
        index: usize,
        news: News,
        holding: bool,
        facts: &mut Vec<Entry>,
    ) -> Result<Option<Next>, WindUp> {
        let seat = &mut self.seats[index];
        match news {
            News::Cleared(_) if holding => seat.stage = Stage::Fresh,
            News::Cleared(place) => {
                let (placed, call) = seat.place(self.floor);
                facts.push((Some(seat.step.clone()), Event::CallPlaced(placed)));
                return Ok(Some(Next::Call(call, place)));
            }
            News::Answered(Ok(reply)) => {
                let turn = seat.spoke(&reply, self.floor);
                self.floor.ledger.settle(seat.reserved.take().unwrap_or_default(), turn.bill.spent());
                let heeded = seat.may_ask_for_help();
                if let Some(topic) = reply.convene.filter(|_| heeded) {
                    let step = seat.begin_sub(&topic, &turn);
                    facts.push((Some(step), Event::SubRequested { turn, topic }));
                    return Ok(Some(Next::Convene));
                }
                facts.push((Some(seat.step.clone()), seat.answered(&turn, self.floor)));
                self.floor.now.fresh += u32::from(seat.asked.ask.stretch.is_none());
                seat.stage = Stage::Settled(Some(turn));
            }
            News::Answered(Err(failed)) => return self.fail(index, &failed, holding, facts),
            News::Convened(None) => seat.stage = Stage::Fresh,
            News::Fault(fault) => self.fault = Some(fault),
            News::Convened(Some(end)) => {
                let Stage::Convening { step, .. } = &seat.stage else { return Ok(None) };
                facts.push((Some(step.clone()), Event::SubConcluded((*end).clone())));
                seat.end_sub(&end);
                if holding {
                    return Ok(None);
                }
                let wanted = seat.worst_case(self.floor);
                self.floor.ledger.reserve(wanted)?;
                self.seats[index].reserved = Some(wanted);
                return Ok(Some(Next::Wait(0)));
            }
        }
        Ok(None)
    }

    /// A failed attempt: tried again, or the end for this participant, or for the talk.
    fn fail(
        &mut self,
        index: usize,
        failed: &Failed,
        holding: bool,
        facts: &mut Vec<Entry>,
    ) -> Result<Option<Next>, WindUp> {
        let error = &failed.error;
        let draw = self.floor.shared.clock.draw();
        let seat = &mut self.seats[index];
        let broken = seat.broken(&failed.said);
        let reserved = seat.reserved.take().unwrap_or_default();
        // Whoever did not get as far as the provider has taken nothing.
        let calls = u32::from(matches!(seat.stage, Stage::Calling(_)));
        let taken = broken.as_ref().map(|it| it.bill.spent()).unwrap_or_default();
        self.floor.ledger.settle(reserved, Spent { calls, ..taken });
        let wait = seat.retry_ms(error, draw).filter(|_| self.floor.ledger.reserve(reserved).is_ok());
        let step = Some(seat.step.clone());
        let (Stage::Calling(placed), Some(wait_ms)) = (&seat.stage, wait) else {
            facts.push((step, seat.gave_up(failed, self.floor)));
            seat.stage = Stage::Settled(None);
            return Ok(None);
        };
        let (attempt, participant) = (placed.attempt, placed.participant.clone());
        let overflow = (error.class == ErrorClass::ContextOverflow).then(|| self.floor.overflow());
        let (class, message) = (error.class, error.message.clone());
        let (ends, sums_up) = (overflow.is_some_and(Overflow::ends), overflow.is_some_and(Overflow::sums_up));
        let retry_in_ms = (!ends).then_some(wait_ms);
        facts.push((step, Event::CallFailed { attempt, participant, class, message, retry_in_ms, broken }));
        seat.stage = Stage::Fresh;
        if ends || sums_up {
            self.floor.ledger.settle(reserved, Spent::default());
        } else {
            seat.reserved = Some(reserved);
        }
        if ends {
            return Err(WindUp::WindowFull { participant: seat.name().to_owned() });
        }
        // Where what is older is summed up, the others are heard first.
        Ok((!holding && !sums_up).then_some(Next::Wait(wait_ms)))
    }

    fn start(&mut self, index: usize, next: Next) {
        match next {
            Next::Call(call, place) => {
                let calling = self.seats[index].call(index, call, place, self.floor);
                self.calls.push(contained(index, calling));
            }
            Next::Wait(wait_ms) => {
                let waiting = self.seats[index].wait(index, wait_ms);
                self.calls.push(waiting);
            }
            Next::Convene => self.convene(index),
        }
    }

    pub(super) fn convene(&mut self, index: usize) {
        let Stage::Convening { step, topic } = &self.seats[index].stage else { return };
        let held = self.floor.sub_discussion(self.seats[index].name(), step, topic);
        let convening = Box::pin(async move { (index, News::Convened(held.await)) });
        self.calls.push(contained(index, convening));
    }
}

/// A fault in one call must not cost what others have answered.
fn contained(index: usize, call: BoxFuture<'static, Arrival>) -> BoxFuture<'static, Arrival> {
    let caught = AssertUnwindSafe(call).catch_unwind();
    Box::pin(caught.map(move |ended| ended.unwrap_or_else(|fault| (index, News::Fault(fault)))))
}
