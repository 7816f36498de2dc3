//! The services that all discussions of a process share.

use std::sync::Arc;

use crate::{
    record::Backing,
    registry::Registry,
    seams::{Clock, Store, Tools, Voices},
};

/// The engine's interfaces to the outside.
pub struct Services {
    /// The store of facts.
    pub store: Arc<dyn Store>,
    /// The voices that answer.
    pub voices: Arc<dyn Voices>,
    /// The tools that patterns may use.
    pub tools: Arc<dyn Tools>,
    /// Time and random numbers.
    pub clock: Arc<dyn Clock>,
    /// The registered patterns, methods, strategies and detectors.
    pub registry: Registry,
}

impl Services {
    /// The part of it that a record needs.
    pub(crate) fn backing(&self) -> Backing {
        Backing { store: self.store.clone(), clock: self.clock.clone() }
    }
}
