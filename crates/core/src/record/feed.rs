//! The feed of a discussion for its subscribers: facts as they are recorded, text as it comes.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::broadcast;

use crate::{
    call::Call,
    model::{
        event::Fact,
        id::{DiscussionId, Seq, Step},
    },
};

/// How far a subscriber may fall behind before it must read the record again.
const BACKLOG: usize = 256;

/// Something to see.
#[derive(Debug, Clone)]
pub enum Signal {
    /// A fact, recorded.
    Fact {
        /// Of this discussion, which may be a sub-discussion of the one watched.
        discussion: DiscussionId,
        /// The fact.
        fact: Arc<Fact>,
    },
    /// Some text of a turn under way; not recorded, and void when the attempt fails.
    Piece(Arc<Piece>),
    /// The store can't be written to at the moment; nothing is lost, it is tried again.
    Trouble(Arc<str>),
}

/// Some text of a turn under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Of which discussion.
    pub discussion: DiscussionId,
    /// Of which step.
    pub step: Step,
    /// Of which attempt; a new one begins anew.
    pub attempt: u32,
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// Where in the text, in bytes.
    pub offset: usize,
    /// The text.
    pub text: String,
}

impl Piece {
    pub(crate) fn of(call: &Call, offset: usize, text: String) -> Piece {
        Piece {
            discussion: call.discussion,
            step: call.step.clone(),
            attempt: call.attempt,
            participant: call.participant.name.clone(),
            round: call.round,
            offset,
            text,
        }
    }
}

/// Listens to a feed as long as there is one. An ear that doesn't listen costs nothing.
#[derive(Debug, Clone)]
pub(crate) struct Ear {
    channel: Weak<Channel>,
    began: Arc<OnceLock<Seq>>,
}

impl Ear {
    pub(crate) fn listen(&self) -> Option<broadcast::Receiver<Signal>> {
        let channel = self.channel.upgrade()?;
        Some(channel.sender().get_or_insert_with(|| broadcast::Sender::new(BACKLOG)).subscribe())
    }

    /// The last fact before this run, once that is known.
    pub(crate) fn began(&self) -> Option<Seq> {
        self.began.get().copied()
    }
}

/// There is a sender only while somebody listens: its backlog would be a third of what a discussion
/// takes in memory.
#[derive(Debug, Default)]
struct Channel(Mutex<Option<broadcast::Sender<Signal>>>);

impl Channel {
    fn sender(&self) -> MutexGuard<'_, Option<broadcast::Sender<Signal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where signals go out. Without listeners it costs nothing; a slow listener delays nobody.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    channel: Arc<Channel>,
    began: Arc<OnceLock<Seq>>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Feed { channel: Arc::default(), began: Arc::default() }
    }

    /// Says after which fact the run begins. The root says it first, and once.
    pub(crate) fn begins_after(&self, seq: Seq) {
        let _ = self.began.set(seq);
    }

    pub(crate) fn fact(&self, discussion: DiscussionId, fact: &Fact) {
        self.send(|| Signal::Fact { discussion, fact: Arc::new(fact.clone()) });
    }

    /// A piece is made only where somebody listens.
    pub(crate) fn piece(&self, piece: impl FnOnce() -> Piece) {
        self.send(|| Signal::Piece(Arc::new(piece())));
    }

    pub(crate) fn trouble(&self, message: &str) {
        self.send(|| Signal::Trouble(message.into()));
    }

    /// A way to listen that does not keep the feed open.
    pub(crate) fn ear(&self) -> Ear {
        Ear { channel: Arc::downgrade(&self.channel), began: self.began.clone() }
    }

    fn send(&self, signal: impl FnOnce() -> Signal) {
        let mut sender = self.channel.sender();
        if sender.as_ref().is_some_and(|it| it.receiver_count() == 0) {
            *sender = None;
        }
        if let Some(sender) = &*sender {
            // Fails only when the last listener left in between.
            let _ = sender.send(signal());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backlog_is_given_up_with_the_last_listener_and_made_anew_for_the_next() {
        let feed = Feed::new();
        let mut first = feed.ear().listen().unwrap();
        feed.trouble("one");
        assert!(matches!(first.try_recv(), Ok(Signal::Trouble(it)) if &*it == "one"));
        drop(first);
        feed.trouble("nobody hears this");
        assert!(feed.channel.sender().is_none());
        let mut next = feed.ear().listen().unwrap();
        feed.trouble("two");
        assert!(matches!(next.try_recv(), Ok(Signal::Trouble(it)) if &*it == "two"));
    }
}
