//! The claimer: takes discussions that no node runs (queued orders, and what dead nodes left) while
//! this server has room for them.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream::BoxStream};
use quorum::{
    model::lifecycle::Lifecycle,
    seams::{Release, Taken, Wake},
};
use tokio::time::{sleep, timeout};

use crate::{app::AppState, v1::attendance::KEPT_MS};

/// How many discussions are claimed at a time. More would leave other nodes idle.
const AT_ONCE: usize = 16;

/// The interval while there is room and work.
const BUSY: Duration = Duration::from_millis(100);

/// The interval otherwise. News of work ends it early.
const IDLE: Duration = Duration::from_secs(1);

/// What was claimed at one time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Round {
    pub(crate) claimed: usize,
    /// How many of them run now.
    pub(crate) begun: usize,
}

/// Claims and runs until the server closes.
pub(crate) async fn claim_on(app: Arc<AppState>) {
    let mut news = app.quorum().news();
    while !app.is_draining() {
        let is_busy = match app.claim_once().await {
            Ok(round) => 0 < round.claimed && app.hub.has_room(),
            Err(error) => {
                tracing::warn!(%error, "no work can be claimed at the moment");
                false
            }
        };
        let waiting = async {
            if is_busy {
                draining(&mut news, sleep(BUSY)).await;
            } else {
                draining(&mut news, app.hub.room()).await;
                rung(&mut news).await;
            }
        };
        if app.hub.until_closing(waiting).await.is_none() {
            return;
        }
    }
}

/// Waits for this, and drops the news meanwhile, so that they don't pile up.
async fn draining(news: &mut BoxStream<'static, Wake>, wait: impl Future<Output = ()>) {
    let mut wait = std::pin::pin!(wait);
    loop {
        tokio::select! {
            () = &mut wait => return,
            wake = news.next() => {
                if wake.is_none() {
                    return wait.await;
                }
            }
        }
    }
}

/// Waits for news of work, or for the end of the interval.
async fn rung(news: &mut BoxStream<'static, Wake>) {
    let work = async {
        while let Some(wake) = news.next().await {
            match wake {
                Wake::Work | Wake::Resync => return,
                Wake::Commands(_) | Wake::Facts { .. } | Wake::Text(_) | Wake::Lane(_) => {}
            }
        }
        std::future::pending::<()>().await;
    };
    let _: Result<(), _> = timeout(IDLE, work).await;
}

impl AppState {
    /// Claims as many as there is room for, and runs them.
    pub(crate) async fn claim_once(self: &Arc<Self>) -> Result<Round, quorum::Error> {
        let room = self.hub.free().min(AT_ONCE);
        if room == 0 || self.is_draining() {
            return Ok(Round::default());
        }
        let all = self.quorum().claim_work(room).await?;
        let mut round = Round { claimed: all.len(), begun: 0 };
        for taken in all {
            let id = taken.claim.id;
            match self.go_on_with(taken).await {
                Ok(runs) => round.begun += usize::from(runs),
                Err(error) => tracing::warn!(%error, %id, "can't continue a discussion"),
            }
        }
        Ok(round)
    }

    /// Runs one of them, if it needs no client; says whether it did.
    async fn go_on_with(self: &Arc<Self>, taken: Taken) -> Result<bool, quorum::Error> {
        let discussion = self.quorum().taken(&taken);
        let state = match discussion.state().await {
            Ok(state) => state,
            // Otherwise it would stay claimed, and no node could run it or give it up for good.
            Err(error) => {
                self.quorum().hand_back(taken, Release::Failed).await;
                return Err(error);
            }
        };
        // A paused one is claimed only for a command by a person, who may have resumed it.
        let client = state.spec.client.as_ref().filter(|_| state.lifecycle != Lifecycle::Paused);
        if let Some(order) = client.and_then(|it| it.attended.as_ref()) {
            // It runs only while its client waits, which may come back here.
            self.quorum().hand_back(taken, Release::After(KEPT_MS)).await;
            let attended = self.desk.expect(&discussion, order);
            tokio::spawn(attended.attend(self.clone(), None));
            return Ok(false);
        }
        // An order may have taken the last slot meanwhile.
        let Some(slot) = self.hub.run_slot() else {
            self.quorum().hand_back(taken, Release::Now).await;
            return Ok(false);
        };
        let started = self.quorum().go_on_with(taken).await?;
        Ok(started.map(|it| self.hub.publish(it, slot)).is_some())
    }
}
