//! The suspicion that the store can't be written. Any write that fails raises it, and the heartbeat
//! finds out whether it is right: the store may be full and still take heartbeats, and one write
//! may fail although all others succeed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Suspicion {
    is_raised: AtomicBool,
    /// Notified when the next beat should come at once.
    soon: Arc<Notify>,
}

impl Suspicion {
    pub(crate) fn new(soon: Arc<Notify>) -> Self {
        Suspicion { is_raised: AtomicBool::new(false), soon }
    }

    pub(crate) fn raise(&self) {
        if !self.is_raised.swap(true, Ordering::Relaxed) {
            self.soon.notify_one();
        }
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Relaxed)
    }

    /// Ends it, until the next write fails.
    pub(crate) fn settle(&self) {
        self.is_raised.store(false, Ordering::Relaxed);
    }
}
