//! What a seat is asked.

use crate::{
    floor::{ask::Ask, group::Asked},
    model::{id::Step, money::Price},
};

/// A question to one participant, and what its answer costs.
pub(crate) struct Question {
    pub(crate) asked: Asked,
    /// The step of the call to be made now: that of the question, or `…/after1` once a
    /// sub-discussion has ended.
    pub(crate) step: Step,
    /// `None` where nobody knows the price.
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
