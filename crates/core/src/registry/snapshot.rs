//! A discussion's state together with the vocabulary that its result is made with.

use std::ops::Deref;

use crate::{
    model::{outcome::Outcome, state::State},
    registry::Registry,
};

/// The state of a discussion at some moment, able to give its result.
#[derive(Clone)]
pub struct Snapshot {
    state: Box<State>,
    registry: Registry,
}

impl Snapshot {
    /// This state, read with this vocabulary.
    #[must_use]
    pub fn new(state: Box<State>, registry: Registry) -> Self {
        Snapshot { state, registry }
    }

    /// The result, or as much of it as there is.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.registry.outcome(&self.state)
    }

    /// The vocabulary it is read with.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.state.fmt(f)
    }
}
