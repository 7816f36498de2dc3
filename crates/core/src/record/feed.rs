//! The live feed of a discussion: facts as they are recorded, and text as it is streamed.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::broadcast;

use crate::{
    model::{
        event::Fact,
        id::{DiscussionId, Seq},
    },
    record::suspicion::Suspicion,
};

pub use crate::model::piece::Piece;

/// How many signals a subscriber may lag behind before it must read the record again.
const BACKLOG: usize = 256;

/// A message to subscribers.
#[derive(Debug, Clone)]
pub enum Signal {
    /// A recorded fact.
    Fact {
        /// The discussion, which may be a sub-discussion of the one subscribed to.
        discussion: DiscussionId,
        /// The fact.
        fact: Arc<Fact>,
    },
    /// Some text of a turn under way; not recorded, and void if the attempt fails.
    Piece(Arc<Piece>),
    /// The store can't be written to at the moment; the write is retried, and nothing is lost.
    Trouble(Arc<str>),
}

/// A handle to subscribe to a feed while it exists. Costs nothing until it is used.
#[derive(Debug, Clone)]
pub(crate) struct FeedHandle {
    channel: Weak<Channel>,
    began: Arc<OnceLock<Seq>>,
}

impl FeedHandle {
    pub(crate) fn listen(&self) -> Option<broadcast::Receiver<Signal>> {
        let channel = self.channel.upgrade()?;
        Some(channel.sender().get_or_insert_with(|| broadcast::Sender::new(BACKLOG)).subscribe())
    }

    /// The number of the last fact before this run, once it is known.
    pub(crate) fn began(&self) -> Option<Seq> {
        self.began.get().copied()
    }
}

/// The sender exists only while there are subscribers: its buffer would be a third of a
/// discussion's memory.
#[derive(Debug, Default)]
struct Channel(Mutex<Option<broadcast::Sender<Signal>>>);

impl Channel {
    fn sender(&self) -> MutexGuard<'_, Option<broadcast::Sender<Signal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending side of a feed. Without subscribers it costs nothing, and a slow subscriber delays
/// nobody.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    channel: Arc<Channel>,
    began: Arc<OnceLock<Seq>>,
    suspicion: Arc<Suspicion>,
}

impl Feed {
    /// A feed whose troubles with the store raise this suspicion.
    pub(crate) fn new(suspicion: &Arc<Suspicion>) -> Self {
        Feed { channel: Arc::default(), began: Arc::default(), suspicion: suspicion.clone() }
    }

    /// Sets the number of the last fact before this run. The root sets it first; later calls do
    /// nothing.
    pub(crate) fn begins_after(&self, seq: Seq) {
        let _ = self.began.set(seq);
    }

    pub(crate) fn fact(&self, discussion: DiscussionId, fact: &Fact) {
        self.send(|| Signal::Fact { discussion, fact: Arc::new(fact.clone()) });
    }

    /// Whether anyone would get what is sent.
    pub(crate) fn has_subscribers(&self) -> bool {
        self.channel.sender().as_ref().is_some_and(|it| 0 < it.receiver_count())
    }

    /// Sends a piece of text, which is built only if there are subscribers.
    pub(crate) fn piece(&self, piece: impl FnOnce() -> Piece) {
        self.send(|| Signal::Piece(Arc::new(piece())));
    }

    pub(crate) fn trouble(&self, message: &str) {
        self.suspicion.raise();
        self.send(|| Signal::Trouble(message.into()));
    }

    /// A handle to subscribe that doesn't keep the feed open.
    pub(crate) fn feed_handle(&self) -> FeedHandle {
        FeedHandle { channel: Arc::downgrade(&self.channel), began: self.began.clone() }
    }

    fn send(&self, signal: impl FnOnce() -> Signal) {
        let mut sender = self.channel.sender();
        if sender.as_ref().is_some_and(|it| it.receiver_count() == 0) {
            *sender = None;
        }
        if let Some(sender) = &*sender {
            // Fails only if the last subscriber left in between.
            let _ = sender.send(signal());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_is_freed_with_the_last_subscriber_and_recreated_for_the_next() {
        let feed = Feed::new(&Arc::default());
        let mut first = feed.feed_handle().listen().unwrap();
        feed.trouble("one");
        assert!(matches!(first.try_recv(), Ok(Signal::Trouble(it)) if &*it == "one"));
        drop(first);
        feed.trouble("has no subscriber");
        assert!(feed.channel.sender().is_none());
        let mut next = feed.feed_handle().listen().unwrap();
        feed.trouble("two");
        assert!(matches!(next.try_recv(), Ok(Signal::Trouble(it)) if &*it == "two"));
    }
}
