//! All channels of the process: one for each discussion that is run here or has a subscriber.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak, atomic::Ordering},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use quorum::{
    Discussion, Error, Handle, Registry, Signal, Started, StoreError,
    model::{
        id::{DiscussionId, Seq},
        state::State,
    },
    seams::{LiveText, Wake},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};

use crate::{
    live::{
        channel::{Channel, Signals},
        listener::Listener,
        watcher::{View, Watcher},
    },
    metrics::{Metrics, Run},
};

/// The poll interval for a discussion that another process runs. News of it come sooner.
const LOOK: Duration = Duration::from_secs(2);

pub(crate) struct Hub {
    channels: Mutex<HashMap<DiscussionId, Arc<Channel>>>,
    metrics: Arc<Metrics>,
    /// The registry that results are read with.
    registry: Registry,
    /// Limits the discussions that run here concurrently.
    places: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    /// The task that listens to the news of the store.
    news: Once,
}

/// A run slot, for as long as it is held.
pub(crate) type RunSlot = OwnedSemaphorePermit;

impl Hub {
    pub(crate) fn new(metrics: Arc<Metrics>, registry: Registry, places: usize) -> Arc<Self> {
        let (places, closing) = (Arc::new(Semaphore::new(places)), watch::Sender::new(false));
        Arc::new(Hub { channels: Mutex::default(), metrics, registry, places, closing, news: Once::new() })
    }

    /// A run slot, if one is free.
    pub(crate) fn run_slot(&self) -> Option<RunSlot> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Waits for a run slot. Those that wait get theirs in the order in which they came.
    pub(crate) async fn next_run_slot(&self) -> Option<RunSlot> {
        self.places.clone().acquire_owned().await.ok()
    }

    /// How many run slots are free.
    pub(crate) fn free(&self) -> usize {
        self.places.available_permits()
    }

    pub(crate) fn has_room(&self) -> bool {
        0 < self.free()
    }

    /// Waits until a run slot is free, without taking it.
    pub(crate) async fn room(&self) {
        drop(self.places.acquire().await);
    }

    /// Ends every stream without aborting any discussion.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// The output of the future, or `None` if the server closes first.
    pub(crate) async fn until_closing<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            done = work => Some(done),
            _ = closing.wait_for(|is_closing| *is_closing) => None,
        }
    }

    /// Publishes the events of a discussion that was just started here.
    pub(crate) fn publish(self: &Arc<Self>, started: Started, slot: RunSlot) -> Discussion {
        if let Some(handle) = &started.handle {
            self.listen_to(&started.discussion, handle, Some(slot));
        }
        started.discussion
    }

    /// The same for a discussion that a person resumed, which is never refused for lack of a slot.
    pub(crate) fn follow(self: &Arc<Self>, discussion: &Discussion, handle: &Handle) {
        self.listen_to(discussion, handle, self.run_slot());
    }

    pub(crate) fn listen_to(
        self: &Arc<Self>,
        discussion: &Discussion,
        handle: &Handle,
        slot: Option<RunSlot>,
    ) {
        let signals: Signals = handle.signals().boxed();
        let mut channels = self.channels();
        let (channel, is_new) = entered(&mut channels, &self.channel(discussion));
        channel.runs.lock().unwrap_or_else(PoisonError::into_inner).push_back((signals, slot));
        channel.woken.notify_one();
        if is_new {
            self.start(channel);
        }
    }

    /// Subscribes to a discussion after this sequence number, whichever process runs it.
    pub(crate) async fn watch(
        self: &Arc<Self>,
        discussion: &Discussion,
        view: View,
        after: Seq,
    ) -> Result<Watcher, Error> {
        self.subscribed(discussion, |it| Watcher::new(it, view, after, self.closing.subscribe())).await
    }

    /// Subscribes to a discussion from its beginning, for a reader in this process, whichever
    /// process runs it.
    pub(crate) async fn hear(self: &Arc<Self>, discussion: &Discussion) -> Result<Listener, Error> {
        let listener = self.subscribed(discussion, |it| Listener::new(it, self.closing.subscribe())).await?;
        listener.begin().await?;
        Ok(listener)
    }

    async fn subscribed<T>(
        self: &Arc<Self>,
        discussion: &Discussion,
        subscribe: impl FnOnce(Arc<Channel>) -> T,
    ) -> Result<T, Error> {
        let is_known = self.channels().contains_key(&discussion.id());
        let fresh = self.channel(discussion);
        if !is_known {
            // Read before anyone subscribes; later subscribers share it.
            fresh.catch_up().await?;
        }
        // Entered and subscribed to under one lock: a channel is removed only while it has no
        // subscribers.
        let mut channels = self.channels();
        let (channel, is_new) = entered(&mut channels, &fresh);
        let subscriber = subscribe(channel.clone());
        if is_new {
            self.start(channel);
        }
        Ok(subscriber)
    }

    /// Inspects a discussion that is run or watched here, without reading the store.
    pub(crate) fn inspect<T>(&self, id: DiscussionId, look: impl FnOnce(&State) -> T) -> Option<T> {
        let channel = self.channels().get(&id).cloned()?;
        let log = channel.log();
        log.state().map(look)
    }

    fn channel(&self, discussion: &Discussion) -> Arc<Channel> {
        Arc::new(Channel::new(discussion.clone(), self.registry.clone()))
    }

    fn start(self: &Arc<Self>, channel: Arc<Channel>) {
        self.news.call_once(|| {
            let news = channel.discussion.quorum().news();
            tokio::spawn(hear_news(Arc::downgrade(self), news));
        });
        tokio::spawn(pump(self.clone(), channel));
    }

    /// Wakes the channels that the news are about.
    fn pass_on(&self, wake: &Wake) {
        match wake {
            Wake::Facts { id, .. } => self.known(*id).iter().for_each(|it| it.woken.notify_one()),
            Wake::Resync => {
                self.drop_outdated();
                self.channels().values().for_each(|it| it.woken.notify_one());
            }
            Wake::Text(LiveText::Piece(piece)) => {
                self.known(piece.discussion).iter().for_each(|it| it.hear_elsewhere(piece));
            }
            Wake::Text(LiveText::Wanted(id)) => self.known(*id).iter().for_each(|it| it.tell_elsewhere()),
            Wake::Commands(_) | Wake::Work | Wake::Lane(_) => {}
        }
    }

    /// Ends the streams of an older epoch of the log; their clients ask again and start over.
    fn drop_outdated(&self) {
        let mut channels = self.channels();
        let outdated: Vec<_> = channels.values().filter(|it| it.is_outdated()).cloned().collect();
        for channel in outdated {
            channels.remove(&channel.discussion.id());
            channel.end();
        }
    }

    fn known(&self, id: DiscussionId) -> Option<Arc<Channel>> {
        self.channels().get(&id).cloned()
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<DiscussionId, Arc<Channel>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the channel if it has no run and no subscribers.
    fn is_done_with(&self, channel: &Channel) -> bool {
        let mut channels = self.channels();
        let is_idle = channel.runs.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        let is_done = is_idle && (channel.watchers() == 0 || channel.is_over());
        let is_current =
            channels.get(&channel.discussion.id()).is_some_and(|it| std::ptr::eq(&**it, channel));
        if is_done && is_current {
            channels.remove(&channel.discussion.id());
        }
        is_done
    }
}

/// The channel of that discussion, and whether it is this new one.
fn entered(channels: &mut HashMap<DiscussionId, Arc<Channel>>, fresh: &Arc<Channel>) -> (Arc<Channel>, bool) {
    let channel = channels.entry(fresh.discussion.id()).or_insert_with(|| fresh.clone());
    (channel.clone(), Arc::ptr_eq(channel, fresh))
}

/// Passes the store's news on while the hub exists.
async fn hear_news(hub: Weak<Hub>, mut news: BoxStream<'static, Wake>) {
    while let (Some(wake), Some(hub)) = (news.next().await, hub.upgrade()) {
        hub.pass_on(&wake);
    }
}

/// The task of a channel: listens to its runs, and polls the record between them.
async fn pump(hub: Arc<Hub>, channel: Arc<Channel>) {
    loop {
        let run = channel.runs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match run {
            Some((signals, slot)) => {
                channel.is_run_here.store(true, Ordering::Release);
                listen(&hub, &channel, signals).await;
                channel.is_run_here.store(false, Ordering::Release);
                drop(slot);
            }
            None => {
                if let Err(Error::Store(StoreError::Unknown(_))) = channel.catch_up().await {
                    channel.end();
                }
                // A record that can't be read now is read at the next poll.
                if hub.is_done_with(&channel) {
                    return;
                }
                channel.discussion.follow();
                let _ = timeout(LOOK, channel.woken.notified()).await;
            }
        }
    }
}

/// Follows one run to its end and counts its facts. The run's signals have every fact of this run
/// once and none of another, however late the listener starts; the record has those of all runs, so
/// facts read from it are sent and not counted.
async fn listen(hub: &Hub, channel: &Channel, mut signals: Signals) {
    let mut runs = None;
    while let Some(signal) = signals.next().await {
        match signal {
            Signal::Fact { discussion, fact } if discussion == channel.discussion.id() => {
                // Not beyond this fact: the text of a turn must be sent before its end. A record
                // that can't be read now is read later.
                let _ = channel.catch_up_before(fact.seq).await;
                let runs = runs.get_or_insert_with(|| new_runs(hub, channel));
                // Counted first: a client that is sent the end finds it counted.
                runs.iter_mut().for_each(|run| run.count(&fact));
                channel.append_next(&fact);
            }
            Signal::Piece(piece) if piece.discussion == channel.discussion.id() => {
                channel.pass_on(&piece);
                channel.discussion.quorum().delta(&piece);
            }
            Signal::Fact { .. } | Signal::Piece(_) | Signal::Trouble(_) => {}
        }
    }
    let _ = channel.catch_up().await;
}

fn new_runs(hub: &Hub, channel: &Channel) -> Vec<Run> {
    let pattern = channel.log().state().map(|it| it.spec.pattern.clone()).unwrap_or_default();
    hub.metrics.run(channel.discussion.tenant(), &pattern)
}

#[cfg(test)]
mod tests {
    use quorum::{Config, Quorum, Request, model::id::Tenant};
    use serde_json::json;
    use tokio::task::yield_now;

    use super::*;

    /// A discussion that ran to its end while nobody listened.
    async fn over(quorum: &Quorum) -> Started {
        let scope = quorum.scope(Tenant::default(), "a test");
        let order = json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"] });
        let spec = scope.check(&serde_json::from_value::<Request>(order).unwrap()).unwrap();
        let started = scope.start_once(spec, None).await.unwrap();
        while !started.discussion.state().await.unwrap().lifecycle.is_terminal() {
            yield_now().await;
        }
        started
    }

    fn simulated(folder: &std::path::Path) -> Quorum {
        let text = "[defaults]\nsimulate = \"latency=0ms\"\nseed = 7\n";
        let config = Config::parse(text, &folder.join("config.toml"), folder.to_owned());
        Quorum::builder().user(config.unwrap()).simulated().build().unwrap()
    }

    #[tokio::test]
    async fn f13_a_client_that_reconnects_before_the_log_is_read_gets_nothing_twice() {
        let folder = tempfile::tempdir().unwrap();
        let quorum = simulated(folder.path());
        let discussion = over(&quorum).await.discussion;
        let last = discussion.facts(Seq::START).await.unwrap().last().unwrap().seq;
        let hub = Hub::new(Arc::new(Metrics::default()), quorum.registry().clone(), 1);
        // As after a restart: the channel is there, and nothing of its record has been read.
        let channel = hub.channel(&discussion);
        hub.channels().insert(discussion.id(), channel.clone());
        let watcher = hub.watch(&discussion, View::Facts, Seq(last.0 - 1)).await.unwrap();
        channel.catch_up().await.unwrap();
        let frames: Vec<_> = watcher.frames().map(Result::unwrap).collect().await;
        let text = String::from_utf8(frames.concat()).unwrap();
        let ids: Vec<&str> = text.lines().filter_map(|it| it.strip_prefix("id: ")).collect();
        assert_eq!(ids, [last.0.to_string()]);
    }

    #[tokio::test]
    async fn b12_a_run_that_is_over_before_it_is_listened_to_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let quorum = simulated(folder.path());
        let metrics = Arc::new(Metrics::default());
        let hub = Hub::new(metrics.clone(), quorum.registry().clone(), 1);
        hub.publish(over(&quorum).await, hub.run_slot().unwrap());
        while !hub.channels().is_empty() {
            yield_now().await;
        }
        let counted = metrics.text(&Tenant::default());
        for line in [
            "ax_discussions_total{status=\"completed\",pattern=\"synthesis\"} 1\n",
            "ax_provider_requests_total{provider=\"claude\",model=\"claude\",outcome=\"ok\"} 2\n",
            "ax_provider_requests_total{provider=\"gemini\",model=\"gemini\",outcome=\"ok\"} 1\n",
        ] {
            assert!(counted.contains(line), "{line} is not in\n{counted}");
        }
    }
}
