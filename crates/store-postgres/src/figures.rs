//! Counts what a process does with the database, for its metrics.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quorum_core::seams::StoreFigures;

/// The counts of one process, shared by all its connections.
#[derive(Default)]
pub(crate) struct Counts {
    appends: AtomicU64,
    append_us: AtomicU64,
    batches: AtomicU64,
    reconnects: AtomicU64,
    bags: AtomicU64,
    dropped: AtomicU64,
    pool_waits: AtomicU64,
    grants: Mutex<BTreeMap<String, u64>>,
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

impl Counts {
    /// An append, with the time from its order to its answer.
    pub(crate) fn append(&self, took: Duration) {
        add(&self.appends, 1);
        add(&self.append_us, u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// A statement that wrote appends.
    pub(crate) fn batch(&self) {
        add(&self.batches, 1);
    }

    /// The connection that listens was made again.
    pub(crate) fn reconnect(&self) {
        add(&self.reconnects, 1);
    }

    /// Bags of news that were sent.
    pub(crate) fn bags(&self, sent: usize) {
        add(&self.bags, sent as u64);
    }

    /// A piece of live text that was not sent because too much waited.
    pub(crate) fn drop_text(&self) {
        add(&self.dropped, 1);
    }

    /// A job that had to wait for a connection.
    pub(crate) fn pool_wait(&self) {
        add(&self.pool_waits, 1);
    }

    /// Time of a provider that was granted.
    pub(crate) fn grant(&self, lane: &str) {
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        *grants.entry(lane.to_owned()).or_default() += 1;
    }

    pub(crate) fn figures(&self) -> StoreFigures {
        let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
        StoreFigures {
            appends: count(&self.appends),
            append_time: Duration::from_micros(count(&self.append_us)),
            batches: count(&self.batches),
            reconnects: count(&self.reconnects),
            bags: count(&self.bags),
            dropped_texts: count(&self.dropped),
            pool_waits: count(&self.pool_waits),
            grants: self.grants.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
