//! A subscriber: a cursor into the event log plus a live receiver.

use std::{collections::VecDeque, convert::Infallible, pin::Pin, sync::Arc, time::Duration};

use axum::body::Bytes;
use futures::{FutureExt, Stream, future::BoxFuture, stream};
use quorum::{
    Discussion,
    model::{command::Command, id::Seq},
};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    time::{Instant, Sleep, sleep},
};
use uuid::Uuid;

use crate::{
    app::StreamSlot,
    live::{
        channel::{Channel, EventLog, News},
        frame,
    },
};

/// The usual time after which a keep-alive frame is sent.
const SILENCE: Duration = Duration::from_secs(15);

/// What a subscriber receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Requirement A's twelve events.
    Events,
    /// Every fact as recorded, without text deltas.
    Facts,
    /// Every fact, and text deltas.
    All,
}

impl View {
    fn has_text(self) -> bool {
        match self {
            View::Events | View::All => true,
            View::Facts => false,
        }
    }
}

pub(crate) struct Watcher {
    channel: Arc<Channel>,
    news: broadcast::Receiver<News>,
    view: View,
    /// The cursor: how many events of the log were sent or skipped.
    place: usize,
    /// Events up to here are skipped. The log may have none of them yet: just after a restart it is
    /// still being read.
    after: Seq,
    waiting: VecDeque<Bytes>,
    closing: watch::Receiver<bool>,
    /// Ends when the server closes. Kept, like the timer, so that no frame has to make a new one.
    closed: BoxFuture<'static, ()>,
    keep_alive: KeepAlive,
    leaving: Option<Leaving>,
    _slot: Option<StreamSlot>,
}

/// When the next keep-alive frame is due. Most frames come long before, so the timer is set anew
/// only when it goes off.
struct KeepAlive {
    silence: Duration,
    /// When the last news came.
    last: Instant,
    timer: Pin<Box<Sleep>>,
}

impl KeepAlive {
    fn after(silence: Duration) -> Self {
        KeepAlive { silence, last: Instant::now(), timer: Box::pin(sleep(silence)) }
    }

    /// Restarts the wait.
    fn begin(&mut self) {
        self.last = Instant::now();
    }

    /// Waits until a frame is due, and restarts the wait.
    async fn due(&mut self) {
        loop {
            self.timer.as_mut().await;
            let due = self.last + self.silence;
            if due <= Instant::now() {
                self.begin();
                self.timer.as_mut().reset(self.last + self.silence);
                return;
            }
            self.timer.as_mut().reset(due);
        }
    }
}

impl Watcher {
    /// Subscribes to events after this sequence number. The text so far of turns under way follows
    /// once all earlier events were sent.
    pub(crate) fn new(channel: Arc<Channel>, view: View, after: Seq, closing: watch::Receiver<bool>) -> Self {
        let (news, mut closes) = (channel.listen().1, closing.clone());
        let mut watcher = Watcher {
            channel,
            news,
            view,
            place: 0,
            after,
            waiting: VecDeque::from([Bytes::from_static(frame::RETRY)]),
            closing,
            closed: async move { drop(closes.wait_for(|is_closing| *is_closing).await) }.boxed(),
            keep_alive: KeepAlive::after(SILENCE),
            leaving: None,
            _slot: None,
        };
        watcher.begin_anew();
        watcher
    }

    /// Sends a keep-alive frame after this much silence.
    pub(crate) fn never_silent_for(self, silence: Duration) -> Self {
        Watcher { keep_alive: KeepAlive::after(silence), ..self }
    }

    /// Occupies one of the stream slots.
    pub(crate) fn holding(self, slot: StreamSlot) -> Self {
        Watcher { _slot: Some(slot), ..self }
    }

    /// Aborts the discussion if the client leaves before it is over.
    pub(crate) fn aborting(self) -> Self {
        self.leaving_as(None)
    }

    /// The same for an order that other clients may have sent too, to any node: the last one to
    /// leave aborts it.
    pub(crate) async fn aborting_as_last(self) -> Result<Self, quorum::Error> {
        let client = Uuid::new_v4();
        // Before the note is made, so that a client that leaves meanwhile ends it.
        let mut watcher = self.leaving_as(Some(client));
        if let Err(error) = watcher.channel.discussion.attach(client).await {
            watcher.stay();
            return Err(error);
        }
        Ok(watcher)
    }

    fn leaving_as(self, client: Option<Uuid>) -> Self {
        let (channel, closing) = (self.channel.clone(), self.closing.clone());
        Watcher { leaving: Some(Leaving { channel, closing, client, ended: false }), ..self }
    }

    /// Whether the discussion is over and there is nothing new to send.
    pub(crate) fn has_nothing_new(&self) -> bool {
        // The first frame is the reconnection time.
        self.waiting.len() <= 1 && self.has_nothing_to_tell()
    }

    fn has_nothing_to_tell(&self) -> bool {
        self.channel.is_over() && self.place >= self.channel.log().events.len()
    }

    /// The SSE frames.
    pub(crate) fn frames(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        stream::unfold(self, |mut watcher| async move {
            let frame = watcher.next().await;
            if frame.is_none() {
                watcher.stay();
            }
            frame.map(|frame| (Ok(frame), watcher))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return Some(frame);
            }
            if self.has_nothing_to_tell() || *self.closing.borrow() {
                return None;
            }
            let heard = tokio::select! {
                biased;
                () = &mut self.closed => return None,
                heard = self.news.recv() => heard,
                () = self.keep_alive.due() => return Some(Bytes::from_static(frame::SILENCE)),
            };
            self.keep_alive.begin();
            match heard {
                Ok(News { up_to, text, update: _ }) => {
                    if up_to > self.place {
                        let channel = self.channel.clone();
                        self.queue(&channel.log(), up_to);
                    }
                    self.waiting.extend(text.filter(|_| self.view.has_text()));
                }
                // Lagged: the missed text is sent as a whole, and no event of the log is missed.
                Err(RecvError::Lagged(_)) => self.begin_anew(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Queues the rest of the log and the text so far of turns under way, then subscribes to what
    /// follows.
    fn begin_anew(&mut self) {
        let channel = self.channel.clone();
        let (log, news) = channel.listen();
        self.news = news;
        self.queue(&log, log.events.len());
        if self.view.has_text() {
            self.waiting.extend(log.texts());
        }
    }

    /// Queues the events of the log from the cursor to there. Nothing is copied: all subscribers
    /// share the same bytes.
    fn queue(&mut self, log: &EventLog, up_to: usize) {
        let events = log.events.get(self.place..up_to).unwrap_or_default();
        let first = events.partition_point(|event| event.seq <= self.after);
        for event in &events[first..] {
            let frame = match self.view {
                View::Events => event.announced.clone(),
                View::Facts | View::All => Some(event.fact.clone()),
            };
            self.waiting.extend(frame);
        }
        self.place = self.place.max(up_to);
    }

    /// Marks the stream as ended by itself, so that nothing is aborted.
    fn stay(&mut self) {
        self.leaving.iter_mut().for_each(|it| it.ended = true);
    }
}

/// Aborts a discussion when the client it runs for has left (A15).
struct Leaving {
    channel: Arc<Channel>,
    closing: watch::Receiver<bool>,
    /// The client's note, if it may not be the only one.
    client: Option<Uuid>,
    /// The stream ended by itself.
    ended: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        // When the server closes, discussions are left to be resumed, and notes end with its node.
        if *self.closing.borrow() || (self.ended && self.client.is_none()) {
            return;
        }
        tokio::spawn(left(self.channel.discussion.clone(), self.client, self.ended));
    }
}

async fn left(discussion: Discussion, client: Option<Uuid>, ended: bool) {
    let is_last = match client {
        Some(client) => discussion.detach(client).await,
        None => Ok(true),
    };
    // Without an answer, another client may be waiting.
    if matches!(is_last, Ok(true)) && !ended {
        // There is nobody left to tell of an error.
        drop(discussion.steer(Command::Abort).await);
    }
}
