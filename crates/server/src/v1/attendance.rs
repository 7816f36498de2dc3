//! Discussions that run while a client waits for them. When the last client leaves, no new call is
//! placed; a client that comes back within a minute finds it going on, and without one it is
//! aborted.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use quorum::{
    Discussion, Error, Finished, Handle, Steered, StoreError,
    model::{command::Command, id::DiscussionId, lifecycle::Lifecycle},
};
use tokio::{
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{app::App, live::hub::RunSlot};

/// How long a discussion waits for its client to come back.
const WAITS: Duration = Duration::from_secs(60);

/// How long other nodes leave it to this one: until it is aborted, and some time for that.
pub(crate) const KEPT_MS: u64 = 75_000;

/// How long after its end a repetition gets the same discussion without a key.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The interval at which a discussion that another process runs is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// The number of locks for equal orders; orders beyond that number share them.
const LOCKS: usize = 64;

/// The discussions that clients wait for, or did so a short while ago.
pub(crate) struct Desk {
    entries: Mutex<HashMap<DiscussionId, Arc<Attended>>>,
    /// A repetition waits for the starts of equal orders, so that it finds what it repeats.
    starting: [RwLock<()>; LOCKS],
}

impl Default for Desk {
    fn default() -> Self {
        let starting = std::array::from_fn(|_| RwLock::new(()));
        Desk { entries: Mutex::default(), starting }
    }
}

/// A turn to start or join a discussion, for as long as it is held.
pub(crate) enum Turn<'d> {
    Alone(#[expect(dead_code, reason = "it is held")] RwLockWriteGuard<'d, ()>),
    SideBySide(#[expect(dead_code, reason = "it is held")] RwLockReadGuard<'d, ()>),
}

/// One of them.
pub(crate) struct Attended {
    discussion: Discussion,
    /// The digest of its order and sender, by which a repetition is recognised.
    order: String,
    /// Whether it goes on without a client.
    is_detached: bool,
    presence: watch::Sender<Presence>,
}

#[derive(Debug, Clone, Copy)]
struct Presence {
    clients: usize,
    /// When the last client left.
    left: Option<Instant>,
    ended: Option<Instant>,
}

/// A client that waits, for as long as it is held.
pub(crate) struct Client {
    attended: Arc<Attended>,
    /// Whether it got its answer, so that an equal request is a new one.
    is_served: bool,
}

/// Whether a request is known to repeat an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// The client says so.
    Declared,
    /// It may be one: an equal request whose client left.
    Possible,
}

impl Desk {
    /// Waits for its turn to start or join a discussion of this order: a repetition alone, others
    /// side by side.
    pub(crate) async fn turn(&self, order: &str, is_repetition: bool) -> Turn<'_> {
        let sum = order.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let lock = &self.starting[sum % LOCKS];
        if is_repetition { Turn::Alone(lock.write().await) } else { Turn::SideBySide(lock.read().await) }
    }

    /// Enters a discussion with its first client.
    pub(crate) fn enter(&self, discussion: &Discussion, order: &str, is_detached: bool) -> Client {
        let presence = Presence { clients: 0, left: None, ended: None };
        Client::new(self.add(discussion, order, is_detached, presence))
    }

    /// Enters a discussion that an earlier process left: its client may come back.
    pub(crate) fn expect(&self, discussion: &Discussion, order: &str) -> Arc<Attended> {
        let presence = Presence { clients: 0, left: Some(Instant::now()), ended: None };
        self.add(discussion, order, false, presence)
    }

    fn add(
        &self,
        discussion: &Discussion,
        order: &str,
        is_detached: bool,
        presence: Presence,
    ) -> Arc<Attended> {
        let (discussion, order) = (discussion.clone(), order.to_owned());
        let entry = Attended { discussion, order, is_detached, presence: watch::Sender::new(presence) };
        let mut entries = self.entries();
        let is_past = |it: Presence| it.ended.is_some_and(|at| REMEMBERED < at.elapsed());
        entries.retain(|_, it| !is_past(it.now()));
        entries.entry(entry.discussion.id()).or_insert_with(|| Arc::new(entry)).clone()
    }

    /// Joins the discussion of an equal order, if this may be its repetition. Two clients that both
    /// wait have two discussions.
    pub(crate) fn join(&self, order: &str, repetition: Repetition) -> Option<Client> {
        let entries = self.entries();
        let is_it = |it: &&Arc<Attended>| {
            let now = it.now();
            let is_left = now.clients == 0 && now.left.is_some_and(|at| at.elapsed() < WAITS);
            let is_recent = now.ended.is_none_or(|at| at.elapsed() < REMEMBERED);
            it.order == order && (is_left || (repetition == Repetition::Declared && is_recent))
        };
        let newest = entries.values().filter(is_it).max_by_key(|it| it.discussion.id().to_string());
        newest.cloned().map(Client::new)
    }

    /// Joins this discussion, if it is known.
    pub(crate) fn join_known(&self, id: DiscussionId) -> Option<Client> {
        self.entries().get(&id).cloned().map(Client::new)
    }

    /// Those that wait for a client to come back.
    pub(crate) fn kept(&self) -> Vec<Discussion> {
        let entries = self.entries();
        let is_kept = |it: &&Arc<Attended>| it.now().ended.is_none() && !it.is_detached;
        entries.values().filter(is_kept).map(|it| it.discussion.clone()).collect()
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<DiscussionId, Arc<Attended>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn new(attended: Arc<Attended>) -> Self {
        attended.presence.send_modify(|it| (it.clients, it.left) = (it.clients + 1, None));
        Client { attended, is_served: false }
    }

    pub(crate) fn discussion(&self) -> &Discussion {
        &self.attended.discussion
    }

    pub(crate) fn attended(&self) -> &Arc<Attended> {
        &self.attended
    }

    /// Notes that it got its answer.
    pub(crate) fn served(&mut self) {
        self.is_served = true;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.attended.presence.send_modify(|it| {
            it.clients -= 1;
            it.left = (it.clients == 0 && !self.is_served).then(Instant::now);
        });
        let now = self.attended.now();
        if now.left.is_some() && now.ended.is_none() && !self.attended.is_detached {
            // Calls under way end and are recorded; no new one begins.
            self.attended.discussion.release_for(KEPT_MS);
        }
    }
}

impl Attended {
    fn now(&self) -> Presence {
        *self.presence.borrow()
    }

    fn end(&self) {
        self.presence.send_modify(|it| it.ended = Some(Instant::now()));
    }

    /// Waits until a client is there.
    async fn present(&self) {
        let mut presence = self.presence.subscribe();
        // Fails only if the sender is gone, which this holds.
        let _ = presence.wait_for(|it| 0 < it.clients).await;
    }

    /// Waits until the last client has been away for too long; forever if it goes on without one.
    async fn given_up(&self) {
        let mut presence = self.presence.subscribe();
        loop {
            let now = *presence.borrow_and_update();
            let left = now.left.filter(|_| !self.is_detached);
            tokio::select! {
                () = until(left.map(|it| it + WAITS)) => return,
                _ = presence.changed() => {}
            }
        }
    }

    /// Follows the discussion to its end, run by run. `run` is the one under way, if this process
    /// has it.
    pub(crate) async fn attend(self: Arc<Self>, app: App, run: Option<Handle>) {
        // When the server closes, the next one finds the discussion and waits for its client.
        let _ = app.hub.until_closing(self.follow(&app, run)).await;
    }

    async fn follow(&self, app: &App, mut run: Option<Handle>) {
        loop {
            run = match run {
                Some(handle) => match self.run_to_end(&handle).await {
                    Next::Over => break,
                    Next::Idle => None,
                },
                None => match self.resumed(app).await {
                    Some(handle) => Some(handle),
                    None => break,
                },
            };
        }
        self.end();
    }

    async fn run_to_end(&self, handle: &Handle) -> Next {
        let finished = tokio::select! {
            finished = handle.finished() => finished,
            () = self.given_up() => {
                // It may end by itself at this moment.
                let _ = self.discussion.steer(Command::Abort).await;
                handle.finished().await
            }
        };
        match finished {
            Ok(Finished::Waiting(state)) if state.ruling.is_none() && state.awaiting.is_empty() => Next::Idle,
            // Nobody can decide for the people that it waits for.
            Ok(Finished::Waiting(_)) => {
                self.abort().await;
                Next::Over
            }
            Ok(Finished::Over(_)) | Err(_) => Next::Over,
        }
    }

    /// Goes on with it for a client that has come back; `None` if it is over. A pause by a person
    /// is left alone, also one that no run has taken yet: only a person ends it.
    async fn resumed(&self, app: &App) -> Option<Handle> {
        loop {
            let slot = tokio::select! {
                slot = self.slot(app) => slot?,
                () = self.given_up() => {
                    self.abort_unless_elsewhere().await;
                    return None;
                }
            };
            if self.is_paused().await? {
                drop(slot);
                tokio::select! {
                    () = self.pause_ended(app) => {}
                    () = self.given_up() => {
                        self.abort_unless_elsewhere().await;
                        return None;
                    }
                }
                continue;
            }
            match self.discussion.go_on_here().await {
                Ok(handle) => {
                    app.hub.listen_to(&self.discussion, &handle, Some(slot));
                    return Some(handle);
                }
                // The run is just ending, or another process has it.
                Err(Error::Store(StoreError::Held { .. })) => {
                    drop(slot);
                    sleep(LOOK).await;
                }
                Err(_) => return None,
            }
        }
    }

    /// Whether a person has paused it; `None` if it is over. A client that left leaves no pause in
    /// the record.
    async fn is_paused(&self) -> Option<bool> {
        let lifecycle = self.discussion.state().await.ok()?.lifecycle;
        (!lifecycle.is_terminal()).then_some(lifecycle == Lifecycle::Paused)
    }

    /// Waits until it is no longer paused.
    async fn pause_ended(&self, app: &App) {
        let Ok(mut listener) = app.hub.hear(&self.discussion).await else { return sleep(LOOK).await };
        while self.is_paused().await == Some(true) {
            listener.changed().await;
        }
    }

    /// A run slot, once a client is there.
    async fn slot(&self, app: &App) -> Option<RunSlot> {
        self.present().await;
        app.hub.next_run_slot().await
    }

    /// Follows a discussion that goes on without a client, on whichever node has room for it.
    pub(crate) async fn attend_elsewhere(self: Arc<Self>, app: App) {
        let over = async {
            let Ok(mut listener) = app.hub.hear(&self.discussion).await else { return };
            while !listener.is_over() {
                listener.changed().await;
            }
        };
        if app.hub.until_closing(over).await.is_some() {
            self.end();
        }
    }

    /// Aborts it, unless another node runs it: then that node has a client who waits for it, or is
    /// the one to give it up.
    async fn abort_unless_elsewhere(&self) {
        match self.discussion.runner().await {
            Ok(Some(_)) | Err(_) => {}
            Ok(None) => self.abort().await,
        }
    }

    async fn abort(&self) {
        if let Ok(Steered::Here(handle)) = self.discussion.steer(Command::Abort).await {
            let _ = handle.finished().await;
        }
    }
}

/// What follows a run.
enum Next {
    Over,
    Idle,
}

/// Waits until this moment; forever if there is none.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
