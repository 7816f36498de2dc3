//! Notifies subscribers of news, and polls for what other processes wrote: commands, new
//! discussions, and facts of those that are followed. Live text is not carried between processes.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use futures::stream::{self, BoxStream, StreamExt};
use quorum_core::{
    model::id::{DiscussionId, Seq},
    seams::Wake,
};
use rusqlite::Connection;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::inbox;

/// The polling interval. Commands from other processes must be noticed within twice that.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a discussion is followed after it was asked for.
const FOLLOWED: Duration = Duration::from_secs(30);

pub(crate) struct Watch {
    subscribers: Arc<Subscribers>,
    /// `None` while the store is being dropped, and in a read-only store.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Subscribers {
    all: Mutex<Vec<UnboundedSender<Wake>>>,
    /// The discussions that are followed, each with the last fact that was told, and since when.
    followed: Mutex<HashMap<DiscussionId, (Seq, Instant)>>,
}

/// The news already sent: the newest command and the newest discussion, by their numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    command: i64,
    discussion: i64,
}

impl Seen {
    /// Everything so far.
    pub(crate) fn now(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Seen { command: inbox::newest(connection)?, discussion: newest_discussion(connection)? })
    }
}

impl Watch {
    /// Starts polling with this connection for what came after `seen`.
    pub(crate) fn start(connection: Connection, seen: Seen) -> std::io::Result<Self> {
        let subscribers = Arc::new(Subscribers::default());
        let (wake, woken) = channel();
        let notified = subscribers.clone();
        let thread = std::thread::Builder::new().name("store-watch".to_owned());
        let thread = thread.spawn(move || poll(&connection, seen, &notified, &woken))?;
        Ok(Watch { subscribers, wake: Some(wake), thread: Some(thread) })
    }

    /// A watch that doesn't poll: a read-only database gets no new commands.
    pub(crate) fn idle() -> Self {
        Watch { subscribers: Arc::default(), wake: None, thread: None }
    }

    /// A stream of the news of this process and others from now on, perhaps with a few earlier
    /// ones.
    pub(crate) fn subscribe(&self) -> BoxStream<'static, Wake> {
        let (sender, mut receiver) = unbounded_channel();
        self.subscribers.lock().push(sender);
        if let Some(wake) = &self.wake {
            let _ = wake.send(());
        }
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }

    /// Notifies subscribers of something that this process did.
    pub(crate) fn notify(&self, wake: &Wake) {
        self.subscribers.notify(wake);
    }

    /// Watches a discussion's facts for a while.
    pub(crate) fn follow(&self, id: DiscussionId) {
        let mut followed = self.subscribers.followed();
        followed.entry(id).or_insert((Seq::START, Instant::now())).1 = Instant::now();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Subscribers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<UnboundedSender<Wake>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followed(&self) -> std::sync::MutexGuard<'_, HashMap<DiscussionId, (Seq, Instant)>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, wake: &Wake) {
        self.lock().retain(|subscriber| subscriber.send(wake.clone()).is_ok());
    }

    fn is_empty(&self) -> bool {
        let mut subscribers = self.lock();
        subscribers.retain(|subscriber| !subscriber.is_closed());
        subscribers.is_empty()
    }
}

/// Polls while there are subscribers; ends when the store is dropped.
fn poll(connection: &Connection, mut seen: Seen, subscribers: &Subscribers, woken: &Receiver<()>) {
    let mut version = None;
    loop {
        let waited = if subscribers.is_empty() {
            woken.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            woken.recv_timeout(POLL_INTERVAL)
        };
        if waited == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        // If a poll fails, the next one finds the same commands.
        let _ = poll_once(connection, &mut version, &mut seen, subscribers);
    }
}

fn poll_once(
    connection: &Connection,
    version: &mut Option<i64>,
    seen: &mut Seen,
    subscribers: &Subscribers,
) -> rusqlite::Result<()> {
    let current: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
    if *version == Some(current) {
        return Ok(());
    }
    let (commands, newest) = inbox::commands_since(connection, seen.command)?;
    let discussion = newest_discussion(connection)?;
    let has_work = seen.discussion < discussion || !commands.is_empty();
    commands.into_iter().for_each(|id| subscribers.notify(&Wake::Commands(id)));
    if has_work {
        subscribers.notify(&Wake::Work);
    }
    tell_facts(connection, subscribers)?;
    (*version, *seen) = (Some(current), Seen { command: newest, discussion });
    Ok(())
}

/// Notifies of new facts of the discussions that are followed.
fn tell_facts(connection: &Connection, subscribers: &Subscribers) -> rusqlite::Result<()> {
    let mut followed = subscribers.followed();
    followed.retain(|_, (_, since)| since.elapsed() < FOLLOWED);
    let mut statement = connection.prepare_cached(
        "SELECT ifnull(max(seq), 0) FROM facts
         WHERE discussion = (SELECT number FROM discussions WHERE id = ?1)",
    )?;
    for (id, (told, _)) in followed.iter_mut() {
        let last = Seq(statement.query_row([id.to_string()], |row| row.get::<_, i64>(0))? as u64);
        if *told < last {
            *told = last;
            subscribers.notify(&Wake::Facts { id: *id, last });
        }
    }
    Ok(())
}

fn newest_discussion(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT ifnull(max(number), 0) FROM discussions", [], |row| row.get(0))
}
