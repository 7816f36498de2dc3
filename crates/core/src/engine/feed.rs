//! One feed for everyone who watches a discussion: facts as they are recorded, text as it comes.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;

use crate::{
    call::Call,
    model::{
        event::Fact,
        id::{DiscussionId, Seq, Step},
    },
};

/// How far a watcher may fall behind before it must read the record again.
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

/// Listens to a feed as long as there is one. Who has an ear and does not listen costs nothing.
#[derive(Debug, Clone)]
pub(crate) struct Ear {
    sender: broadcast::WeakSender<Signal>,
    began: Arc<OnceLock<Seq>>,
}

impl Ear {
    pub(crate) fn listen(&self) -> Option<broadcast::Receiver<Signal>> {
        self.sender.upgrade().map(|sender| sender.subscribe())
    }

    /// The last fact before this run, once that is known.
    pub(crate) fn began(&self) -> Option<Seq> {
        self.began.get().copied()
    }
}

/// Where signals go out. Nobody listening costs nothing; a slow listener holds nobody up.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    sender: broadcast::Sender<Signal>,
    began: Arc<OnceLock<Seq>>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Feed { sender: broadcast::Sender::new(BACKLOG), began: Arc::default() }
    }

    /// Says after which fact the run begins. The root says it first, and once.
    pub(crate) fn begins_after(&self, seq: Seq) {
        let _ = self.began.set(seq);
    }

    pub(crate) fn fact(&self, discussion: DiscussionId, fact: &Fact) {
        self.send(|| Signal::Fact { discussion, fact: Arc::new(fact.clone()) });
    }

    pub(crate) fn piece(&self, piece: Piece) {
        self.send(|| Signal::Piece(Arc::new(piece)));
    }

    pub(crate) fn trouble(&self, message: &str) {
        self.send(|| Signal::Trouble(message.into()));
    }

    /// A way to listen that does not keep the feed open.
    pub(crate) fn ear(&self) -> Ear {
        Ear { sender: self.sender.downgrade(), began: self.began.clone() }
    }

    fn send(&self, signal: impl FnOnce() -> Signal) {
        if self.sender.receiver_count() > 0 {
            // Fails only when the last listener left in between.
            let _ = self.sender.send(signal());
        }
    }
}
