//! The checkpoint thread: moves pages from the write-ahead log into the database file, so that
//! writes don't have to.

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

/// How many writes make a checkpoint worthwhile: about four megabytes of log.
const CHECKPOINT_AFTER: usize = 512;

/// After how many writes it checkpoints even while the writer is busy.
const CHECKPOINT_EVEN_IF_BUSY: usize = 1_024;

/// How long there must be no writes before a checkpoint, so that no write waits for its disk
/// access.
const QUIET_PERIOD: Duration = Duration::from_millis(5);

pub(crate) struct Checkpointer {
    /// Writes since the last checkpoint.
    written: Arc<AtomicUsize>,
    /// `None` only while the store is being dropped.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread with this connection.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        // One pending wake-up is enough: it covers everything written so far.
        let (wake, woken) = sync_channel(1);
        let written = Arc::new(AtomicUsize::new(0));
        let (thread, count) =
            (std::thread::Builder::new().name("store-checkpointer".to_owned()), written.clone());
        let thread = thread.spawn(move || checkpoint(&connection, &woken, &count))?;
        Ok(Checkpointer { written, wake: Some(wake), thread: Some(thread) })
    }

    /// Counts writes, and wakes the thread when there are enough of them.
    pub(crate) fn count_writes(&self, written: usize) {
        if self.written.fetch_add(written, Ordering::Relaxed) + written >= CHECKPOINT_AFTER {
            // If the channel is full, the thread is about to check anyway. If it is closed, the
            // writer checkpoints at its own limit.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn checkpoint(connection: &Connection, woken: &Receiver<()>, written: &AtomicUsize) {
    while woken.recv().is_ok() {
        if written.load(Ordering::Relaxed) < CHECKPOINT_AFTER {
            continue;
        }
        if !wait_for_quiet(woken, written) {
            return;
        }
        written.store(0, Ordering::Relaxed);
        // Pages that can't be moved now are moved the next time, or by the writer.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// Waits for a pause in writing; `false` if the store is being dropped, which checkpoints anyway.
fn wait_for_quiet(woken: &Receiver<()>, written: &AtomicUsize) -> bool {
    let mut seen = 0;
    while seen != written.load(Ordering::Relaxed) && seen < CHECKPOINT_EVEN_IF_BUSY {
        seen = written.load(Ordering::Relaxed);
        match woken.recv_timeout(QUIET_PERIOD) {
            // There was a write; checking again at once would be too soon.
            Ok(()) => std::thread::sleep(QUIET_PERIOD),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}
