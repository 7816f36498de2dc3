//! The thread that moves what was written from the log into the database, so that nobody who writes has to wait for it.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::JoinHandle,
};

use rusqlite::Connection;

/// How many requests are written before the log is worth moving: about four megabytes.
const WORTH_MOVING: usize = 512;

pub(crate) struct Keeper {
    /// How many were written since the last time.
    written: usize,
    /// `None` only while the store is being dropped.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Keeps the log short with this connection.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        // One call that waits is enough: it is about everything written so far.
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new().name("store-keeper".to_owned());
        let thread = thread.spawn(move || keep(&connection, &woken))?;
        Ok(Keeper { written: 0, wake: Some(wake), thread: Some(thread) })
    }

    /// So many more were written.
    pub(crate) fn tell(&mut self, written: usize) {
        self.written += written;
        if self.written >= WORTH_MOVING {
            self.written = 0;
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

fn keep(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // What it could not move, it moves the next time, or the writer does.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
