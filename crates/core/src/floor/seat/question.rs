//! The question that a seat is asked.

use crate::{
    floor::{ask::Ask, group::Asked},
    model::{id::Step, money::Price},
};

/// A question to one participant, and the price of its answer.
pub(crate) struct Question {
    pub(crate) asked: Asked,
    /// The step of the call to make now: that of the question, or `…/after1` once a sub-discussion
    /// has ended.
    pub(crate) step: Step,
    /// `None` if the price is unknown.
    pub(crate) price: Option<Price>,
}

impl Question {
    pub(crate) fn new(asked: Asked, price: Option<Price>) -> Self {
        Question { step: asked.step.clone(), asked, price }
    }

    pub(crate) fn name(&self) -> &str {
        &self.asked.who.name
    }

    pub(crate) fn ask(&self) -> &Ask {
        &self.asked.ask
    }
}
