//! This process as a node of its store: its id, its name, and its state.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use crate::{
    model::{id::NodeId, time::Timestamp},
    record::suspicion::Suspicion,
    seams::{Node, Pulse, Store, StoreError},
};

/// This process as a node.
pub(crate) struct Member {
    node: Mutex<Node>,
    /// The id under which it has joined the store.
    joined: tokio::sync::Mutex<Option<NodeId>>,
    known: Mutex<Option<NodeId>>,
    health: Mutex<Option<Health>>,
    /// Why the store could not be written when the outage began; `None` while there is none.
    outage: watch::Sender<Option<String>>,
    pub(crate) counts: Counts,
    /// Raised by writes that failed.
    pub(crate) suspicion: Arc<Suspicion>,
    /// Notified when the next beat should come at once.
    pub(crate) soon: Arc<Notify>,
}

/// The counts since the start of this process.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) claims: AtomicU64,
    pub(crate) takeovers: AtomicU64,
    pub(crate) fenced: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) reaped: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Health {
    /// When the last successful beat was begun.
    beaten: Instant,
    nodes: usize,
    at: Option<Timestamp>,
}

impl Member {
    pub(crate) fn new(node: Node) -> Self {
        let soon: Arc<Notify> = Arc::default();
        Member {
            node: Mutex::new(node),
            joined: tokio::sync::Mutex::default(),
            known: Mutex::default(),
            health: Mutex::default(),
            outage: watch::Sender::default(),
            counts: Counts::default(),
            suspicion: Arc::new(Suspicion::new(soon.clone())),
            soon,
        }
    }

    pub(crate) fn node(&self) -> Node {
        locked(&self.node).clone()
    }

    /// The id under which it has joined.
    pub(crate) fn joined(&self) -> Option<NodeId> {
        *locked(&self.known)
    }

    /// The interval of its beats.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_millis((self.node().lease_ms / 3).max(1))
    }

    /// Joins the store, unless it has done so, and returns its id.
    pub(crate) async fn join(&self, store: &dyn Store) -> Result<NodeId, StoreError> {
        let mut joined = self.joined.lock().await;
        let node = self.node();
        if *joined != Some(node.id) {
            let id = node.id;
            store.join(node).await?;
            *joined = Some(id);
            *locked(&self.known) = Some(id);
            self.set_outage(None);
            *locked(&self.health) = Some(Health { beaten: Instant::now(), nodes: 1, at: None });
        }
        Ok(joined.unwrap_or_else(|| self.node().id))
    }

    /// Takes a new id in place of this one, and says whether it still had it.
    pub(crate) fn renew(&self, gone: NodeId) -> bool {
        let mut node = locked(&self.node);
        let is_own = node.id == gone;
        if is_own {
            node.id = NodeId::fresh();
            *locked(&self.known) = None;
        }
        is_own
    }

    pub(crate) fn beaten(&self, begun: Instant, pulse: &Pulse) {
        *locked(&self.health) = Some(Health { beaten: begun, nodes: pulse.beats.len(), at: pulse.at });
    }

    /// Records why the store can't be written, or with `None` that it can be. During an outage the
    /// first reason is kept.
    pub(crate) fn set_outage(&self, reason: Option<String>) {
        self.outage.send_if_modified(|known| {
            let begins_or_ends = known.is_some() != reason.is_some();
            if begins_or_ends {
                *known = reason;
            }
            begins_or_ends
        });
    }

    /// Notes the outcome of a write: if the store was unavailable, the next beat finds out why.
    pub(crate) fn note<T>(&self, done: &Result<T, StoreError>) {
        if matches!(done, Err(StoreError::Unavailable(_))) {
            self.suspicion.raise();
        }
    }

    /// Whether there is an outage of the store.
    pub(crate) fn has_outage(&self) -> bool {
        self.outage.borrow().is_some()
    }

    /// The outages of the store from now on; see [`Engine::outages`].
    ///
    /// [`Engine::outages`]: crate::engine::Engine::outages
    pub(crate) fn outages(&self) -> BoxStream<'static, Option<String>> {
        let changed = |mut outage: watch::Receiver<Option<String>>| async {
            outage.changed().await.ok()?;
            let reason = outage.borrow_and_update().clone();
            Some((reason, outage))
        };
        stream::unfold(self.outage.subscribe(), changed).boxed()
    }

    /// How long ago the last successful beat was; `None` if it has not joined.
    pub(crate) fn beat_age(&self) -> Option<Duration> {
        locked(&self.health).map(|it| it.beaten.elapsed())
    }

    /// The number of nodes at the last beat.
    pub(crate) fn nodes(&self) -> usize {
        locked(&self.health).map_or(0, |it| it.nodes)
    }

    /// Whether it could not beat for a lease, so that others may take it for dead.
    pub(crate) fn lease_has_ended(&self) -> bool {
        let lease = Duration::from_millis(self.node().lease_ms);
        self.beat_age().is_some_and(|age| lease <= age)
    }

    /// How far the store's clock was ahead of this one at the last beat, in ms.
    pub(crate) fn skew_ms(&self, now: Timestamp) -> Option<i64> {
        let health = (*locked(&self.health))?;
        let age = i64::try_from(health.beaten.elapsed().as_millis()).unwrap_or(i64::MAX);
        Some((health.at?.0 - now.0) / 1_000 + age)
    }

    /// Counts a run that another node has fenced, and beats at once to learn whether all are lost.
    pub(crate) fn was_fenced(&self) {
        self.counts.fenced.fetch_add(1, Ordering::Relaxed);
        self.soon.notify_one();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
