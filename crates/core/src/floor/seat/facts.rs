//! The facts that a seat reports: its turn and what that cost, or why there is no turn.

use std::sync::Arc;

use tokio::time::Instant;

use super::Seat;
use crate::{
    call::tokens::Family,
    floor::{Floor, collect::Reply, request::Failed},
    model::{
        event::{Awaited, Broken, Event, FailedTurn, Summarised},
        mention::plain,
        money::Usage,
        transcript::{Bill, Finish, Turn},
    },
};

/// The state of the talk at the time of a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    pub(crate) round: u32,
    pub(crate) phase: &'static str,
    /// How many turns the transcript has.
    pub(crate) heard: u32,
}

impl Floor {
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            now: Instant::now(),
            round: self.now.round,
            phase: self.now.phase.unwrap_or_default(),
            heard: self.now.transcript.len() as u32,
        }
    }
}

impl Seat {
    /// The fact that it is this person's turn.
    pub(crate) fn awaited(&self, floor: &Floor) -> Awaited {
        let ask = self.question.ask();
        Awaited {
            participant: self.name().to_owned(),
            answers: self.step().clone(),
            round: floor.now.round,
            phase: floor.now.phase.unwrap_or_default().to_owned(),
            prompt: plain(&ask.prompt).into_owned(),
            shape: ask.shape.as_ref().map(|shape| shape.form.kind.to_owned()),
            digest: Some(self.digest(floor)),
        }
    }

    /// The cost of an answer: as the provider reports it, otherwise our estimate.
    fn bill(&self, reply: &Reply) -> Bill {
        let (estimated, price) = (reply.usage.is_none(), self.question.price);
        let usage = reply.usage.unwrap_or_else(|| self.used(&reply.text, reply.tokens_dropped));
        let cost = reply.cost.or_else(|| price.map(|price| price.of(usage)));
        Bill { usage, estimated, price, cost }
    }

    /// The tokens of the call and of this text by our own count, including those that were dropped.
    fn used(&self, text: &str, dropped: u64) -> Usage {
        let family = Family::of(&self.question.asked.who);
        Usage::new(self.tried.counted, family.estimate(text) + dropped)
    }

    /// The part of a failed answer that had arrived and what it cost, if anything is known of it.
    pub(crate) fn broken(&self, failed: &Failed) -> Option<Broken> {
        let Failed { said, reported: (usage, cost), .. } = failed;
        let price = self.question.price;
        (!said.is_empty() || usage.is_some()).then(|| {
            let estimated = usage.is_none();
            let usage = usage.unwrap_or_else(|| self.used(said, 0));
            let cost = cost.or_else(|| price.map(|price| price.of(usage)));
            Broken { text: said.as_str().into(), bill: Bill { usage, estimated, price, cost } }
        })
    }

    /// The reply as a turn, with its bill.
    pub(super) fn spoke(&self, reply: &Reply, moment: Moment) -> Arc<Turn> {
        Arc::new(Turn {
            step: self.step().clone(),
            participant: self.name().to_owned(),
            round: moment.round,
            phase: moment.phase.to_owned(),
            form: self.question.ask().shape.as_ref().map(|shape| shape.form.kind.to_owned()),
            text: reply.text.as_str().into(),
            prose: self.question.ask().prose_of(&reply.text).map(Into::into),
            started_at: self.tried.placed_at,
            duration_ms: self.tried.elapsed_ms(moment.now),
            finish: if reply.convene.is_some() { Finish::Convene } else { reply.finish },
            bill: self.bill(reply),
            model: self.model(),
            answered_by: reply.answered_by.clone(),
            reused: false,
        })
    }

    /// The fact of this seat's answer.
    pub(crate) fn answered(&self, turn: &Arc<Turn>, moment: Moment) -> Event {
        match self.question.ask().stretch {
            Some(stretch) => {
                Event::Summarised(Summarised { turn: Some(turn.clone()), ..stretch.tried(moment.heard) })
            }
            None => Event::TurnCompleted { turn: turn.clone() },
        }
    }

    /// The fact that this seat failed for good.
    pub(crate) fn gave_up(&self, failed: &Failed, moment: Moment) -> Event {
        match self.question.ask().stretch {
            Some(stretch) => Event::Summarised(stretch.tried(moment.heard)),
            None => Event::TurnFailed(self.failed(failed, moment)),
        }
    }

    fn failed(&self, failed: &Failed, moment: Moment) -> FailedTurn {
        let error = &failed.error;
        FailedTurn {
            participant: self.name().to_owned(),
            round: moment.round,
            phase: moment.phase.to_owned(),
            class: error.class,
            message: error.message.clone(),
            attempts: self.tried.attempts,
            duration_ms: self.tried.elapsed_ms(moment.now),
            broken: self.broken(failed),
        }
    }
}
