//! One who watches: a place in what was told, and an ear for the news.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::body::Bytes;
use futures::{Stream, stream};
use quorum::model::{command::Command, id::Seq};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    time::timeout,
};

use crate::{
    app::Seat,
    live::{
        channel::{Channel, News, Told},
        frame,
    },
};

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Requirement A's twelve events.
    Events,
    /// Every fact as it is recorded; no text that is not.
    Facts,
    /// Every fact, and text as it comes: all there is.
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
    /// How many of the list were told.
    place: usize,
    waiting: VecDeque<Bytes>,
    closing: watch::Receiver<bool>,
    silence: Duration,
    leaving: Option<Leaving>,
    _seat: Option<Seat>,
}

impl Watcher {
    /// Watches what comes after this number. What there is of turns under way comes once everything before it was told.
    pub(crate) fn new(channel: Arc<Channel>, view: View, after: Seq, closing: watch::Receiver<bool>) -> Self {
        let place = channel.told().events.partition_point(|event| event.seq <= after);
        let (news, silence) = (channel.listen().1, Duration::from_secs(15));
        let (waiting, leaving) = (VecDeque::from([Bytes::from_static(frame::RETRY)]), None);
        let mut watcher =
            Watcher { channel, news, view, place, waiting, closing, silence, leaving, _seat: None };
        watcher.begin_anew();
        watcher
    }

    /// Says something at least so often.
    pub(crate) fn never_silent_for(self, silence: Duration) -> Self {
        Watcher { silence, ..self }
    }

    /// Counts as one of the streams there may be.
    pub(crate) fn holding(self, seat: Seat) -> Self {
        Watcher { _seat: Some(seat), ..self }
    }

    /// Ends the discussion if whoever watches leaves before it is over. Where several sent the same order, the last one to leave does.
    pub(crate) fn aborting(self) -> Self {
        self.channel.held_for.fetch_add(1, Ordering::AcqRel);
        let leaving = Leaving { channel: self.channel.clone(), closing: self.closing.clone(), ended: false };
        Watcher { leaving: Some(leaving), ..self }
    }

    /// Whether it is over and there was nothing new to tell.
    pub(crate) fn has_nothing_new(&self) -> bool {
        // The first thing told is when to come back.
        self.waiting.len() <= 1 && self.has_nothing_to_tell()
    }

    fn has_nothing_to_tell(&self) -> bool {
        self.channel.is_over() && self.place >= self.channel.told().events.len()
    }

    /// What goes over the wire.
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
                heard = timeout(self.silence, self.news.recv()) => heard,
                _ = self.closing.changed() => return None,
            };
            match heard {
                Err(_) => return Some(Bytes::from_static(frame::SILENCE)),
                Ok(Ok(News { up_to, text })) => {
                    if up_to > self.place {
                        let channel = self.channel.clone();
                        self.queue(&channel.told(), up_to);
                    }
                    self.waiting.extend(text.filter(|_| self.view.has_text()));
                }
                // Too slow: what was missed of the texts is told as a whole, and nothing of the list is missed.
                Ok(Err(RecvError::Lagged(_))) => self.begin_anew(),
                Ok(Err(RecvError::Closed)) => return None,
            }
        }
    }

    /// Tells what the list has, then what there is of turns under way, and listens to what follows.
    fn begin_anew(&mut self) {
        let channel = self.channel.clone();
        let (told, news) = channel.listen();
        self.news = news;
        self.queue(&told, told.events.len());
        if self.view.has_text() {
            self.waiting.extend(told.texts());
        }
    }

    /// Puts what the list has up to there, and was not told, in front. Nothing is copied: everyone shares the same words.
    fn queue(&mut self, told: &Told, up_to: usize) {
        for event in told.events.get(self.place..up_to).unwrap_or_default() {
            let frame = match self.view {
                View::Events => event.announced.clone(),
                View::Facts | View::All => Some(event.fact.clone()),
            };
            self.waiting.extend(frame);
        }
        self.place = self.place.max(up_to);
    }

    /// It ended by itself; nothing is to be aborted.
    fn stay(&mut self) {
        self.leaving.iter_mut().for_each(|it| it.ended = true);
    }
}

/// Aborts a discussion when the one for whom it was held is gone (A15).
struct Leaving {
    channel: Arc<Channel>,
    closing: watch::Receiver<bool>,
    /// The stream ended by itself.
    ended: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let is_last = self.channel.held_for.fetch_sub(1, Ordering::AcqRel) == 1;
        // A server that closes leaves everything to be gone on with.
        if is_last && !self.ended && !*self.closing.borrow() {
            let discussion = self.channel.discussion.clone();
            tokio::spawn(async move { discussion.steer(Command::Abort).await.map(drop) });
        }
    }
}
