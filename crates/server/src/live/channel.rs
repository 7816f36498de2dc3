//! The event log of one discussion so far, and a broadcast of new events.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use axum::body::Bytes;
use futures::stream::BoxStream;
use quorum::{
    Discussion, Piece, Registry, Signal,
    model::{
        event::Fact,
        id::{Seq, Step},
        state::State,
    },
    seeds::events::{Announcement, Announcer},
};
use tokio::sync::{Notify, broadcast};

use crate::live::{
    frame::{self, ChunkHeading},
    hub::RunSlot,
};

/// How many text deltas a subscriber may fall behind.
const BACKLOG: usize = 256;

/// The signals of a run.
pub(crate) type Signals = BoxStream<'static, Signal>;

pub(crate) struct Channel {
    pub(crate) discussion: Discussion,
    log: Mutex<EventLog>,
    news: broadcast::Sender<News>,
    /// Read by every subscriber after every delta, so it takes no lock.
    over: AtomicBool,
    /// Runs of it in this process that have no listener yet, each with its run slot.
    pub(super) runs: Mutex<VecDeque<(Signals, Option<RunSlot>)>>,
    pub(super) woken: Notify,
    /// Whether a run of it in this process is being listened to.
    pub(super) is_run_here: AtomicBool,
}

/// A broadcast message.
#[derive(Clone)]
pub(crate) struct News {
    /// The length of the log to send first.
    pub(crate) up_to: usize,
    /// A text delta of a turn under way.
    pub(crate) text: Option<Bytes>,
    /// What happened, for subscribers that render it themselves.
    pub(crate) update: Update,
}

/// What happened.
#[derive(Clone)]
pub(crate) enum Update {
    /// A fact was recorded.
    Fact(Arc<Fact>),
    /// Some text of a turn under way.
    Piece(Arc<Piece>),
    /// The discussion was removed.
    Removed,
}

/// The text so far of a turn under way.
pub(crate) struct Spoken {
    pub(crate) step: Step,
    pub(crate) attempt: u32,
    pub(crate) text: String,
}

/// The event log.
pub(crate) struct EventLog {
    announcer: Announcer,
    pub(crate) events: Vec<Event>,
    /// The text so far of turns under way.
    live: BTreeMap<Step, Live>,
    last: Seq,
    /// The epoch of the log when this was begun.
    epoch: Option<u64>,
}

/// A fact as SSE frames, one for each kind of subscriber.
pub(crate) struct Event {
    pub(crate) seq: Seq,
    pub(crate) announced: Option<Bytes>,
    pub(crate) fact: Bytes,
}

struct Live {
    participant: String,
    round: u32,
    attempt: u32,
    text: String,
    /// What all chunks of the turn have in common, once the first was rendered; `None` inside if
    /// none of them is announced.
    heading: OnceCell<Option<ChunkHeading>>,
}

impl Live {
    fn of(participant: String) -> Self {
        Live { participant, round: 0, attempt: 0, text: String::new(), heading: OnceCell::new() }
    }
}

impl Channel {
    pub(crate) fn new(discussion: Discussion, registry: Registry) -> Self {
        let announcer = Announcer::new(discussion.id(), registry);
        let epoch = discussion.quorum().log_epoch();
        let log = EventLog { announcer, events: Vec::new(), live: BTreeMap::new(), last: Seq::START, epoch };
        Channel {
            discussion,
            log: Mutex::new(log),
            news: broadcast::Sender::new(BACKLOG),
            over: AtomicBool::new(false),
            runs: Mutex::default(),
            woken: Notify::new(),
            is_run_here: AtomicBool::new(false),
        }
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes. Locks the log meanwhile, so that a caller that reads the log misses nothing in
    /// between.
    pub(crate) fn listen(&self) -> (MutexGuard<'_, EventLog>, broadcast::Receiver<News>) {
        let log = self.log();
        let receiver = self.news.subscribe();
        (log, receiver)
    }

    /// Whether nothing more will be sent, unless the discussion is resumed.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(crate) fn watchers(&self) -> usize {
        self.news.receiver_count()
    }

    /// Appends the recorded facts that are not in the log yet.
    pub(crate) async fn catch_up(&self) -> Result<(), quorum::Error> {
        let after = self.log().last;
        let facts = self.discussion.facts(after).await?;
        facts.iter().for_each(|fact| self.append_next(fact));
        Ok(())
    }

    /// The same up to this one, which is not appended.
    pub(crate) async fn catch_up_before(&self, seq: Seq) -> Result<(), quorum::Error> {
        let after = self.log().last;
        if seq <= after.next() {
            return Ok(());
        }
        let facts = self.discussion.facts(after).await?;
        facts.iter().filter(|fact| fact.seq < seq).for_each(|fact| self.append_next(fact));
        Ok(())
    }

    /// Appends a fact if it is the next one.
    pub(crate) fn append_next(&self, fact: &Fact) {
        let mut log = self.log();
        if fact.seq != log.last.next() {
            return;
        }
        log.append(fact, self.discussion.id());
        self.over.store(log.is_over(), Ordering::Release);
        // There may be no subscribers.
        if 0 < self.watchers() {
            let update = Update::Fact(Arc::new(fact.clone()));
            let _ = self.news.send(News { up_to: log.events.len(), text: None, update });
        }
    }

    /// Whether facts that it has may have been lost, because a replica has taken over since.
    pub(crate) fn is_outdated(&self) -> bool {
        self.log().epoch != self.discussion.quorum().log_epoch()
    }

    /// Ends the channel because the discussion was removed, or because it is outdated.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
        let _ = self.news.send(News { up_to: self.log().events.len(), text: None, update: Update::Removed });
    }

    /// Broadcasts a text delta that another process sent.
    pub(crate) fn hear_elsewhere(&self, piece: &Arc<Piece>) {
        if !self.is_run_here.load(Ordering::Acquire) {
            self.pass_on(piece);
        }
    }

    /// Sends the text so far to other processes, if the discussion is run here.
    pub(crate) fn tell_elsewhere(&self) {
        if self.is_run_here.load(Ordering::Acquire) {
            let pieces = self.log().pieces(self.discussion.id());
            pieces.into_iter().for_each(|it| self.discussion.quorum().delta(&Arc::new(it)));
        }
    }

    /// Broadcasts a text delta, if it belongs to a turn that was announced.
    pub(crate) fn pass_on(&self, piece: &Arc<Piece>) {
        let mut log = self.log();
        // Rendered only if there are subscribers: later ones get the text so far.
        if log.add(piece) && 0 < self.watchers() {
            let (text, update) = (log.chunk(&piece.step, piece.offset), Update::Piece(piece.clone()));
            let up_to = log.events.len();
            let _ = text.map(|text| self.news.send(News { up_to, text: Some(text), update }));
        }
    }
}

impl EventLog {
    fn append(&mut self, fact: &Fact, id: quorum::model::id::DiscussionId) {
        let announced = self.announcer.announce(fact);
        self.last = fact.seq;
        let is_begun = |it: &Announcement| matches!(it.name, "turn-started" | "synthesis-started");
        if let Some(step) = fact.step.as_ref().filter(|_| announced.as_ref().is_some_and(is_begun)) {
            let state = self.announcer.state();
            let participant = state.and_then(|it| it.under_way.get(step)).map(|it| it.participant.clone());
            let participant = participant.unwrap_or_default();
            self.live.insert(step.clone(), Live::of(participant));
        }
        if let Some(state) = self.announcer.state() {
            self.live.retain(|step, _| state.under_way.contains_key(step));
        }
        let announced = announced.as_ref().map(|it| frame::announced(it, self.epoch));
        self.events.push(Event { seq: fact.seq, announced, fact: frame::fact(id, fact, self.epoch) });
    }

    /// Adds a piece to the text of its turn; returns whether it is new text that fits.
    fn add(&mut self, piece: &Piece) -> bool {
        let live = self.live.get_mut(&piece.step).filter(|_| !piece.text.is_empty());
        let Some(live) = live else { return false };
        if piece.offset == 0 {
            (live.attempt, live.text) = (piece.attempt, String::new());
        }
        if live.attempt != piece.attempt || live.text.len() != piece.offset {
            // An earlier delta was missed; the finished turn will contain it.
            return false;
        }
        live.round = piece.round;
        live.text.push_str(&piece.text);
        true
    }

    /// The text of a turn from this offset on, if it is announced. A chunk with offset 0 replaces
    /// the text sent before for its turn.
    fn chunk(&self, step: &Step, offset: usize) -> Option<Bytes> {
        let Live { participant, attempt, text, heading, .. } = self.live.get(step)?;
        let of_turn = || self.announcer.chunk(step, participant, 0, "").map(|it| ChunkHeading::of(&it));
        let heading = heading.get_or_init(of_turn).as_ref()?;
        Some(heading.chunk(step, now_ms(), *attempt, (offset, text.get(offset..).unwrap_or_default())))
    }

    /// The text so far of all turns under way.
    pub(crate) fn texts(&self) -> Vec<Bytes> {
        let spoken = self.live.iter().filter(|(_, live)| !live.text.is_empty());
        spoken.filter_map(|(step, _)| self.chunk(step, 0)).collect()
    }

    /// The same as pieces from the beginning.
    fn pieces(&self, discussion: quorum::model::id::DiscussionId) -> Vec<Piece> {
        let spoken = self.live.iter().filter(|(_, live)| !live.text.is_empty());
        let piece = |(step, live): (&Step, &Live)| Piece {
            discussion,
            step: step.clone(),
            attempt: live.attempt,
            participant: live.participant.clone(),
            round: live.round,
            offset: 0,
            text: live.text.clone(),
            hidden: 0,
        };
        spoken.map(piece).collect()
    }

    /// The same for subscribers that render it themselves, and the number of the last fact.
    pub(crate) fn spoken(&self) -> (Seq, Vec<Spoken>) {
        let spoken = self.live.iter().map(|(step, live)| {
            let (step, text) = (step.clone(), live.text.clone());
            Spoken { step, attempt: live.attempt, text }
        });
        (self.last, spoken.collect())
    }

    pub(crate) fn state(&self) -> Option<&State> {
        self.announcer.state()
    }

    fn is_over(&self) -> bool {
        self.state().is_some_and(|state| state.lifecycle.is_terminal())
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
