//! The handle of a running discussion: subscribe to it, steer it, wait for it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{
    FutureExt, Stream,
    future::{BoxFuture, Shared},
    stream,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    engine::{RunError, conduct::Ended},
    model::{
        id::{DiscussionId, Seq},
        outcome::Outcome,
    },
    record::feed::{FeedHandle, Signal},
    registry::{Registry, Snapshot},
    seams::Store,
};

/// A running discussion. Dropping the handle changes nothing: the discussion goes on.
pub struct Handle {
    id: DiscussionId,
    feed_handle: FeedHandle,
    /// A receiver from before the run began, for the first subscriber.
    early: Mutex<Option<Receiver<Signal>>>,
    store: Arc<dyn Store>,
    registry: Registry,
    end: Shared<BoxFuture<'static, Result<Ended, RunError>>>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// The discussion is over.
    Over(Snapshot),
    /// It waits for a person, and goes on when it is resumed.
    Waiting(Snapshot),
}

impl Finished {
    /// The outcome so far, in either case.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Finished::Over(state) | Finished::Waiting(state) => state.outcome(),
        }
    }
}

impl Handle {
    /// The id of the discussion.
    #[must_use]
    pub fn id(&self) -> DiscussionId {
        self.id
    }

    /// All signals until the run ends. The first subscriber gets them from the beginning, unless
    /// [`Handle::finished`] was called before; later ones from now on. A subscriber that is too
    /// slow misses pieces of text and what happens in sub-discussions, but no fact: missed facts
    /// are read from the record.
    pub fn signals(&self) -> impl Stream<Item = Signal> + Send + use<> {
        let listener = self.early().or_else(|| self.feed_handle.listen()).map(|receiver| Listener {
            id: self.id,
            receiver,
            feed_handle: self.feed_handle.clone(),
            store: self.store.clone(),
            last: None,
            missed: VecDeque::new(),
        });
        stream::unfold(listener, |listener| async move {
            let mut listener = listener?;
            listener.next().await.map(|signal| (signal, Some(listener)))
        })
    }

    /// Waits for the end of this run.
    pub async fn finished(&self) -> Result<Finished, RunError> {
        // A caller that waits for the end doesn't subscribe, and the early receiver takes memory.
        drop(self.early());
        match self.end.clone().await? {
            Ended::Over(state) => Ok(Finished::Over(Snapshot::new(state, self.registry.clone()))),
            Ended::Suspended(state) => Ok(Finished::Waiting(Snapshot::new(state, self.registry.clone()))),
        }
    }

    fn early(&self) -> Option<Receiver<Signal>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn new(
        id: DiscussionId,
        (feed_handle, early): (FeedHandle, Option<Receiver<Signal>>),
        services: &crate::engine::services::Services,
        end: BoxFuture<'static, Result<Ended, RunError>>,
    ) -> Self {
        let (store, registry) = (services.store.clone(), services.registry.clone());
        Handle { id, feed_handle, early: Mutex::new(early), store, registry, end: end.shared() }
    }
}

/// One subscriber and its cursor.
struct Listener {
    id: DiscussionId,
    receiver: Receiver<Signal>,
    feed_handle: FeedHandle,
    store: Arc<dyn Store>,
    last: Option<Seq>,
    missed: VecDeque<Signal>,
}

impl Listener {
    async fn next(&mut self) -> Option<Signal> {
        loop {
            if let Some(signal) = self.missed.pop_front() {
                return Some(signal);
            }
            match self.receiver.recv().await {
                Ok(Signal::Fact { discussion, fact }) if discussion == self.id => {
                    if self.last.is_none_or(|last| fact.seq > last) {
                        self.last = Some(fact.seq);
                        return Some(Signal::Fact { discussion, fact });
                    }
                }
                Ok(signal) => return Some(signal),
                Err(RecvError::Lagged(_)) => self.catch_up().await,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Reads the facts that were missed. If that fails, the next lag retries it, unless the run
    /// ends first.
    async fn catch_up(&mut self) {
        let after = self.last.or_else(|| self.feed_handle.began()).unwrap_or(Seq::START);
        let facts = self.store.read(self.id, after, usize::MAX).await.unwrap_or_default();
        self.last = facts.last().map(|fact| fact.seq).or(self.last);
        let discussion = self.id;
        self.missed.extend(facts.into_iter().map(|fact| Signal::Fact { discussion, fact: Arc::new(fact) }));
    }
}
