//! What is wrong with a database, in a sentence that names the file and what to do.

use std::{io, path::Path};

use quorum_core::{model::id::DiscussionId, seams::StoreError};
use rusqlite::ErrorCode;

use crate::connection::beside;

/// Why a piece of work was not done.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is not allowed; nothing was changed.
    Refused(StoreError),
    /// The database could not do it.
    Broken(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Trouble::Broken(error)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Trouble::Refused(error)
    }
}

impl Trouble {
    pub(crate) fn about(self, file: &Path) -> StoreError {
        match self {
            Trouble::Refused(error) => error,
            Trouble::Broken(error) => explain(&error, file),
        }
    }
}

/// The error as whoever waits for the answer should hear it.
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
                "there is no room left to write to the database {name}: it has reached the largest size of \
                 a file here; raise that limit (ulimit -f)"
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
            "{name} is damaged or no database ({error}); move it away or restore it from a backup"
        )),
        // Whatever else there is would be a fault of ours: it is not worth trying again.
        _ => StoreError::Unusable(format!("the database {name} refused its work: {error}")),
    }
}

/// How close to the limit a file counts as having reached it: more than SQLite writes at once.
const MARGIN: u64 = 64 * 1_024;

/// Whether the database or its log is as large as this process may make a file. SQLite does not say
/// so: it takes the failed write for a fault of the disk.
fn is_at_size_limit(file: &Path) -> bool {
    let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current else {
        return false;
    };
    let files = [file.to_owned(), beside(file, "-wal"), beside(file, "-shm")];
    files.iter().any(|it| it.metadata().is_ok_and(|it| it.len() + MARGIN >= limit))
}

/// The file is there and may only be read.
pub(crate) fn unwritable(file: &Path) -> StoreError {
    StoreError::Unusable(format!(
        "the database {} can be read but not written; check the permissions of the file and its folder",
        file.display()
    ))
}

/// A folder or file beside the database could not be made.
pub(crate) fn no_place(what: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable(format!(
        "{} can't be made ({error}); check the permissions of its folder",
        what.display()
    ))
}

/// A row that this program did not write, or no longer understands.
pub(crate) fn unreadable(id: DiscussionId, what: &str, error: impl std::fmt::Display) -> Trouble {
    Trouble::Refused(StoreError::Unusable(format!(
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
    fn what_may_only_be_read_is_not_worth_trying_again() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "query_only", "on").unwrap();
        let error = connection.execute_batch("CREATE TABLE any (name TEXT)").unwrap_err();
        assert!(matches!(explain(&error, Path::new("quorum.db")), StoreError::Unusable(_)));
        check(&error, "not written");
    }

    #[test]
    fn what_is_not_there_cant_be_opened() {
        let missing = Connection::open_with_flags("no/such/file.db", OpenFlags::SQLITE_OPEN_READ_ONLY);
        check(&missing.map(drop).unwrap_err(), "can't be opened");
    }

    #[test]
    fn our_own_faults_are_said_too() {
        let connection = Connection::open_in_memory().unwrap();
        check(&connection.execute_batch("SELECT it FROM nowhere").unwrap_err(), "no such table");
    }
}
