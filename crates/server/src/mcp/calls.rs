//! What the calls of a process share: recent orders, so that a call sent again joins its first
//! discussion; who waits for what; which calls a client may still cancel; and what they queued.
//!
//! None of it is needed for a discussion to go on: it is lost with the process, and only that. An
//! order that another process has is found by keys in the store.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use quorum::{OrderKey, model::id::DiscussionId};
use tokio::{
    sync::{
        Notify,
        mpsc::{self, UnboundedReceiver, UnboundedSender},
    },
    time::Instant,
};
use uuid::Uuid;

use crate::mcp::queue::Queued;

/// How long an equal order is taken for the same one.
pub(crate) const SAME_FOR: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Calls {
    recent: Mutex<HashMap<OrderMark, Recent>>,
    waiting: Mutex<HashMap<DiscussionId, usize>>,
    /// How often each discussion had been paused before a cancelled call paused it.
    paused: Mutex<HashMap<DiscussionId, usize>>,
    open: Mutex<HashMap<CallMark, Vec<Arc<Notify>>>>,
    queue: OnceLock<UnboundedSender<Queued>>,
}

/// Who ordered what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OrderMark {
    pub(crate) tenant: String,
    pub(crate) who: String,
    /// A digest of the order.
    pub(crate) digest: String,
}

/// Whose call it is: the caller, its program, and the call's own id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CallMark {
    pub(crate) tenant: String,
    pub(crate) who: String,
    pub(crate) program: String,
    pub(crate) request: String,
}

impl OrderMark {
    /// The keys by which every process finds this order: one for the period that this time is in,
    /// and one for the next, since a call may be sent again in that.
    pub(crate) fn shared_keys(&self, since_epoch: Duration) -> [OrderKey; 2] {
        let period = since_epoch.as_secs() / SAME_FOR.as_secs();
        [period, period + 1].map(|period| {
            let name = format!("{}\n{}\n{period}", self.who, self.digest);
            let key = format!("mcp {}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()));
            OrderKey { key, digest: self.digest.clone() }
        })
    }
}

struct Recent {
    key: OrderKey,
    at: Instant,
}

impl Calls {
    /// The key under which an equal order was placed a moment ago.
    pub(crate) fn placed(&self, mark: &OrderMark) -> Option<OrderKey> {
        let mut recent = lock(&self.recent);
        recent.retain(|_, it| it.at.elapsed() < SAME_FOR);
        recent.get(mark).map(|it| it.key.clone())
    }

    /// The key under which this order is placed: that of an equal order a moment ago, or a new one.
    pub(crate) fn place(&self, mark: &OrderMark) -> OrderKey {
        self.placed(mark).unwrap_or_else(|| {
            let key = OrderKey { key: format!("mcp {}", Uuid::new_v4()), digest: mark.digest.clone() };
            self.remember(mark, &key);
            key
        })
    }

    /// Remembers the key of an order.
    pub(crate) fn remember(&self, mark: &OrderMark, key: &OrderKey) {
        let recent = Recent { key: key.clone(), at: Instant::now() };
        lock(&self.recent).entry(mark.clone()).or_insert(recent);
    }

    /// Forgets an order whose discussion can no longer be joined, unless it has another key by now.
    pub(crate) fn forget(&self, mark: &OrderMark, key: &OrderKey) {
        let mut recent = lock(&self.recent);
        if recent.get(mark).is_some_and(|it| it.key == *key) {
            recent.remove(mark);
        }
    }

    /// Counts a call that waits for this discussion.
    pub(crate) fn wait_for(&self, id: DiscussionId) {
        *lock(&self.waiting).entry(id).or_default() += 1;
    }

    /// Stops counting it; whether it was the last one.
    pub(crate) fn leave(&self, id: DiscussionId) -> bool {
        let mut waiting = lock(&self.waiting);
        let left = waiting.get(&id).map_or(0, |it| it.saturating_sub(1));
        if left == 0 {
            waiting.remove(&id);
        } else {
            waiting.insert(id, left);
        }
        left == 0
    }

    /// Notes that a cancelled call pauses this discussion, which the client did not ask for, and
    /// how often it was paused before.
    pub(crate) fn note_pause(&self, id: DiscussionId, before: usize) {
        lock(&self.paused).insert(id, before);
    }

    /// How often it was paused before a cancelled call paused it; `None` if no call did. Forgets
    /// that call.
    pub(crate) fn take_pause(&self, id: DiscussionId) -> Option<usize> {
        lock(&self.paused).remove(&id)
    }

    /// Lets this process itself begin what its calls queue, in their order. Without a reader, that
    /// is left to the claimer of a server.
    pub(crate) fn open_queue(&self) -> UnboundedReceiver<Queued> {
        let (sender, reader) = mpsc::unbounded_channel();
        self.queue.get_or_init(|| sender);
        reader
    }

    /// Has a queued order or resume begun as soon as a run slot is free, whether a call waits for
    /// it or not.
    pub(crate) fn begin_later(&self, queued: Queued) {
        if let Some(queue) = self.queue.get() {
            // If this process is closing, the queue has no reader; another process begins it later.
            let _ = queue.send(queued);
        }
    }

    /// Opens a call that its client may cancel with a message of its own.
    pub(crate) fn open(&self, mark: CallMark) -> Arc<Notify> {
        let cancelled = Arc::new(Notify::new());
        lock(&self.open).entry(mark).or_default().push(cancelled.clone());
        cancelled
    }

    pub(crate) fn close(&self, mark: &CallMark, cancelled: &Arc<Notify>) {
        let mut open = lock(&self.open);
        let Some(calls) = open.get_mut(mark) else { return };
        calls.retain(|it| !Arc::ptr_eq(it, cancelled));
        if calls.is_empty() {
            open.remove(mark);
        }
    }

    /// Cancels the call with this mark. Two clients of one caller may use the same ids; if more
    /// than one call has it, none is cancelled.
    pub(crate) fn cancel(&self, mark: &CallMark) {
        if let Some([one]) = lock(&self.open).get(mark).map(Vec::as_slice) {
            one.notify_one();
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(who: &str) -> OrderMark {
        OrderMark { tenant: String::new(), who: who.to_owned(), digest: "d".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn b10_an_equal_order_is_the_same_one_for_a_minute() {
        let calls = Calls::default();
        assert_eq!(calls.placed(&mark("ann")), None);
        let key = calls.place(&mark("ann"));
        assert_eq!(calls.place(&mark("ann")), key);
        assert_ne!(calls.place(&mark("bob")), key);
        tokio::time::advance(SAME_FOR - Duration::from_millis(1)).await;
        assert_eq!(calls.placed(&mark("ann")), Some(key.clone()));
        tokio::time::advance(Duration::from_millis(1)).await;
        let next = calls.place(&mark("ann"));
        assert_ne!(next, key);
        calls.forget(&mark("ann"), &key);
        assert_eq!(calls.placed(&mark("ann")), Some(next.clone()), "it has another key by now");
        calls.forget(&mark("ann"), &next);
        assert_eq!(calls.placed(&mark("ann")), None);
    }

    #[test]
    fn b10_every_process_finds_an_order_by_the_same_keys_for_a_minute_at_least() {
        let at = |seconds: u64| mark("ann").shared_keys(Duration::from_secs(seconds));
        assert_eq!(at(60), at(119));
        assert_eq!(at(60)[1], at(120)[0], "the next period");
        assert_ne!(at(60)[0], at(120)[0]);
        assert_ne!(at(60), mark("bob").shared_keys(Duration::from_secs(60)));
    }

    #[test]
    fn b10_only_the_last_that_waits_may_pause() {
        let (calls, id) = (Calls::default(), DiscussionId::fresh());
        calls.wait_for(id);
        calls.wait_for(id);
        assert_eq!([calls.leave(id), calls.leave(id)], [false, true]);
        calls.note_pause(id, 2);
        assert_eq!([calls.take_pause(id), calls.take_pause(id)], [Some(2), None]);
    }

    #[tokio::test]
    async fn b10_a_cancellation_that_could_mean_two_calls_means_none() {
        let calls = Calls::default();
        let mark = |request: &str| CallMark {
            tenant: String::new(),
            who: "ann".to_owned(),
            program: "node".to_owned(),
            request: request.to_owned(),
        };
        let (one, two) = (calls.open(mark("1")), calls.open(mark("2")));
        calls.cancel(&mark("1"));
        one.notified().await;
        let other = calls.open(mark("2"));
        calls.cancel(&mark("2"));
        calls.close(&mark("2"), &other);
        calls.cancel(&mark("2"));
        two.notified().await;
        calls.close(&mark("2"), &two);
        calls.cancel(&mark("2"));
    }
}
