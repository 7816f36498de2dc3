//! The sub-discussions that a seat asks for within its step.

use std::sync::Arc;

use super::{Seat, Stage, Tried};
use crate::{
    call::Message,
    model::{event::SubConcluded, id::Step, transcript::Turn},
};

/// How many sub-discussions a participant may ask for within one step.
const MOST_SUBS: u32 = 2;

/// The number of sub-discussions begun so far.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    begun: u32,
}

/// A sub-discussion: the step it is recorded at, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sub {
    pub(crate) step: Step,
    pub(crate) topic: String,
}

impl Nested {
    pub(crate) fn is_empty(&self) -> bool {
        self.begun == 0
    }

    pub(crate) fn may_begin(&self) -> bool {
        self.begun < MOST_SUBS
    }

    /// The step of the next sub-discussion.
    pub(crate) fn next_step(&self, base: &Step) -> Step {
        base.purpose(&format!("sub{}", self.begun + 1))
    }
}

impl Seat {
    /// Begins the next sub-discussion, which the reply in `turn` asked for.
    pub(crate) fn begin_sub(&mut self, sub: Sub, turn: &Arc<Turn>) {
        let ask = &mut self.question.asked.ask;
        let question = self.nested.is_empty().then(|| Message::Ask(ask.prompt.clone()));
        let said = (!turn.text.is_empty()).then(|| Message::Said { turn: turn.clone(), own: true });
        ask.exchange.extend(question.into_iter().chain(said));
        self.nested.begun += 1;
        self.stage = Stage::Convening(sub);
    }

    /// Prepares the seat to go on with what the sub-discussion found.
    pub(crate) fn end_sub(&mut self, topic: String, end: &SubConcluded) {
        let asked = &mut self.question.asked;
        asked.ask.exchange.push(Message::Found { topic, text: found(end) });
        self.question.step = asked.step.purpose(&format!("after{}", self.nested.begun));
        self.stage = Stage::Fresh;
        self.tried = Tried::default();
    }
}

fn found(end: &SubConcluded) -> String {
    match (&end.synthesis, &end.problem) {
        (Some(synthesis), _) => synthesis.clone(),
        (None, Some(problem)) => format!("No sub-discussion was held: {}.", problem.message),
        (None, None) => "The sub-discussion came to no result.".to_owned(),
    }
}
