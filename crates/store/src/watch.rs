//! Notifies subscribers of new commands, and polls for commands from other processes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use futures::stream::{self, BoxStream, StreamExt};
use quorum_core::model::id::DiscussionId;
use rusqlite::Connection;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::inbox;

/// The polling interval. Commands from other processes must be noticed within twice that.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Watch {
    subscribers: Arc<Subscribers>,
    /// `None` while the store is being dropped, and in a read-only store.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Subscribers(Mutex<Vec<UnboundedSender<DiscussionId>>>);

impl Watch {
    /// Starts polling with this connection for commands after `seen`.
    pub(crate) fn start(connection: Connection, seen: i64) -> std::io::Result<Self> {
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

    /// A stream of the commands that this process or another sends from now on, perhaps with a few
    /// earlier ones.
    pub(crate) fn subscribe(&self) -> BoxStream<'static, DiscussionId> {
        let (sender, mut receiver) = unbounded_channel();
        self.subscribers.lock().push(sender);
        if let Some(wake) = &self.wake {
            let _ = wake.send(());
        }
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }

    /// Notifies subscribers of a command sent by this process.
    pub(crate) fn notify(&self, id: DiscussionId) {
        self.subscribers.notify(id);
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
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<UnboundedSender<DiscussionId>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, id: DiscussionId) {
        self.lock().retain(|subscriber| subscriber.send(id).is_ok());
    }

    fn is_empty(&self) -> bool {
        let mut subscribers = self.lock();
        subscribers.retain(|subscriber| !subscriber.is_closed());
        subscribers.is_empty()
    }
}

/// Polls while there are subscribers; ends when the store is dropped.
fn poll(connection: &Connection, mut seen: i64, subscribers: &Subscribers, woken: &Receiver<()>) {
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
    seen: &mut i64,
    subscribers: &Subscribers,
) -> rusqlite::Result<()> {
    let current: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
    if *version != Some(current) {
        let (news, newest) = inbox::commands_since(connection, *seen)?;
        (*version, *seen) = (Some(current), newest);
        news.into_iter().for_each(|id| subscribers.notify(id));
    }
    Ok(())
}
