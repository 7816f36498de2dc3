//! Opening a database for writing, for reading, or read-only.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use quorum_core::{model::time::Timestamp, seams::StoreError};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use rustix::fs::access;

use crate::{
    error::{cant_create, explain, unwritable},
    private,
};

/// The capacity of the prepared-statement cache: more than there are statements.
const STATEMENTS: usize = 64;

/// After how many pages of 4 KiB in the log the writer checkpoints itself, in case the checkpointer
/// is late.
const LONGEST_LOG: u32 = 8_000;

/// How a store is opened. Only tests need other than the defaults.
#[derive(Clone)]
pub struct Options {
    /// How long to wait while another process writes.
    pub busy_timeout: Duration,
    /// The maximum number of 4 KiB pages; `None` means no limit.
    pub max_pages: Option<u32>,
    /// The wall clock, by which discussions wait for their time.
    pub now: Now,
}

/// A clock.
pub(crate) type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

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

/// The access a process has to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    ReadOnly,
}

/// Creates the file and its folder if they are missing, and finds out whether the file can be
/// written.
pub(crate) fn prepare(file: &Path) -> Result<Access, StoreError> {
    if let Some(folder) = file.parent() {
        private::folder(folder).map_err(|error| cant_create(folder, &error))?;
    }
    match private::new_file(file) {
        Ok(_) => return Ok(Access::Write),
        Err(_) if file.exists() => {}
        Err(error) => return Err(cant_create(file, &error)),
    }
    // SQLite also writes files next to the database. It reports other problems itself.
    let is_forbidden =
        |path: &Path| access(path, rustix::fs::Access::WRITE_OK).is_err_and(|it| forbids(&it.into()));
    if is_forbidden(file) || file.parent().is_some_and(is_forbidden) {
        return Ok(Access::ReadOnly);
    }
    [file.to_owned(), beside(file, "-wal"), beside(file, "-shm")].iter().for_each(|it| private::narrow(it));
    Ok(Access::Write)
}

/// Whether the error is about permissions or a read-only file system.
pub(crate) fn forbids(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The path of one of SQLite's extra files: the database's name plus this suffix.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The writer's connection.
pub(crate) fn to_write(file: &Path, options: &Options) -> Result<Connection, StoreError> {
    let open = || {
        let connection = plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
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
    // SQLite opens a file without write permission for reading, and reports that only at the first
    // write.
    match connection.is_readonly(rusqlite::MAIN_DB) {
        Ok(false) => Ok(connection),
        Ok(true) => Err(unwritable(file)),
        Err(error) => Err(explain(&error, file)),
    }
}

/// A connection that only reads and never blocks the writer.
pub(crate) fn to_read(file: &Path, options: &Options, access: Access) -> rusqlite::Result<Connection> {
    let connection = match access {
        Access::Write => plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?,
        Access::ReadOnly => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            plain(Path::new(&read_only_uri(file)), flags, options)?
        }
    };
    connection.pragma_update(None, "query_only", "on")?;
    Ok(connection)
}

/// A URI that makes SQLite write nothing. To read a database with a write-ahead log, SQLite may
/// have to create a file next to it. Without a log (unless a process has the database open or
/// crashed), it needs no such file if it is told that the database won't change.
fn read_only_uri(file: &Path) -> String {
    let has_log = beside(file, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    let unchanging = if has_log { "" } else { "&immutable=1" };
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' => char::from(*byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    let path: String = file.as_os_str().as_encoded_bytes().iter().map(escaped).collect();
    format!("file:{path}?mode=ro{unchanging}")
}

/// The checkpointer's connection, as durable as the writer's.
pub(crate) fn to_checkpoint(file: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let connection = plain(file, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(connection)
}

fn plain(file: &Path, flags: OpenFlags, options: &Options) -> rusqlite::Result<Connection> {
    // Each connection is used by one thread at a time, so SQLite needs no mutex.
    let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(options.busy_timeout)?;
    // Otherwise statements are planned again whenever a parameter changes, which took a seventh of
    // all time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_can_be_read_without_writing() {
        let check = |path: &str, expected: &str| {
            assert_eq!(read_only_uri(Path::new(path)), format!("file:{expected}?mode=ro&immutable=1"));
        };
        check("/home/ann/quorum.db", "/home/ann/quorum.db");
        check("/a b/50%?#é.db", "/a%20b/50%25%3f%23%c3%a9.db");
    }
}
