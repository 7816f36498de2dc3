//! Serialises what this process does to one discussion: starting, steering and removing it.

use quorum_core::model::id::DiscussionId;
use tokio::sync::{Mutex, MutexGuard};

/// How many locks there are; discussions beyond that number share them.
const LOCKS: usize = 64;

/// A lock for each discussion.
///
/// A claim may be taken again by the process that has it, and that fences the run which holds the
/// first claim. Two callers that look at the same discussion at once, find it idle and both run it
/// would take it from each other.
pub(super) struct KeyedLock([Mutex<()>; LOCKS]);

impl KeyedLock {
    pub(super) async fn lock(&self, id: DiscussionId) -> MutexGuard<'_, ()> {
        // The last digits of an id are random, the first ones are its time.
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
