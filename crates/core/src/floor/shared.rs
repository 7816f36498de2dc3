//! What all discussions of a process use.

use std::sync::Arc;

use crate::{
    record::Backing,
    registry::Registry,
    seams::{Clock, Store, Voices},
};

/// The outside world as the engine knows it.
pub struct Shared {
    /// Where facts are kept.
    pub store: Arc<dyn Store>,
    /// Who answers.
    pub voices: Arc<dyn Voices>,
    /// Time and chance.
    pub clock: Arc<dyn Clock>,
    /// The patterns, methods, strategies and detectors there are.
    pub registry: Registry,
}

impl Shared {
    /// What a record needs of it.
    pub(crate) fn backing(&self) -> Backing {
        Backing { store: self.store.clone(), clock: self.clock.clone() }
    }
}
