//! The handle on a running discussion: watch it, steer it, wait for it.

use futures::{
    FutureExt, Stream,
    future::{BoxFuture, Shared},
    stream,
};
use tokio::sync::broadcast::error::RecvError;

use crate::{
    engine::{
        RunError,
        conduct::Ended,
        feed::{Ear, Signal},
    },
    model::{id::DiscussionId, outcome::Outcome, state::State},
};

/// A running discussion. Dropping the handle changes nothing: the discussion goes on.
pub struct Handle {
    id: DiscussionId,
    ear: Ear,
    end: Shared<BoxFuture<'static, Result<Ended, RunError>>>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// The discussion is over.
    Over(Box<State>),
    /// It waits for a person; `ax resume` goes on.
    Waiting(Box<State>),
}

impl Finished {
    /// What there is to see either way.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Finished::Over(state) | Finished::Waiting(state) => Outcome::of(state),
        }
    }
}

impl Handle {
    /// Which discussion.
    #[must_use]
    pub fn id(&self) -> DiscussionId {
        self.id
    }

    /// Everything that happens from now on, ending with the run. A watcher that is too slow misses the oldest signals; the
    /// record has all facts.
    pub fn signals(&self) -> impl Stream<Item = Signal> + Send + use<> {
        stream::unfold(self.ear.listen(), |receiver| async move {
            let mut receiver = receiver?;
            loop {
                match receiver.recv().await {
                    Ok(signal) => return Some((signal, Some(receiver))),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        })
    }

    /// Waits for the end of this run.
    pub async fn finished(&self) -> Result<Finished, RunError> {
        match self.end.clone().await? {
            Ended::Over(state) => Ok(Finished::Over(state)),
            Ended::Suspended(state) => Ok(Finished::Waiting(state)),
        }
    }

    pub(crate) fn new(id: DiscussionId, ear: Ear, end: BoxFuture<'static, Result<Ended, RunError>>) -> Self {
        Handle { id, ear, end: end.shared() }
    }
}
