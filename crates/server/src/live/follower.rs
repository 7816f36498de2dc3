//! A follower: looks at the state of a discussion and waits for its next fact.

use std::sync::Arc;

use quorum::model::state::State;
use tokio::sync::broadcast::{self, error::RecvError};

use crate::live::channel::{Channel, News};

pub(crate) struct Follower {
    channel: Arc<Channel>,
    news: broadcast::Receiver<News>,
}

impl Follower {
    pub(crate) fn new(channel: Arc<Channel>) -> Self {
        let news = channel.listen().1;
        Follower { channel, news }
    }

    /// Reads the record if nothing of it was read yet: the channel of a run that has just begun is
    /// empty.
    pub(crate) async fn begin(&self) -> Result<(), quorum::Error> {
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

    /// Waits for the next fact. Text of a turn under way is none.
    pub(crate) async fn changed(&mut self) {
        loop {
            match self.news.recv().await {
                Ok(News { text: Some(_), .. }) => {}
                Ok(News { text: None, .. }) | Err(RecvError::Lagged(_)) => return,
                // The channel has a sender as long as this exists.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}
