//! Brings the tables up to date, one process at a time.
//!
//! `schema` says which version the tables have, and the oldest program that can still use them: a
//! migration that only adds leaves `min_reader` as it is, so nodes of the older version go on while
//! the newer ones are rolled out.

use quorum_core::seams::StoreError;

use crate::{connection::Connection, error::JobError};

/// A step from one version of the tables to the next.
struct Migration {
    sql: &'static str,
    /// The oldest version of the program, by its newest migration, that can use the tables then.
    min_reader: i32,
}

/// In order; the version of the tables is the number of steps taken. Steps are never changed once
/// they were released.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../migrations/0001_first.sql"), min_reader: 1 },
    Migration { sql: include_str!("../migrations/0002_titles.sql"), min_reader: 1 },
];

/// The version of this program.
const VERSION: i32 = MIGRATIONS.len() as i32;

/// The number of the lock under which one process at a time migrates a schema.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('quorum schema ' || current_schema(), 0))";

const PREPARE: &str = "SET LOCAL lock_timeout = '2s';
     CREATE TABLE IF NOT EXISTS schema (
         one boolean PRIMARY KEY DEFAULT true CHECK (one),
         version integer NOT NULL,
         min_reader integer NOT NULL,
         store uuid NOT NULL DEFAULT gen_random_uuid()
     );
     INSERT INTO schema (version, min_reader) VALUES (0, 0) ON CONFLICT DO NOTHING";

/// Migrates if needed. Returns the id of the store.
pub(crate) async fn migrate(connection: &mut Connection, database: &str) -> Result<uuid::Uuid, JobError> {
    if let Some((version, min_reader, store)) = look(connection).await? {
        check(version, min_reader, database)?;
        if VERSION <= version {
            return Ok(store);
        }
    }
    connection.begin().await?;
    let upgraded = upgrade(connection, database).await;
    connection.end(upgraded).await
}

async fn upgrade(connection: &mut Connection, database: &str) -> Result<uuid::Uuid, JobError> {
    connection.query(LOCK, &[]).await?;
    if look(connection).await?.is_none() {
        connection.batch(PREPARE).await?;
    }
    let found = look(connection).await?;
    let (version, min_reader, store) = found.ok_or_else(|| no_schema(database))?;
    check(version, min_reader, database)?;
    connection.batch("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '2s'").await?;
    for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        connection.batch(step.sql).await?;
        let sql = "UPDATE schema SET version = version + 1, min_reader = $1";
        connection.execute(sql, &[&step.min_reader]).await?;
    }
    Ok(store)
}

/// The version, the oldest reader and the id of the store; `None` if there are no tables yet.
async fn look(connection: &mut Connection) -> Result<Option<(i32, i32, uuid::Uuid)>, JobError> {
    let sql = "SELECT to_regclass(quote_ident(current_schema()) || '.schema') IS NOT NULL";
    let exists: Option<bool> = connection.query_opt(sql, &[]).await?.and_then(|row| row.get(0));
    if exists != Some(true) {
        return Ok(None);
    }
    let row = connection.query_opt("SELECT version, min_reader, store FROM schema", &[]).await?;
    Ok(row.map(|row| (row.get(0), row.get(1), row.get(2))))
}

fn check(version: i32, min_reader: i32, database: &str) -> Result<(), StoreError> {
    if min_reader <= VERSION {
        return Ok(());
    }
    Err(StoreError::Unusable(format!(
        "the tables of the database {database} are of a newer version ({version}) than this program ({VERSION}) \
         can use; update the program"
    )))
}

fn no_schema(database: &str) -> StoreError {
    StoreError::Unusable(format!("the tables of the database {database} could not be created"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_database_is_used_as_long_as_it_allows() {
        assert_eq!(check(VERSION + 3, VERSION, "panel"), Ok(()));
        let refused = check(VERSION + 3, VERSION + 1, "panel").map_err(|error| error.to_string());
        assert!(refused.is_err_and(|it| it.contains("newer version")));
    }
}
