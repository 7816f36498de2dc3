//! One at a time per discussion: whoever starts, steers or removes one waits for whoever is doing so in this process.

use quorum_core::model::id::DiscussionId;
use tokio::sync::{Mutex, MutexGuard};

/// So many discussions can be begun or steered at the same moment; more of them share.
const LANES: usize = 64;

/// Why it is needed: a claim may be taken again by its own process, and that fences the run that has it. Two who look,
/// find nobody, and both run it would each take it from the other.
pub(super) struct Turnstile([Mutex<()>; LANES]);

impl Turnstile {
    pub(super) async fn pass(&self, id: DiscussionId) -> MutexGuard<'_, ()> {
        // The last digits of an id are chance, the first ones are time.
        let bytes = id.to_string().into_bytes();
        let lane = bytes.iter().rev().take(4).fold(0, |sum, byte| sum * 31 + usize::from(*byte));
        self.0[lane % LANES].lock().await
    }
}

impl Default for Turnstile {
    fn default() -> Self {
        Turnstile(std::array::from_fn(|_| Mutex::new(())))
    }
}
