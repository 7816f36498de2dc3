//! News between processes by LISTEN and NOTIFY, on a connection of its own.
//!
//! NOTIFY takes a lock of the whole database at its commit, so it is never part of a transaction
//! that writes: news is collected for a moment, packed, and sent after what it tells of. Every
//! process listens at two channels: its own, and that of all processes of the store.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use quorum_core::{
    model::{
        id::{DiscussionId, Seq, Step},
        piece::Piece,
    },
    seams::{LiveText, Wake},
};
use tokio::{
    sync::{
        Notify,
        mpsc::{self, UnboundedReceiver, UnboundedSender},
    },
    task::JoinHandle,
    time::MissedTickBehavior,
};
use tokio_postgres::{AsyncMessage, Notification, Row};
use uuid::Uuid;

use crate::{
    bag::{Line, packed, unpacked},
    connection::{Connection, Place},
    error::JobError,
    figures::Counts,
    pool::Pool,
};

/// How long news is collected before it is sent.
const COLLECT: Duration = Duration::from_millis(20);

/// How long a discussion is followed after it was asked for.
const FOLLOWED: Duration = Duration::from_secs(30);

/// How much text may wait to be sent; more is lost, and the finished turn contains it.
const MOST_TEXT: usize = 4 * 1_024 * 1_024;

/// How often a process that runs discussions looks for commands whose news was lost.
const LOOK: Duration = Duration::from_secs(1);

/// The first and the longest wait before connecting again.
const RECONNECT: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// The timeline that is written now. What `pg_control_checkpoint()` tells is that of the last
/// checkpoint, which a replica makes only some time after it has taken over.
const TIMELINE: &str = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint";

pub(crate) struct News {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    /// The channel of this process.
    own: String,
    /// The channel of all processes of the store.
    all: String,
    subscribers: Mutex<Vec<UnboundedSender<Wake>>>,
    /// The discussions that this process follows, and since when.
    followed: Mutex<HashMap<DiscussionId, Instant>>,
    /// The channels of other processes that follow a discussion, and since when.
    followers: Mutex<HashMap<DiscussionId, HashMap<String, Instant>>>,
    /// Until when providers asked any process to wait.
    closed: Mutex<HashMap<String, Instant>>,
    outbox: Mutex<Outbox>,
    bell: Notify,
    /// Whether this process may run discussions, and so needs to know of commands.
    is_running: AtomicBool,
    /// The timeline of the database, as of the last connection.
    epoch: AtomicU64,
    counts: Arc<Counts>,
}

/// What waits to be sent.
#[derive(Default)]
struct Outbox {
    work: bool,
    facts: BTreeMap<DiscussionId, Seq>,
    follows: BTreeSet<DiscussionId>,
    closed: BTreeMap<String, u64>,
    pieces: BTreeMap<(DiscussionId, Step), Vec<Piece>>,
    text: usize,
}

impl News {
    /// Connects and begins to listen.
    pub(crate) async fn start(place: Place, pool: Pool, store: Uuid) -> Result<Self, JobError> {
        let all = format!("quorum_{}", store.simple());
        let own = format!("quorum_{}", Uuid::new_v4().simple());
        let shared = Arc::new(Shared {
            own,
            all,
            subscribers: Mutex::default(),
            followed: Mutex::default(),
            followers: Mutex::default(),
            closed: Mutex::default(),
            outbox: Mutex::default(),
            bell: Notify::new(),
            is_running: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
            counts: place.counts.clone(),
        });
        let line = Listening::open(&place, &shared).await?;
        let task = place.runtime.clone().spawn(run(place, pool, shared.clone(), line));
        Ok(News { shared, task })
    }

    /// The epoch of the log: the timeline of the database. A replica that takes over begins a new
    /// one, and every connection to the old one breaks.
    pub(crate) fn epoch(&self) -> u64 {
        self.shared.epoch.load(Ordering::Acquire)
    }

    /// The channel of this process.
    pub(crate) fn channel(&self) -> &str {
        &self.shared.own
    }

    /// Tells other processes of providers that want a pause.
    pub(crate) fn announcer(&self) -> Announcer {
        Announcer(self.shared.clone())
    }

    pub(crate) fn subscribe(&self) -> BoxStream<'static, Wake> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        lock(&self.shared.subscribers).push(sender);
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }

    /// Tells everyone that something may be claimable.
    pub(crate) fn work(&self) {
        self.shared.tell(&Wake::Work);
        self.shared.post(|outbox| outbox.work = true);
    }

    /// Tells of a command: this process, and those that may claim a discussion that nobody runs.
    /// Returns the channel of another process that runs it; that one is told at once by
    /// [`notify`], because a command is often the last thing that a process does.
    pub(crate) fn commands(&self, id: DiscussionId, runner: Option<String>) -> Option<String> {
        self.shared.tell(&Wake::Commands(id));
        if runner.is_none() {
            self.work();
        }
        runner.filter(|channel| *channel != self.shared.own)
    }

    /// Says whether this process may run discussions.
    pub(crate) fn set_running(&self, is_running: bool) {
        self.shared.is_running.store(is_running, Ordering::Relaxed);
    }

    /// Tells of new facts, if the discussion is followed.
    pub(crate) fn facts(&self, id: DiscussionId, last: Seq) {
        let is_followed =
            lock(&self.shared.followed).get(&id).is_some_and(|since| since.elapsed() < FOLLOWED);
        if is_followed {
            self.shared.tell(&Wake::Facts { id, last });
        }
        if self.shared.has_followers(id) {
            self.shared.post(|outbox| {
                outbox.facts.insert(id, last);
            });
        }
    }

    /// Follows a discussion for a while.
    pub(crate) fn follow(&self, id: DiscussionId) {
        let mut followed = lock(&self.shared.followed);
        followed.retain(|_, since| since.elapsed() < FOLLOWED);
        followed.insert(id, Instant::now());
        drop(followed);
        self.shared.post(|outbox| {
            outbox.follows.insert(id);
        });
    }

    /// Passes text on, if the discussion is followed.
    pub(crate) fn delta(&self, piece: &Piece) {
        if self.shared.has_followers(piece.discussion) {
            let mut is_added = true;
            self.shared.post(|outbox| is_added = outbox.add_text(piece));
            if !is_added {
                self.shared.counts.drop_text();
            }
        }
    }
}

/// Tells the process at a channel that a discussion has commands.
pub(crate) async fn notify(
    connection: &mut Connection,
    channel: &str,
    id: DiscussionId,
) -> Result<(), JobError> {
    let bag = packed([Line::Commands(id)]).concat();
    connection.query("SELECT pg_notify($1, $2)", &[&channel, &bag]).await.map(drop)
}

/// Tells other processes of providers that want a pause, and knows what they told.
#[derive(Clone)]
pub(crate) struct Announcer(Arc<Shared>);

impl Announcer {
    /// Tells all processes that a provider asked to wait.
    pub(crate) fn close(&self, lane: &str, wait: Duration) {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.0.post(|outbox| {
            let known = outbox.closed.entry(lane.to_owned()).or_default();
            *known = ms.max(*known);
        });
    }

    /// How long a provider asked another process to wait.
    pub(crate) fn closed_for(&self, lane: &str) -> Duration {
        let until = lock(&self.0.closed).get(lane).copied();
        until.map_or(Duration::ZERO, |it| it.saturating_duration_since(Instant::now()))
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn tell(&self, wake: &Wake) {
        lock(&self.subscribers).retain(|subscriber| subscriber.send(wake.clone()).is_ok());
    }

    fn post(&self, change: impl FnOnce(&mut Outbox)) {
        change(&mut lock(&self.outbox));
        self.bell.notify_one();
    }

    fn has_followers(&self, id: DiscussionId) -> bool {
        let followers = lock(&self.followers);
        followers.get(&id).is_some_and(|all| all.values().any(|since| since.elapsed() < FOLLOWED))
    }

    /// The channels that follow a discussion.
    fn followers(&self, id: DiscussionId) -> Vec<String> {
        let followers = lock(&self.followers);
        let all = followers.get(&id).into_iter().flatten();
        all.filter(|(_, since)| since.elapsed() < FOLLOWED).map(|(channel, _)| channel.clone()).collect()
    }

    /// Notes a follower. Returns whether it is new.
    fn is_new_follower(&self, id: DiscussionId, channel: String) -> bool {
        let mut followers = lock(&self.followers);
        followers.retain(|_, all| {
            all.retain(|_, since| since.elapsed() < FOLLOWED);
            !all.is_empty()
        });
        followers.entry(id).or_default().insert(channel, Instant::now()).is_none()
    }

    fn note_closed(&self, lane: &str, wait: Duration) {
        let (mut closed, until) = (lock(&self.closed), Instant::now() + wait);
        closed.retain(|_, until| Instant::now() < *until);
        let known = closed.entry(lane.to_owned()).or_insert(until);
        *known = (*known).max(until);
    }

    /// Takes what waits, packed by channel.
    fn collect(&self) -> (Vec<String>, Vec<String>) {
        let outbox = std::mem::take(&mut *lock(&self.outbox));
        let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        let mut post = |channel: &str, line: Line| lines.entry(channel.to_owned()).or_default().push(line);
        if outbox.work {
            post(&self.all, Line::Work);
        }
        outbox.follows.into_iter().for_each(|id| post(&self.all, Line::Follow(id, self.own.clone())));
        outbox.closed.into_iter().for_each(|(lane, ms)| post(&self.all, Line::Closed(lane, ms)));
        for (id, last) in outbox.facts {
            self.followers(id).iter().for_each(|channel| post(channel, Line::Facts(id, last)));
        }
        for piece in outbox.pieces.into_values().flatten() {
            let to = self.followers(piece.discussion);
            to.iter().for_each(|channel| post(channel, Line::Piece(Box::new(piece.clone()))));
        }
        let bags = lines
            .into_iter()
            .flat_map(|(channel, lines)| packed(lines).into_iter().map(move |bag| (channel.clone(), bag)));
        bags.unzip()
    }

    /// Passes on what another process told.
    fn hear(&self, bag: &str) {
        for line in unpacked(bag) {
            match line {
                Line::Work => self.tell(&Wake::Work),
                Line::Commands(id) => self.tell(&Wake::Commands(id)),
                Line::Facts(id, last) => self.tell(&Wake::Facts { id, last }),
                Line::Piece(piece) => self.tell(&Wake::Text(LiveText::Piece(Arc::new(*piece)))),
                Line::Closed(lane, ms) => {
                    self.note_closed(&lane, Duration::from_millis(ms));
                    self.tell(&Wake::Lane(lane));
                }
                Line::Follow(id, channel) => {
                    if self.is_new_follower(id, channel) {
                        self.tell(&Wake::Text(LiveText::Wanted(id)));
                    }
                }
            }
        }
    }
}

impl Outbox {
    /// Adds text, joined with what waits before it; says whether there was room for it.
    fn add_text(&mut self, piece: &Piece) -> bool {
        if MOST_TEXT < self.text + piece.text.len() {
            return false;
        }
        self.text += piece.text.len();
        let waiting = self.pieces.entry((piece.discussion, piece.step.clone())).or_default();
        match waiting.last_mut() {
            Some(last) if last.attempt == piece.attempt && last.offset + last.text.len() == piece.offset => {
                last.text.push_str(&piece.text);
                last.hidden += piece.hidden;
            }
            _ => waiting.push(piece.clone()),
        }
        true
    }
}

/// A connection that listens.
struct Listening {
    connection: Connection,
    heard: UnboundedReceiver<Notification>,
    pid: i32,
    /// The newest command of each discussion that this process runs, as of the last look.
    commands: HashMap<DiscussionId, i64>,
}

impl Listening {
    async fn open(place: &Place, shared: &Shared) -> Result<Self, JobError> {
        let (client, mut driven) = place.address.connect().await?;
        let (sender, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut messages = stream::poll_fn(move |cx| driven.poll_message(cx));
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(notification) = message {
                    // Its receiver is gone when the connection isn't needed any more.
                    let _ = sender.send(notification);
                }
            }
        });
        let mut connection = Connection::of(client, place);
        connection.batch(&format!("LISTEN {}; LISTEN {}", shared.own, shared.all)).await?;
        let pid = connection.query("SELECT pg_backend_pid()", &[]).await?[0].get(0);
        let timeline: i64 = connection.query(TIMELINE, &[]).await?[0].get(0);
        shared.epoch.store(timeline.unsigned_abs(), Ordering::Release);
        Ok(Listening { connection, heard, pid, commands: HashMap::new() })
    }

    /// Sends and hears until the connection breaks.
    async fn serve(mut self, shared: &Shared) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => {
                    if shared.is_running.load(Ordering::Relaxed) && self.look(shared).await.is_err() {
                        return;
                    }
                }
                heard = self.heard.recv() => match heard {
                    Some(it) if it.process_id() == self.pid => {}
                    Some(it) => shared.hear(it.payload()),
                    None => return,
                },
                () = shared.bell.notified() => {
                    tokio::time::sleep(COLLECT).await;
                    if self.send(shared).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Looks for commands to the discussions that this process runs.
    async fn look(&mut self, shared: &Shared) -> Result<(), JobError> {
        let sql = "SELECT d.id, d.last_command FROM discussions d JOIN nodes ON nodes.id = d.node
                   WHERE nodes.channel = $1 AND d.last_command > 0";
        let rows = self.connection.query(sql, &[&shared.own]).await?;
        let newest = |row: &Row| (DiscussionId::from(row.get::<_, Uuid>(0)), row.get::<_, i64>(1));
        let commands: HashMap<DiscussionId, i64> = rows.iter().map(newest).collect();
        let is_new = |(id, newest): &(&DiscussionId, &i64)| self.commands.get(*id) != Some(*newest);
        commands.iter().filter(is_new).for_each(|(id, _)| shared.tell(&Wake::Commands(*id)));
        self.commands = commands;
        Ok(())
    }

    async fn send(&mut self, shared: &Shared) -> Result<(), JobError> {
        let (channels, bags) = shared.collect();
        if channels.is_empty() {
            return Ok(());
        }
        let sql = "SELECT pg_notify(channel, bag) FROM unnest($1::text[], $2::text[]) AS it (channel, bag)";
        self.connection.query(sql, &[&channels, &bags]).await?;
        shared.counts.bags(bags.len());
        Ok(())
    }
}

/// Listens, and connects again whenever the connection breaks. What was told meanwhile is lost.
async fn run(place: Place, pool: Pool, shared: Arc<Shared>, first: Listening) {
    let mut next = Some(first);
    let [shortest, longest] = RECONNECT;
    let mut wait = shortest;
    loop {
        if let Some(line) = next.take() {
            wait = shortest;
            line.serve(&shared).await;
            tracing::warn!(database = %place.address, "the connection that listens for news broke; connecting again");
        }
        tokio::time::sleep(wait).await;
        wait = (2 * wait).min(longest);
        let opened = Listening::open(&place, &shared).await;
        if opened.as_ref().is_err_and(JobError::is_crowded) {
            pool.give_way();
        }
        next = opened.ok();
        if next.is_some() {
            shared.counts.reconnect();
            shared.tell(&Wake::Resync);
        }
    }
}
