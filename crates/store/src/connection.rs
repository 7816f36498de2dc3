//! Opening a database: how it is opened, and what it is asked to promise.

use std::{fmt, fs, path::Path, sync::Arc, time::Duration};

use quorum_core::{model::time::Timestamp, seams::StoreError};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::error::{explain, no_place, unwritable};

/// How many statements a connection keeps prepared: more than there are.
const STATEMENTS: usize = 64;

/// How many pages of 4 KiB the log may have before the writer checkpoints by itself, in case the
/// checkpointer is late.
const LONGEST_LOG: u32 = 8_000;

/// How a store is opened; the defaults are right for everyone but tests.
#[derive(Clone)]
pub struct Options {
    /// How long to wait while another process writes.
    pub busy_timeout: Duration,
    /// How many pages of 4 KiB the database may have at most; `None` is as many as there is room for.
    pub max_pages: Option<u32>,
    /// What the wall clock says; leases end by it.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Options { busy_timeout: Duration::from_secs(5), max_pages: None, now: Arc::new(wall_clock) }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { busy_timeout, max_pages, now: _ } = self;
        f.debug_struct("Options")
            .field("busy_timeout", busy_timeout)
            .field("max_pages", max_pages)
            .finish_non_exhaustive()
    }
}

fn wall_clock() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The connection that writes; the file and its folder are made where they are missing.
pub(crate) fn to_write(file: &Path, options: &Options) -> Result<Connection, StoreError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| no_place(folder, &error))?;
    }
    let open = || {
        let connection =
            plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, options)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", "on")?;
        connection.pragma_update(None, "wal_autocheckpoint", LONGEST_LOG)?;
        if let Some(pages) = options.max_pages {
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        }
        Ok(connection)
    };
    let connection: Connection = open().map_err(|error| explain(&error, file))?;
    // SQLite opens what it may not write for reading, and would say so only at the first write.
    match connection.is_readonly(rusqlite::MAIN_DB) {
        Ok(false) => Ok(connection),
        Ok(true) => Err(unwritable(file)),
        Err(error) => Err(explain(&error, file)),
    }
}

/// A connection that only looks, and is never in the writer's way.
pub(crate) fn to_read(file: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let connection = plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    connection.pragma_update(None, "query_only", "on")?;
    Ok(connection)
}

/// The checkpointer's connection, as durable as the writer's.
pub(crate) fn to_checkpoint(file: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let connection = plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(connection)
}

fn plain(file: &Path, flags: OpenFlags, options: &Options) -> rusqlite::Result<Connection> {
    // Each connection is used by one thread at a time, so SQLite need not lock it.
    let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(options.busy_timeout)?;
    // Otherwise statements are planned anew whenever a parameter changes, which took a seventh of all time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
