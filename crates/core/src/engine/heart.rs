//! The heartbeat of this process: one task shows the others that it lives, reaps those that don't,
//! notices claims that are lost, and wakes the discussions that have new commands.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::{
    engine::{
        Inner, Running,
        observer::{Look, Observer},
    },
    model::id::{DiscussionId, NodeId},
    seams::{Beat, Claim, Duty, Pulse, Release, StoreError, Wake},
};

/// How often a beat that failed is tried again, as a share of the interval.
const RETRIES: u32 = 4;

/// How often an outage of the store is warned of.
const WARNINGS: Duration = Duration::from_secs(30);

/// After how many looks a claim that is known on one side only is lost or given back.
const SURE: u32 = 3;

/// Beats and passes the store's news on, until the engine is dropped.
pub(crate) async fn beat_on(engine: Weak<Inner>, mut news: BoxStream<'static, Wake>) {
    let Some(every) = engine.upgrade().map(|inner| inner.member.interval()) else { return };
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heart = Heart::default();
    loop {
        let Some(beaten) = engine.upgrade().map(|inner| inner.member.soon.clone()) else { return };
        tokio::select! {
            wake = news.next() => match (wake, engine.upgrade()) {
                (Some(wake), Some(inner)) => inner.pass_on(&wake),
                (_, None) => return,
                // A store that has no more news can still be beaten in.
                (None, Some(_)) => news = futures::stream::pending().boxed(),
            },
            _ = ticks.tick() => heart.beat(&engine).await,
            () = beaten.notified() => heart.beat(&engine).await,
        }
    }
}

#[derive(Default)]
struct Heart {
    observer: Observer,
    /// Claims that were found only on one side, here or in the store, and in how many looks in a
    /// row.
    doubtful: HashMap<(DiscussionId, u64), u32>,
    /// When it was last warned that the store can't be written, in an outage.
    warned: Option<Instant>,
}

impl Heart {
    /// Beats until it is known whether this node lives. Meanwhile its lease may end, also while the
    /// store gives no answer at all.
    async fn beat(&mut self, engine: &Weak<Inner>) {
        tokio::select! {
            () = self.beat_until_known(engine) => {}
            () = hold_back_after_lease(engine) => {}
        }
    }

    async fn beat_until_known(&mut self, engine: &Weak<Inner>) {
        loop {
            let Some(inner) = engine.upgrade() else { return };
            let (Some(node), duty) = (inner.member.joined(), inner.duty()) else { return };
            let begun = Instant::now();
            match inner.services.store.beat(node, duty).await {
                Ok(Some(pulse)) => {
                    inner.member.beaten(begun, &pulse);
                    self.warned = None;
                    inner.set_deaf(false);
                    self.look(&inner, node, &pulse, Look { begun, done: Instant::now() }).await;
                    return;
                }
                Ok(None) => {
                    inner.lose_everything(node);
                    return inner.come_back().await;
                }
                Err(error) => {
                    self.warn(&error);
                    inner.member.set_outage(Some(error.to_string()));
                }
            }
            let wait = inner.member.interval() / RETRIES;
            drop(inner);
            sleep(wait).await;
        }
    }

    /// Warns when an outage begins, and every [`WARNINGS`] while it lasts.
    fn warn(&mut self, error: &StoreError) {
        if self.warned.is_none_or(|it| WARNINGS <= it.elapsed()) {
            self.warned = Some(Instant::now());
            tracing::warn!(%error, "the heartbeat of this process can't be written to the store");
        }
    }

    /// Reaps the dead and compares the claims. What fails is done at the next beat.
    async fn look(&mut self, inner: &Arc<Inner>, node: NodeId, pulse: &Pulse, look: Look) {
        let lease_ms = inner.member.node().lease_ms;
        let own = Beat { node, beat: 0, lease_ms };
        for dead in self.observer.dead(&own, &pulse.beats, look) {
            if let Ok(true) = inner.services.store.reap(dead.node, dead.beat).await {
                tracing::warn!(node = %dead.node, "a node is dead; other nodes continue its discussions");
                inner.member.counts.reaped.fetch_add(1, Ordering::Relaxed);
            }
        }
        let ours = inner.claims();
        if let Ok(held) = inner.services.store.held(node).await {
            self.compare(inner, ours, held).await;
        }
    }

    /// Cancels runs whose claims are lost, and gives back claims that nothing runs under. Both only
    /// after several looks: a run may be just beginning or ending.
    async fn compare(&mut self, inner: &Arc<Inner>, ours: Vec<Claim>, held: Vec<Claim>) {
        let key = |claim: &Claim| (claim.id, claim.fence);
        let (here, there): (HashSet<_>, HashSet<_>) =
            (ours.iter().map(key).collect(), held.iter().map(key).collect());
        let again = |it: &(DiscussionId, u64)| (*it, self.doubtful.get(it).copied().unwrap_or_default() + 1);
        let doubtful: HashMap<_, u32> = here.symmetric_difference(&there).map(again).collect();
        let is_sure = |claim: &&Claim| doubtful.get(&key(claim)).is_some_and(|looks| SURE <= *looks);
        for lost in ours.iter().filter(is_sure) {
            inner.cancel(lost);
        }
        for stray in held.into_iter().filter(|it| is_sure(&it) && !inner.has_begun(it.id)) {
            let _ = inner.services.store.release(stray, Release::Now).await;
        }
        self.doubtful = doubtful;
    }
}

/// Holds new calls back whenever the last beat is older than the lease. Ends with the engine.
async fn hold_back_after_lease(engine: &Weak<Inner>) {
    loop {
        let Some(inner) = engine.upgrade() else { return };
        let lease = Duration::from_millis(inner.member.node().lease_ms);
        let left = lease.saturating_sub(inner.member.beat_age().unwrap_or_default());
        if inner.member.is_deaf() {
            inner.set_deaf(true);
        }
        // Once it has ended, a run may still begin.
        let wait = left.max(inner.member.interval() / RETRIES);
        drop(inner);
        sleep(wait).await;
    }
}

impl Inner {
    fn duty(&self) -> Duty {
        if self.leaving.load(Ordering::SeqCst) { Duty::Draining } else { Duty::Serving }
    }

    fn claims(&self) -> Vec<Claim> {
        self.running().values().filter_map(|it| it.claim.clone()).collect()
    }

    fn has_begun(&self, id: DiscussionId) -> bool {
        self.running().contains_key(&id)
    }

    fn pass_on(&self, wake: &Wake) {
        match wake {
            Wake::Commands(id) => {
                if let Some(discussion) = self.running().get(id) {
                    discussion.control.wake();
                }
            }
            Wake::Resync => self.running().values().for_each(|it| it.control.wake()),
            Wake::Facts { .. } | Wake::Text(_) | Wake::Work | Wake::Lane(_) => {}
        }
    }

    /// Lets no run place a new call while the store can't be reached for longer than a lease.
    fn set_deaf(&self, deaf: bool) {
        self.running().values().for_each(|it| it.control.hold_back(deaf));
    }

    fn cancel(&self, claim: &Claim) {
        let running = self.running();
        if let Some(it) = running.get(&claim.id).filter(|it| it.claim.as_ref() == Some(claim)) {
            self.member.counts.cancelled.fetch_add(1, Ordering::Relaxed);
            it.control.cancel();
        }
    }

    /// Drops all runs of a node that was considered dead, calls included: others run them now.
    pub(super) fn lose_everything(&self, node: NodeId) {
        // Only once, whether a beat or a claim has told so first.
        if !self.member.renew(node) {
            return;
        }
        let running: &HashMap<DiscussionId, Running> = &self.running();
        let lost = running.values().filter(|it| it.claim.as_ref().is_some_and(|claim| claim.node == node));
        for it in lost {
            self.member.counts.cancelled.fetch_add(1, Ordering::Relaxed);
            it.control.cancel();
        }
    }

    /// Joins again under a new id; if that fails, the next claim does.
    async fn come_back(&self) {
        if let Err(error) = self.member.join(&*self.services.store).await {
            tracing::warn!(%error, "this process was declared dead and can't register again yet");
            self.member.set_outage(Some(error.to_string()));
        }
    }
}
