//! The state of the writer thread: its connection, the cache of discussions, its own liveness.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use quorum_core::{
    model::{event::Event, id::DiscussionId, seed_rows::Seats, time::Timestamp},
    seams::StoreError,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension};

use crate::{
    cache::{self, Cached},
    connection::Options,
    error::{JobError, unreadable},
    liveness::Liveness,
};

/// The maximum number of cached discussions.
const DISCUSSIONS: usize = 4_096;

/// How long to wait for the lock of another program after a first wait has failed.
const STILL_LOCKED: Duration = Duration::from_millis(100);

pub(crate) struct WriteContext {
    pub(crate) connection: Connection,
    pub(crate) liveness: Liveness,
    pub(crate) file: PathBuf,
    options: Options,
    /// Discussions as last read or written; valid until another connection writes.
    cache: HashMap<DiscussionId, Cached>,
    /// SQLite's `data_version`, which changes when another connection has written.
    version: i64,
    /// Whether the last transaction could not begin because another program has the lock.
    is_locked: bool,
}

impl WriteContext {
    pub(crate) fn new(connection: Connection, liveness: Liveness, file: PathBuf, options: Options) -> Self {
        let (cache, version, is_locked) = (HashMap::new(), 0, false);
        WriteContext { connection, liveness, file, options, cache, version, is_locked }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.options.now)()
    }

    /// Runs the work in one transaction.
    pub(crate) fn in_transaction(
        &mut self,
        work: impl FnOnce(&mut WriteContext) -> rusqlite::Result<()>,
    ) -> Result<(), Unwritten> {
        self.begin().map_err(Unwritten::NotBegun)?;
        let done = self.check_version().and_then(|()| work(self)).and_then(|()| self.execute("COMMIT"));
        done.map_err(|error| {
            // Some errors end the transaction by themselves.
            if !self.connection.is_autocommit() {
                drop(self.execute("ROLLBACK"));
            }
            self.clear_cache();
            Unwritten::RolledBack(error)
        })
    }

    /// Begins a transaction. A lock is waited for once, not again by each write that follows.
    fn begin(&mut self) -> rusqlite::Result<()> {
        let begun = self.execute("BEGIN IMMEDIATE");
        let error = begun.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
        let was_locked = std::mem::replace(&mut self.is_locked, error == Some(ErrorCode::DatabaseBusy));
        if self.is_locked != was_locked {
            let usual = self.options.busy_timeout;
            self.connection.busy_timeout(if self.is_locked { usual.min(STILL_LOCKED) } else { usual })?;
        }
        begun
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Clears the cache if another connection has written since the last transaction. None can
    /// write until this one ends.
    fn check_version(&mut self) -> rusqlite::Result<()> {
        let version =
            self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.version {
            self.version = version;
            self.clear_cache();
        }
        Ok(())
    }

    /// A discussion from the cache or the database; `None` if the id is unknown.
    pub(crate) fn find(&mut self, id: DiscussionId) -> Result<Option<Cached>, JobError> {
        if let Some(cached) = self.cache.get(&id) {
            return Ok(Some(cached.clone()));
        }
        let found = cache::find(&self.connection, id)?;
        if let Some(cached) = &found {
            self.cache(id, cached.clone());
        }
        Ok(found)
    }

    /// The same for a root; sub-discussions have no claim and no inbox.
    pub(crate) fn root(&mut self, id: DiscussionId) -> Result<Cached, JobError> {
        self.find(id)?.filter(|cached| cached.root == id).ok_or(JobError::Refused(StoreError::Unknown(id)))
    }

    /// Caches a discussion as this transaction leaves it.
    pub(crate) fn cache(&mut self, id: DiscussionId, cached: Cached) {
        if self.cache.len() >= DISCUSSIONS {
            self.clear_cache();
        }
        self.cache.insert(id, cached);
    }

    /// Drops a discussion from the cache because nothing more is written to it.
    pub(crate) fn uncache(&mut self, id: DiscussionId) {
        self.cache.remove(&id);
    }

    /// Clears the cache, which may be outdated.
    pub(crate) fn clear_cache(&mut self) {
        self.cache.clear();
    }

    /// The seats of this discussion.
    pub(crate) fn seats(&mut self, id: DiscussionId, cached: &mut Cached) -> Result<Arc<Seats>, JobError> {
        if let Some(seats) = &cached.seats {
            return Ok(seats.clone());
        }
        let sql = "SELECT body FROM facts WHERE discussion = ?1 AND seq = 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let body: Option<String> = statement.query_row([cached.number], |row| row.get(0)).optional()?;
        let event = serde_json::from_str(&body.unwrap_or_default());
        let event: Event = event.map_err(|error| unreadable(id, "the first fact", error))?;
        let seats = Arc::new(Seats::of(&event));
        cached.seats = Some(seats.clone());
        Ok(seats)
    }
}

/// Why a transaction was not committed.
#[derive(Debug)]
pub(crate) enum Unwritten {
    NotBegun(rusqlite::Error),
    RolledBack(rusqlite::Error),
}
