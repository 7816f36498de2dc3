//! The heartbeat of this process: one task shows the others that it lives, reaps those that don't,
//! notices claims that are lost, and wakes the discussions that have new commands.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use crate::{
    engine::{
        Inner, Running,
        observer::{Look, Observer},
    },
    model::id::{DiscussionId, NodeId},
    seams::{Beat, Claim, Duty, Pulse, Release, StoreError, Wake},
};

/// A failed beat is retried after the interval divided by this number.
const RETRIES: u32 = 4;

/// How often a warning is logged during an outage of the store.
const WARNINGS: Duration = Duration::from_secs(30);

/// The number of looks after which a claim known on one side only is cancelled or released.
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
                // The heartbeat continues even if the store has no more news.
                (None, Some(_)) => news = futures::stream::pending().boxed(),
            },
            _ = ticks.tick() => heart.beat(&engine).await,
            () = until(heart.observer.next_death()) => heart.beat(&engine).await,
            () = beaten.notified() => heart.beat(&engine).await,
        }
    }
}

/// Waits until this moment; for ever if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

#[derive(Default)]
struct Heart {
    observer: Observer,
    /// Claims found on one side only, here or in the store, with the number of consecutive looks.
    doubtful: HashMap<(DiscussionId, u64), u32>,
    /// When the latest warning of the current outage of the store was logged.
    warned: Option<Instant>,
}

impl Heart {
    /// Beats until the store has said whether this node counts as alive. Its lease may end
    /// meanwhile, even if the store gives no answer at all.
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
                    self.check_writing(&inner).await;
                    inner.set_held_back(false);
                    self.look(&inner, node, &pulse, Look { begun, done: Instant::now() }).await;
                    return;
                }
                Ok(None) => {
                    inner.lose_everything(node);
                    return inner.come_back().await;
                }
                Err(error) => {
                    self.warn("the heartbeat of this process", &error);
                    inner.member.set_outage(Some(error.to_string()));
                }
            }
            let wait = inner.member.interval() / RETRIES;
            drop(inner);
            sleep(wait).await;
        }
    }

    /// Warns when an outage begins, and every [`WARNINGS`] while it lasts.
    fn warn(&mut self, what: &str, error: &StoreError) {
        if self.warned.is_none_or(|it| WARNINGS <= it.elapsed()) {
            self.warned = Some(Instant::now());
            tracing::warn!(%error, "{what} can't be written to the store");
        }
    }

    /// Ends the outage if there is one, unless a write has failed and nothing else can be written
    /// either.
    async fn check_writing(&mut self, inner: &Inner) {
        let member = &inner.member;
        if member.suspicion.is_raised() {
            // The next beat must not come too late.
            match timeout(member.interval(), inner.services.store.try_writing()).await {
                Ok(Err(error @ StoreError::Unavailable(_))) => {
                    self.warn("a discussion", &error);
                    return member.set_outage(Some(error.to_string()));
                }
                Err(_) => return,
                Ok(_) => member.suspicion.settle(),
            }
        }
        self.warned = None;
        member.set_outage(None);
    }

    /// Reaps dead nodes and compares the claims. Whatever fails is tried again at the next beat.
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
        if inner.member.lease_has_ended() {
            inner.set_held_back(true);
        }
        // A run may still begin after the lease has ended, so the loop continues.
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

    /// Sets whether runs hold back new calls, as they must while the store has been out of reach
    /// for longer than a lease.
    fn set_held_back(&self, held_back: bool) {
        self.running().values().for_each(|it| it.control.hold_back(held_back));
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
        // Only once, whether a beat or a claim noticed it first.
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
