//! List entries of discussions: data from the archive, and data that only the facts contain.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use futures::{StreamExt, TryStreamExt, stream};
use quorum::{
    Error, Scope, Snapshot, StoreError,
    listing::Entry,
    model::{
        digest::{AwaitedTurn, Digest},
        id::DiscussionId,
        lifecycle::Lifecycle,
        money::Usd,
        state::State,
    },
};
use serde::Serialize;

use crate::{live::hub::Hub, wire::ruling};

/// How many records are read concurrently.
const AT_ONCE: usize = 8;

/// The cache size, in finished discussions.
const MOST_KEPT: usize = 10_000;

/// A past or present discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Listed {
    #[serde(flatten)]
    entry: Entry,
    #[serde(flatten)]
    details: EntryDetails,
}

/// Who is awaited, and the cost so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryDetails {
    /// People whose turn it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    awaiting: Vec<Awaited>,
    /// The awaited decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling_awaited: Option<ruling::Awaited>,
    total_tokens: u64,
    /// In USD; absent if a participant without a known price was asked.
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

impl EntryDetails {
    fn of(digest: &Digest) -> Self {
        let awaited = |it: &AwaitedTurn| {
            let AwaitedTurn { participant, round, phase } = it.clone();
            Awaited { participant, round, phase }
        };
        EntryDetails {
            awaiting: digest.awaiting.iter().map(awaited).collect(),
            ruling_awaited: digest.ruling.as_ref().map(ruling::Awaited::of),
            total_tokens: digest.tokens,
            estimated_cost: digest.cost.map(Usd::dollars),
        }
    }
}

/// A cache for finished discussions of older versions, whose records have to be read.
#[derive(Default)]
pub(crate) struct DetailsCache(Mutex<HashMap<DiscussionId, EntryDetails>>);

impl DetailsCache {
    /// Completes these entries of the caller. A discussion that was removed in between is left out.
    pub(crate) async fn complete(
        &self,
        hub: &Hub,
        scope: &Scope,
        entries: Vec<Entry>,
    ) -> Result<Vec<Listed>, Error> {
        let details_of = |state: &State| EntryDetails::of(&Digest::of(state));
        let listed = |entry: Entry| async {
            let id = entry.discussion_id;
            // What runs here is newer than what was last kept for lists.
            let kept = entry.digest.as_ref().map(EntryDetails::of);
            let known = hub.inspect(id, details_of).or(kept).or_else(|| self.cached(id));
            let details = match known {
                Some(known) => Some(known),
                None => self.read(scope, id).await?,
            };
            Ok::<_, Error>(details.map(|details| Listed { entry, details }))
        };
        let all: Vec<Option<Listed>> =
            stream::iter(entries).map(listed).buffered(AT_ONCE).try_collect().await?;
        Ok(all.into_iter().flatten().collect())
    }

    async fn read(&self, scope: &Scope, id: DiscussionId) -> Result<Option<EntryDetails>, Error> {
        let state = match scope.discussion(id).await {
            Ok(discussion) => discussion.state().await,
            Err(error) => Err(error),
        };
        match state {
            Ok(state) => Ok(Some(self.cache(&state))),
            Err(Error::Store(StoreError::Unknown(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn cached(&self, id: DiscussionId) -> Option<EntryDetails> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn cache(&self, state: &Snapshot) -> EntryDetails {
        let details = EntryDetails::of(&Digest::of(state));
        if !matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted) {
            return details;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(state.id, details.clone());
        details
    }
}
