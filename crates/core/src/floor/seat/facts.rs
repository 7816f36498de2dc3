//! What a seat has to report: the turn, what it cost, or why there is none.

use std::sync::Arc;

use super::{Failed, Seat, Stage};
use crate::{
    call::tokens::Family,
    floor::{Floor, collect::Reply},
    model::{
        event::{Awaited, Broken, Event, FailedTurn, Summarised},
        money::{Usage, Usd},
        transcript::{Bill, Finish, Turn},
    },
};

impl Seat {
    /// The fact that this person's turn has come.
    pub(crate) fn awaited(&self, floor: &Floor) -> Awaited {
        Awaited {
            participant: self.name().to_owned(),
            answers: self.step.clone(),
            round: floor.now.round,
            phase: floor.now.phase.unwrap_or_default().to_owned(),
            prompt: self.asked.ask.prompt.to_string(),
            shape: self.asked.ask.shape.as_ref().map(|shape| shape.form.kind.to_owned()),
            digest: Some(self.digest(floor)),
        }
    }

    /// What an answer cost: as the provider says, or as far as we can tell.
    fn bill(&self, text: &str, usage: Option<Usage>, cost: Option<Usd>) -> Bill {
        let counted = if let Stage::Calling(placed) = &self.stage { placed.counted } else { 0 };
        let estimate = || Usage::new(counted, Family::of(&self.asked.who).estimate(text));
        let estimated = usage.is_none();
        let usage = usage.unwrap_or_else(estimate);
        let price = self.voice.as_ref().and_then(|voice| voice.price);
        let cost = cost.or_else(|| price.map(|price| price.of(usage)));
        Bill { usage, estimated, price, cost }
    }

    /// What came of an answer that broke off, where something did.
    pub(crate) fn broken(&self, said: &str) -> Option<Broken> {
        (!said.is_empty()).then(|| Broken { text: said.into(), bill: self.bill(said, None, None) })
    }

    /// The reply as a turn, billed.
    pub(crate) fn spoke(&self, reply: &Reply, floor: &Floor) -> Arc<Turn> {
        Arc::new(Turn {
            step: self.step.clone(),
            participant: self.name().to_owned(),
            round: floor.now.round,
            phase: floor.now.phase.unwrap_or_default().to_owned(),
            form: self.asked.ask.shape.as_ref().map(|shape| shape.form.kind.to_owned()),
            text: reply.text.as_str().into(),
            started_at: self.placed_at,
            duration_ms: self.elapsed_ms(),
            finish: if reply.convene.is_some() { Finish::Convene } else { reply.finish },
            bill: self.bill(&reply.text, reply.usage, reply.cost),
            reused: false,
        })
    }

    /// The fact of the answer.
    pub(crate) fn answered(&self, turn: &Arc<Turn>, floor: &Floor) -> Event {
        match self.asked.ask.stretch {
            Some(stretch) => {
                Event::Summarised(Summarised { turn: Some(turn.clone()), ..stretch.tried(floor) })
            }
            None => Event::TurnCompleted { turn: turn.clone() },
        }
    }

    /// The fact that there will be none.
    pub(crate) fn gave_up(&self, failed: &Failed, floor: &Floor) -> Event {
        match self.asked.ask.stretch {
            Some(stretch) => Event::Summarised(stretch.tried(floor)),
            None => Event::TurnFailed(self.failed(failed, floor)),
        }
    }

    fn failed(&self, failed: &Failed, floor: &Floor) -> FailedTurn {
        let error = &failed.error;
        FailedTurn {
            participant: self.name().to_owned(),
            round: floor.now.round,
            phase: floor.now.phase.unwrap_or_default().to_owned(),
            class: error.class,
            message: error.message.clone(),
            attempts: self.attempts,
            duration_ms: self.elapsed_ms(),
            broken: self.broken(&failed.said),
        }
    }
}
