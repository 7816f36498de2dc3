//! Brings a database to the form this program knows, one numbered step at a time.

use std::path::Path;

use quorum_core::seams::StoreError;
use rusqlite::Connection;

use crate::error::explain;

/// Every step there is, in order. Steps are added, never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_record.sql"),
    include_str!("../migrations/0002_three_tables.sql"),
    include_str!("../migrations/0003_search.sql"),
    include_str!("../migrations/0004_tenants.sql"),
];

/// Applies what is missing. A database from a newer program is left alone.
pub(crate) fn migrate(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let wrong = |error: rusqlite::Error| explain(&error, file);
    let newest = MIGRATIONS.len();
    loop {
        let version = version(connection).map_err(wrong)?;
        if version > newest {
            return Err(from_the_future(file, version));
        }
        if version == 0 && !is_empty(connection).map_err(wrong)? {
            return Err(of_another_program(file));
        }
        if version == newest {
            return Ok(());
        }
        apply(connection, version).map_err(wrong)?;
    }
}

/// One step in one transaction, unless another process was faster.
fn apply(connection: &Connection, from: usize) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let applied = (|| {
        if version(connection)? == from {
            connection.execute_batch(MIGRATIONS[from])?;
            connection.pragma_update(None, "user_version", from as u32 + 1)?;
        }
        connection.execute_batch("COMMIT")
    })();
    if applied.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    applied
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0))
        .map(|version| version as usize)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    // A step of another process may have been applied since the version was read; its number comes with it.
    let sql = "SELECT (SELECT count(*) FROM sqlite_schema) = 0 OR (SELECT user_version FROM pragma_user_version) > 0";
    connection.query_row(sql, [], |row| row.get(0))
}

fn from_the_future(file: &Path, version: usize) -> StoreError {
    StoreError::Unusable(format!(
        "the database {} was made by a newer version of this program (its form is {version}, the newest known here is {}); \
         update the program, or point AX_DATA_DIR elsewhere",
        file.display(),
        MIGRATIONS.len()
    ))
}

fn of_another_program(file: &Path) -> StoreError {
    StoreError::Unusable(format!(
        "{} is a database of another program; move it away, or point AX_DATA_DIR elsewhere",
        file.display()
    ))
}
