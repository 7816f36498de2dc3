//! The thread that moves what was written from the log into the database, so that nobody who writes has to wait for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;

/// How many requests are written before the log is worth moving: some four megabytes.
const WORTH_MOVING: usize = 512;

/// So many are moved at once, however busy the writer is.
const TOO_MANY: usize = 1_024;

/// Nobody wrote for so long: now the disk is free for it. Whoever waits for a write does not wait for this as well.
const QUIET: Duration = Duration::from_millis(5);

pub(crate) struct Keeper {
    /// How many were written since the last time.
    written: Arc<AtomicUsize>,
    /// `None` only while the store is being dropped.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Keeps the log short with this connection.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        // One call that waits is enough: it is about everything written so far.
        let (wake, woken) = sync_channel(1);
        let written = Arc::new(AtomicUsize::new(0));
        let (thread, count) = (std::thread::Builder::new().name("store-keeper".to_owned()), written.clone());
        let thread = thread.spawn(move || keep(&connection, &woken, &count))?;
        Ok(Keeper { written, wake: Some(wake), thread: Some(thread) })
    }

    /// So many more were written.
    pub(crate) fn tell(&self, written: usize) {
        if self.written.fetch_add(written, Ordering::Relaxed) + written >= WORTH_MOVING {
            // Full means that it is about to look; gone means that the writer will do it at its limit.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn keep(connection: &Connection, woken: &Receiver<()>, written: &AtomicUsize) {
    while woken.recv().is_ok() {
        if written.load(Ordering::Relaxed) < WORTH_MOVING {
            continue;
        }
        if !wait_for_quiet(woken, written) {
            return;
        }
        written.store(0, Ordering::Relaxed);
        // What it could not move, it moves the next time, or the writer does.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// `false` when the store is being dropped: closing it moves everything.
fn wait_for_quiet(woken: &Receiver<()>, written: &AtomicUsize) -> bool {
    let mut seen = 0;
    while seen != written.load(Ordering::Relaxed) && seen < TOO_MANY {
        seen = written.load(Ordering::Relaxed);
        match woken.recv_timeout(QUIET) {
            // Something was written; it does not get quiet any sooner by looking at once.
            Ok(()) => std::thread::sleep(QUIET),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}
