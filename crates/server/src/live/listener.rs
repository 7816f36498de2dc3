//! A subscriber that renders a discussion itself: every fact once, in order, and text as it comes.

use std::{collections::VecDeque, sync::Arc};

use quorum::{
    Discussion,
    model::{event::Fact, id::Seq},
};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use crate::live::channel::{Channel, News, Spoken, Told};

/// What a listener hears next.
pub(crate) enum Heard {
    /// A fact.
    Fact(Arc<Fact>),
    /// The text so far of a turn under way, or more of it at this offset.
    Text { spoken: Spoken, offset: usize },
}

pub(crate) struct Listener {
    channel: Arc<Channel>,
    news: broadcast::Receiver<News>,
    closing: watch::Receiver<bool>,
    last: Seq,
    waiting: VecDeque<Heard>,
    /// Whether the record must be read before anything else is told.
    is_behind: bool,
}

impl Listener {
    pub(super) fn new(channel: Arc<Channel>, closing: watch::Receiver<bool>) -> Self {
        let news = channel.listen().1;
        Listener { channel, news, closing, last: Seq::START, waiting: VecDeque::new(), is_behind: true }
    }

    /// What comes next; `None` when the server closes, the discussion was removed, or its record
    /// can't be read.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            if self.is_behind {
                self.catch_up().await?;
            }
            if let Some(heard) = self.waiting.pop_front() {
                return Some(heard);
            }
            let news = tokio::select! {
                news = self.news.recv() => news,
                _ = self.closing.wait_for(|it| *it) => return None,
            };
            match news {
                Ok(News { told: Told::Fact(fact), .. }) if self.last < fact.seq => {
                    self.last = fact.seq;
                    return Some(Heard::Fact(fact));
                }
                Ok(News { told: Told::Piece(piece), .. }) => {
                    let (step, text) = (piece.step.clone(), piece.text.clone());
                    let spoken = Spoken { step, attempt: piece.attempt, text };
                    return Some(Heard::Text { spoken, offset: piece.offset });
                }
                Ok(News { told: Told::Fact(_), .. }) => {}
                Err(RecvError::Lagged(_)) => self.is_behind = true,
                Ok(News { told: Told::Removed, .. }) | Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Reads the facts so far, then the text so far of turns under way; news follow without a gap.
    async fn catch_up(&mut self) -> Option<()> {
        let (up_to, spoken) = {
            let (log, news) = self.channel.listen();
            self.news = news;
            log.spoken()
        };
        let discussion: &Discussion = &self.channel.discussion;
        let facts = discussion.facts(self.last).await.ok()?;
        let facts = facts.into_iter().filter(|it| it.seq <= up_to);
        self.waiting.extend(facts.map(|it| Heard::Fact(Arc::new(it))));
        let spoken = spoken.into_iter().filter(|it| !it.text.is_empty());
        self.waiting.extend(spoken.map(|spoken| Heard::Text { spoken, offset: 0 }));
        (self.last, self.is_behind) = (self.last.max(up_to), false);
        Some(())
    }
}
