//! Serialises actions of this process on the same discussion: starting, steering and removing it.

use quorum_core::model::id::DiscussionId;
use tokio::sync::{Mutex, MutexGuard};

/// The number of locks; discussions beyond that number share them.
const LOCKS: usize = 64;

/// A lock per discussion.
///
/// A process may claim a discussion again that it has claimed already, and that fences the run
/// which holds the first claim. Without this lock, two callers that both find a discussion idle and
/// run it would take it from each other.
pub(super) struct KeyedLock([Mutex<()>; LOCKS]);

impl KeyedLock {
    pub(super) async fn lock(&self, id: DiscussionId) -> MutexGuard<'_, ()> {
        // The last digits of an id are random, the first ones encode its time.
        let bytes = id.to_string().into_bytes();
        let index = bytes.iter().rev().take(4).fold(0, |sum, byte| sum * 31 + usize::from(*byte));
        self.0[index % LOCKS].lock().await
    }
}

impl Default for KeyedLock {
    fn default() -> Self {
        KeyedLock(std::array::from_fn(|_| Mutex::new(())))
    }
}
