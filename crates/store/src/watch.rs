//! Who wants to hear of commands, and the thread that looks for those of other processes.

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

/// How often to look. Another process's command is to be noticed within twice that.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Watch {
    watchers: Arc<Watchers>,
    /// `None` while the store is being dropped, and where nothing is looked for.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watchers(Mutex<Vec<UnboundedSender<DiscussionId>>>);

impl Watch {
    /// Looks with this connection for commands after the one `seen`.
    pub(crate) fn start(connection: Connection, seen: i64) -> std::io::Result<Self> {
        let watchers = Arc::new(Watchers::default());
        let (wake, woken) = channel();
        let told = watchers.clone();
        let thread = std::thread::Builder::new().name("store-watch".to_owned());
        let thread = thread.spawn(move || look(&connection, seen, &told, &woken))?;
        Ok(Watch { watchers, wake: Some(wake), thread: Some(thread) })
    }

    /// Looks for nothing: a database that can't be written has no new commands.
    pub(crate) fn idle() -> Self {
        Watch { watchers: Arc::default(), wake: None, thread: None }
    }

    /// Everything this process or another sends from now on; perhaps a little from before.
    pub(crate) fn listen(&self) -> BoxStream<'static, DiscussionId> {
        let (sender, mut receiver) = unbounded_channel();
        self.watchers.lock().push(sender);
        if let Some(wake) = &self.wake {
            let _ = wake.send(());
        }
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }

    /// Something was sent by this process.
    pub(crate) fn tell(&self, id: DiscussionId) {
        self.watchers.tell(id);
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

impl Watchers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<UnboundedSender<DiscussionId>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, id: DiscussionId) {
        self.lock().retain(|watcher| watcher.send(id).is_ok());
    }

    fn is_empty(&self) -> bool {
        let mut watchers = self.lock();
        watchers.retain(|watcher| !watcher.is_closed());
        watchers.is_empty()
    }
}

/// Looks as long as somebody watches; ends when nobody can wake it any more.
fn look(connection: &Connection, mut seen: i64, watchers: &Watchers, woken: &Receiver<()>) {
    let mut version = None;
    loop {
        let waited = if watchers.is_empty() {
            woken.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            woken.recv_timeout(PAUSE)
        };
        if waited == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        // A look that fails is made up for by the next one: what it did not see is still there.
        let _ = look_once(connection, &mut version, &mut seen, watchers);
    }
}

fn look_once(
    connection: &Connection,
    version: &mut Option<i64>,
    seen: &mut i64,
    watchers: &Watchers,
) -> rusqlite::Result<()> {
    let current: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
    if *version != Some(current) {
        let (news, newest) = inbox::news(connection, *seen)?;
        (*version, *seen) = (Some(current), newest);
        news.into_iter().for_each(|id| watchers.tell(id));
    }
    Ok(())
}
