//! Words database errors by their SQLSTATE, naming the database and what to do.

use std::error::Error as _;

use quorum_core::{model::id::DiscussionId, seams::StoreError};
use tokio_postgres::{Error, error::SqlState};

/// Why a job on the database failed.
#[derive(Debug)]
pub(crate) enum JobError {
    /// It is not allowed; nothing was changed.
    Refused(StoreError),
    /// The database failed.
    Database(Error),
    /// There is no connection.
    NotConnected(Error),
    /// It did not answer in time.
    Silent,
    /// A write has no answer, in these words, so it may have been done.
    Unanswered(String),
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        JobError::Database(error)
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        JobError::Refused(error)
    }
}

impl JobError {
    /// The error as a message for the user.
    pub(crate) fn into_store_error(self, database: &str) -> StoreError {
        match self {
            JobError::Refused(error) => error,
            JobError::Database(error) => explain(&error, database),
            JobError::NotConnected(error) => explain_connecting(&error, database),
            JobError::Silent => StoreError::Unavailable(format!("the database {database} doesn't answer")),
            JobError::Unanswered(how) => StoreError::Unavailable(format!(
                "the database {database} {how}; it is not known whether it was written; look before repeating it"
            )),
        }
    }

    /// The error of a write outside a transaction, or of a commit.
    pub(crate) fn of_a_write(self) -> Self {
        match self {
            JobError::Silent => JobError::Unanswered("doesn't answer".to_owned()),
            JobError::Database(error) if error.code().is_none() => {
                JobError::Unanswered(format!("broke the connection ({})", innermost(&error)))
            }
            other => other,
        }
    }

    /// Whether the foreign key to the nodes was violated: the node has no row.
    pub(crate) fn is_gone(&self) -> bool {
        self.has_code(&SqlState::FOREIGN_KEY_VIOLATION)
    }

    /// Whether the server has no connection left, for this user or at all.
    pub(crate) fn is_crowded(&self) -> bool {
        self.has_code(&SqlState::TOO_MANY_CONNECTIONS)
    }

    /// Whether the server only reads now.
    pub(crate) fn is_read_only(&self) -> bool {
        self.has_code(&SqlState::READ_ONLY_SQL_TRANSACTION)
    }

    /// Whether a lock was waited for in vain.
    pub(crate) fn is_lock_timeout(&self) -> bool {
        self.has_code(&SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether the transaction was given up in favour of another, and may be repeated at once.
    pub(crate) fn is_conflict(&self) -> bool {
        self.code().is_some_and(|it| it.code().starts_with("40"))
    }

    /// Whether the same job would fail again: neither the connection nor the server is in trouble.
    pub(crate) fn is_of_the_job(&self) -> bool {
        match self {
            JobError::Refused(_) => true,
            JobError::Database(error) => error.code().is_some_and(|it| !is_passing(it.code())),
            JobError::NotConnected(_) | JobError::Silent | JobError::Unanswered(_) => false,
        }
    }

    /// The SQLSTATE, if the server reported one.
    pub(crate) fn code(&self) -> Option<&SqlState> {
        match self {
            JobError::Database(error) | JobError::NotConnected(error) => error.code(),
            JobError::Refused(_) | JobError::Silent | JobError::Unanswered(_) => None,
        }
    }

    fn has_code(&self, code: &SqlState) -> bool {
        self.code() == Some(code)
    }
}

/// Whether an error with this code may pass: lost connections, restarts, a failover, a full disk,
/// files that can't be read or written, a deadlock, a statement or a lock that took too long, a
/// transaction during which this process was stopped.
fn is_passing(code: &str) -> bool {
    ["08", "53", "40", "57P0"].iter().any(|it| code.starts_with(it))
        || ["25006", "25P03", "55P03", "57014", "58030"].contains(&code)
}

/// The error as a message for the user. Neither the URL nor the password is part of it.
pub(crate) fn explain(error: &Error, database: &str) -> StoreError {
    let Some(code) = error.code().map(SqlState::code) else { return without_connection(error, database) };
    let said = said(error);
    match code {
        "53100" => StoreError::Unavailable(format!(
            "the disk of the database {database} is full; free some space there"
        )),
        "53300" => StoreError::Unavailable(format!(
            "the database {database} has no connection left; raise `max_connections` there or run fewer nodes"
        )),
        "25006" => StoreError::Unavailable(format!(
            "the database {database} can be read but not written now ({said})"
        )),
        _ if is_passing(code) => not_now(database, &said, code),
        "28P01" => StoreError::UnusableServer(format!(
            "the database {database} refused the login; check the user and the password"
        )),
        // The server names the user and the host, or the rule that is missing, but no password.
        "28000" => StoreError::UnusableServer(format!(
            "the database {database} refused the login ({said}); check the user, and `pg_hba.conf` there"
        )),
        "3F000" => StoreError::UnusableServer(format!(
            "there is no schema for the tables in the database {database}; create the one that `search_path` in the \
             address names"
        )),
        "3D000" => StoreError::UnusableServer(format!("there is no database {database}; create it first")),
        "42501" => StoreError::UnusableServer(format!(
            "the user of the database {database} may not do this ({said}); let it own its schema"
        )),
        "42P07" | "42710" | "42723" | "42P01" | "42703" => StoreError::UnusableServer(format!(
            "the database {database} has tables of another program ({said}); use an empty database, or a schema of \
             its own"
        )),
        "XX001" | "XX002" => StoreError::UnusableServer(format!(
            "the database {database} is damaged ({said}); restore it from a backup"
        )),
        // Anything else would be a bug of ours, so a retry is useless.
        _ => {
            StoreError::UnusableServer(format!("the database {database} reported an error: {said} ({code})"))
        }
    }
}

/// Why there is no connection. Only a wrong address or login stays wrong: a server that is in
/// trouble refuses connections with all kinds of errors.
fn explain_connecting(error: &Error, database: &str) -> StoreError {
    let stays = |code: &str| code.starts_with("28") || ["3D000", "3F000", "42501"].contains(&code);
    match error.code().map(SqlState::code) {
        Some(code) if !stays(code) && !is_passing(code) => not_now(database, &said(error), code),
        _ => explain(error, database),
    }
}

fn not_now(database: &str, said: &str, code: &str) -> StoreError {
    StoreError::Unavailable(format!("the database {database} can't be used now: {said} ({code})"))
}

/// What the server said, or the driver.
fn said(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |it| it.message().to_owned())
}

/// Why there is no connection, by the words of the driver, which has no codes for it.
fn without_connection(error: &Error, database: &str) -> StoreError {
    let said = innermost(error);
    let all = format!("{error}: {said}");
    if all.contains("certificate") {
        return StoreError::UnusableServer(format!(
            "the certificate of the database {database} is not accepted ({said}); name the authority that signed it \
             with `sslrootcert`, and use the host name it was made for"
        ));
    }
    if all.contains("does not support TLS") {
        return StoreError::UnusableServer(format!(
            "the database {database} offers no encryption; turn TLS on there, or add `sslmode=disable` to the address \
             if you trust the network"
        ));
    }
    if all.contains("password missing") {
        return StoreError::UnusableServer(format!(
            "the database {database} wants a password, and the address has none"
        ));
    }
    if all.contains("does not allow writes") {
        return StoreError::Unavailable(format!(
            "the database {database} can be read but not written now; it may be a replica"
        ));
    }
    StoreError::Unavailable(format!(
        "the database {database} can't be reached ({said}); check that it runs and that this machine may connect to it"
    ))
}

fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(further) = cause.source() {
        cause = further;
    }
    match error.source() {
        Some(_) => cause.to_string(),
        None => error.to_string(),
    }
}

/// A row that this version of the program can't read.
pub(crate) fn unreadable(id: DiscussionId, what: &str, error: impl std::fmt::Display) -> JobError {
    JobError::Refused(StoreError::UnusableServer(format!(
        "{what} of discussion {id} can't be read by this version of the program ({error}); update the program"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_errors_are_told_from_permanent_ones() {
        for passing in [
            "08006", "57P01", "57P03", "53300", "53100", "58030", "40001", "40P01", "25006", "25P03",
            "55P03", "57014",
        ] {
            assert!(is_passing(passing), "{passing}");
        }
        for staying in ["28P01", "3D000", "42501", "42P01", "22021", "23503", "57000", "XX001"] {
            assert!(!is_passing(staying), "{staying}");
        }
    }
}
