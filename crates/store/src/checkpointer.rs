//! The thread that checkpoints: it moves pages from the write-ahead log into the database file, so
//! that no write has to wait for that.

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
const WORTH_MOVING: usize = 512;

/// After this many writes it checkpoints even while the writer is busy.
const TOO_MANY: usize = 1_024;

/// How long nothing must be written before a checkpoint, so that no write waits for the disk
/// because of it.
const QUIET: Duration = Duration::from_millis(5);

pub(crate) struct Checkpointer {
    /// Writes since the last checkpoint.
    written: Arc<AtomicUsize>,
    /// `None` only while the store is being dropped.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread, which works with this connection.
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
    pub(crate) fn tell(&self, written: usize) {
        if self.written.fetch_add(written, Ordering::Relaxed) + written >= WORTH_MOVING {
            // A full channel means that it is about to look. A closed one means that the writer
            // checkpoints by itself at its limit.
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
        if written.load(Ordering::Relaxed) < WORTH_MOVING {
            continue;
        }
        if !wait_for_quiet(woken, written) {
            return;
        }
        written.store(0, Ordering::Relaxed);
        // What could not be moved now is moved the next time, or by the writer.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// Waits for a pause in writing; `false` when the store is being dropped, which checkpoints anyway.
fn wait_for_quiet(woken: &Receiver<()>, written: &AtomicUsize) -> bool {
    let mut seen = 0;
    while seen != written.load(Ordering::Relaxed) && seen < TOO_MANY {
        seen = written.load(Ordering::Relaxed);
        match woken.recv_timeout(QUIET) {
            // Something was written; looking again at once would not make it quiet any sooner.
            Ok(()) => std::thread::sleep(QUIET),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}
