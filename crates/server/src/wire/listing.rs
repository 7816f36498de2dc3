//! A discussion in a list: what the archive knows of it, and what only its facts tell.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use futures::{StreamExt, TryStreamExt, stream};
use quorum::{
    Error, Scope, StoreError,
    listing::Entry,
    model::{event, id::DiscussionId, lifecycle::Lifecycle, outcome::Outcome, state::State},
};
use serde::Serialize;

use crate::wire::project::{Vacant, vacant};

/// How many records are read at the same time.
const AT_ONCE: usize = 8;

/// Of how many finished discussions it is kept what they came to.
const MOST_KEPT: usize = 10_000;

/// A past or present discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Listed {
    #[serde(flatten)]
    entry: Entry,
    #[serde(flatten)]
    standing: Standing,
}

/// Who is awaited, and what it came to so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Standing {
    /// People whose turn it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    awaiting: Vec<Awaited>,
    /// The judge's seat, where it is empty and the debate waits for a word on who judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_awaited: Option<Vacant>,
    total_tokens: u64,
    /// In USD; absent where somebody was asked who has no known price.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_cost: Option<f64>,
}

/// A person whose turn it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Awaited {
    participant: String,
    round: u32,
    phase: String,
}

impl Standing {
    fn of(state: &State) -> Self {
        let metadata = Outcome::of(state).metadata;
        Standing {
            awaiting: state.awaiting.iter().map(awaited).collect(),
            judge_awaited: state.debate.vacancy.as_ref().map(vacant),
            total_tokens: metadata.total_tokens,
            estimated_cost: metadata.estimated_cost,
        }
    }
}

fn awaited(awaited: &event::Awaited) -> Awaited {
    let event::Awaited { participant, round, phase, .. } = awaited.clone();
    Awaited { participant, round, phase }
}

/// What finished discussions came to: that never changes, and reading it takes all their facts.
#[derive(Default)]
pub(crate) struct Sums(Mutex<HashMap<DiscussionId, Standing>>);

impl Sums {
    /// These entries in full. One that was removed in between is left out.
    pub(crate) async fn complete(&self, scope: &Scope, entries: Vec<Entry>) -> Result<Vec<Listed>, Error> {
        let read = stream::iter(entries).map(|entry| self.listed(scope, entry)).buffered(AT_ONCE);
        let all: Vec<Option<Listed>> = read.try_collect().await?;
        Ok(all.into_iter().flatten().collect())
    }

    async fn listed(&self, scope: &Scope, entry: Entry) -> Result<Option<Listed>, Error> {
        if let Some(standing) = self.kept(entry.discussion_id) {
            return Ok(Some(Listed { entry, standing }));
        }
        let state = match scope.discussion(entry.discussion_id).await {
            Ok(discussion) => discussion.state().await,
            Err(error) => Err(error),
        };
        match state {
            Ok(state) => {
                let standing = Standing::of(&state);
                self.keep(&state, &standing);
                Ok(Some(Listed { entry, standing }))
            }
            Err(Error::Store(StoreError::Unknown(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn kept(&self, id: DiscussionId) -> Option<Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn keep(&self, state: &State, standing: &Standing) {
        if !matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(state.id, standing.clone());
    }
}
