//! Words database errors, naming the file and what to do.

use std::{io, path::Path};

use quorum_core::{model::id::DiscussionId, seams::StoreError};
use rusqlite::ErrorCode;

use crate::connection::beside;

/// Why a job on the database failed.
#[derive(Debug)]
pub(crate) enum JobError {
    /// It is not allowed; nothing was changed.
    Refused(StoreError),
    /// The database failed.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for JobError {
    fn from(error: rusqlite::Error) -> Self {
        JobError::Database(error)
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        JobError::Refused(error)
    }
}

impl JobError {
    pub(crate) fn into_store_error(self, file: &Path) -> StoreError {
        match self {
            JobError::Refused(error) => error,
            JobError::Database(error) => explain(&error, file),
        }
    }
}

/// The error as a message for the user.
pub(crate) fn explain(error: &rusqlite::Error, file: &Path) -> StoreError {
    let name = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Unavailable(format!(
            "the database {name} is locked by another program; close that program, or wait until it is done"
        )),
        Some(ErrorCode::DiskFull) if !is_at_size_limit(file) => StoreError::Unavailable(format!(
            "there is no room left to write to the database {name}; free some space on that disk"
        )),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) if is_at_size_limit(file) => {
            StoreError::Unavailable(format!(
                "there is no room left to write to the database {name}: it has reached the maximum file size \
                  here; raise that limit (ulimit -f)"
            ))
        }
        Some(ErrorCode::SystemIoFailure) => StoreError::Unavailable(format!(
            "the disk failed while the database {name} was used ({error}); check the disk, then try again"
        )),
        Some(
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied,
        ) => unwritable(file),
        Some(ErrorCode::CannotOpen) => StoreError::Unusable(format!(
            "the database {name} can't be opened; check that it is a file in a folder that can be written"
        )),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged(format!(
            "{name} is damaged or not a database ({error}); move it away or restore it from a backup"
        )),
        // Anything else would be a bug of ours, so a retry is useless.
        _ => StoreError::Unusable(format!("the database {name} reported an error: {error}")),
    }
}

/// How close to the limit a file counts as having reached it: more than SQLite writes at once.
const MARGIN: u64 = 64 * 1_024;

/// Whether the database or its log has reached this process's file size limit. SQLite reports that
/// as a disk error.
fn is_at_size_limit(file: &Path) -> bool {
    let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current else {
        return false;
    };
    let files = [file.to_owned(), beside(file, "-wal"), beside(file, "-shm")];
    files.iter().any(|it| it.metadata().is_ok_and(|it| it.len() + MARGIN >= limit))
}

/// The file exists but can only be read.
pub(crate) fn unwritable(file: &Path) -> StoreError {
    StoreError::Unusable(format!(
        "the database {} can be read but not written; check the permissions of the file and its folder",
        file.display()
    ))
}

/// A folder or file of the database couldn't be created.
pub(crate) fn cant_create(what: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable(format!(
        "{} can't be created ({error}); check the permissions of its folder",
        what.display()
    ))
}

/// A row that this version of the program can't read.
pub(crate) fn unreadable(id: DiscussionId, what: &str, error: impl std::fmt::Display) -> JobError {
    JobError::Refused(StoreError::Unusable(format!(
        "{what} of discussion {id} can't be read by this version of the program ({error}); update the program"
    )))
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, OpenFlags};

    use super::*;

    fn check(error: &rusqlite::Error, expected: &str) {
        let sentence = explain(error, Path::new("data/quorum.db")).to_string();
        assert!(sentence.contains("data/quorum.db") && sentence.contains(expected), "{sentence}");
    }

    #[test]
    fn a_write_to_a_read_only_database_is_not_retried() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "query_only", "on").unwrap();
        let error = connection.execute_batch("CREATE TABLE any (name TEXT)").unwrap_err();
        assert!(matches!(explain(&error, Path::new("quorum.db")), StoreError::Unusable(_)));
        check(&error, "not written");
    }

    #[test]
    fn a_missing_file_cant_be_opened() {
        let missing = Connection::open_with_flags("no/such/file.db", OpenFlags::SQLITE_OPEN_READ_ONLY);
        check(&missing.map(drop).unwrap_err(), "can't be opened");
    }

    #[test]
    fn errors_of_our_own_are_reported_too() {
        let connection = Connection::open_in_memory().unwrap();
        check(&connection.execute_batch("SELECT it FROM nowhere").unwrap_err(), "no such table");
    }
}
