//! The wishes of people, as the running discussion sees them.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

use crate::model::command::Command;

/// Tells a running discussion that its inbox has something new, and its sub-discussions what is wished.
#[derive(Debug, Default)]
pub(crate) struct Control {
    poked: AtomicBool,
    wake: Notify,
    wish: Mutex<Option<Command>>,
}

impl Control {
    /// There may be a new command.
    pub(crate) fn poke(&self) {
        self.poked.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Whether there may be a new command; asks once.
    pub(crate) fn is_poked(&self) -> bool {
        self.poked.swap(false, Ordering::AcqRel)
    }

    /// Waits until there may be one.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn wish(&self, wish: Option<Command>) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = wish;
    }

    pub(crate) fn wished(&self) -> Option<Command> {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
