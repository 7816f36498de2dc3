//! A subscriber inside the process: it looks at the state of a discussion and waits until that
//! changes, or it takes every fact once, in order, and text as it comes.

use std::{collections::VecDeque, sync::Arc};

use quorum::{
    Discussion,
    model::{event::Fact, id::Seq, state::State},
};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use crate::live::channel::{Channel, News, Spoken, Update};

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
    /// Whether the record must be read before anything else is returned.
    is_behind: bool,
}

impl Listener {
    pub(super) fn new(channel: Arc<Channel>, closing: watch::Receiver<bool>) -> Self {
        let news = channel.listen().1;
        Listener { channel, news, closing, last: Seq::START, waiting: VecDeque::new(), is_behind: true }
    }

    /// Reads the record if nothing of it was read yet: the channel of a run that has just begun is
    /// empty.
    pub(super) async fn begin(&self) -> Result<(), quorum::Error> {
        if self.look(|_| ()).is_some() { Ok(()) } else { self.channel.catch_up().await }
    }

    /// Looks at the state as far as it was read; `None` if there is no record.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> Option<T> {
        self.channel.log().state().map(look)
    }

    /// Whether nothing more will happen, because it ended or was removed.
    pub(crate) fn is_over(&self) -> bool {
        self.channel.is_over()
    }

    /// Waits for the next fact, or the removal, without taking it. Text of a turn under way is no
    /// change.
    pub(crate) async fn changed(&mut self) {
        loop {
            // Whatever is passed over here, `next` reads from the record.
            self.is_behind = true;
            match self.news.recv().await {
                Ok(News { update: Update::Piece(_), .. }) => {}
                Ok(News { update: Update::Fact(_) | Update::Removed, .. }) | Err(RecvError::Lagged(_)) => {
                    return;
                }
                // The channel has a sender as long as this exists.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
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
                Ok(News { update: Update::Fact(fact), .. }) if self.last < fact.seq => {
                    self.last = fact.seq;
                    return Some(Heard::Fact(fact));
                }
                Ok(News { update: Update::Piece(piece), .. }) => {
                    let (step, text) = (piece.step.clone(), piece.text.clone());
                    let spoken = Spoken { step, attempt: piece.attempt, text };
                    return Some(Heard::Text { spoken, offset: piece.offset });
                }
                Ok(News { update: Update::Fact(_), .. }) => {}
                Err(RecvError::Lagged(_)) => self.is_behind = true,
                Ok(News { update: Update::Removed, .. }) | Err(RecvError::Closed) => return None,
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

#[cfg(test)]
mod tests {
    use quorum::{Quorum, Request, built_in, model::id::Tenant};
    use serde_json::json;
    use tokio::sync::watch;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn facts_that_a_wait_skipped_are_read_afterwards() {
        let quorum = Quorum::builder().simulated().build().unwrap();
        let scope = quorum.scope(Tenant::default(), "a test");
        let order = json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"] });
        let spec = scope.check(&serde_json::from_value::<Request>(order).unwrap()).unwrap();
        let started = scope.start_once(spec, None).await.unwrap();
        let Some(handle) = started.handle else { panic!("it is a new order") };
        let _ = handle.finished().await;
        let facts = started.discussion.facts(Seq::START).await.unwrap();

        let channel = Arc::new(Channel::new(started.discussion.clone(), built_in()));
        let closing = watch::Sender::new(false);
        let mut listener = Listener::new(channel.clone(), closing.subscribe());
        assert!(listener.look(|_| ()).is_none(), "nothing was read yet");
        for fact in &facts {
            channel.append_next(fact);
            listener.changed().await;
        }
        assert!(listener.is_over());
        let mut taken = Vec::new();
        while taken.len() < facts.len() {
            let Some(Heard::Fact(fact)) = listener.next().await else { panic!("a fact is missing") };
            taken.push(Arc::unwrap_or_clone(fact));
        }
        assert_eq!(taken, facts);
    }
}
