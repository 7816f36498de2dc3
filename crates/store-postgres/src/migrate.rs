//! Brings the tables up to date, one process at a time.
//!
//! `schema` says which version the tables have, and the oldest program that can still use them: a
//! migration that only adds leaves `min_reader` as it is, so nodes of the older version go on while
//! the newer ones are rolled out.

use quorum_core::seams::StoreError;

use crate::{connection::Connection, error::JobError};

/// A step from one version of the tables to the next.
pub(crate) struct Migration {
    sql: &'static str,
    /// The oldest version of the program, by its newest migration, that can use the tables then.
    min_reader: i32,
    kind: Change,
}

/// What a step does to the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It adds something, so any node may take it when it starts.
    Expand,
    /// It takes away what older nodes use, so it is taken only when asked for, and when every node
    /// knows the tables as they are then.
    Contract,
}

/// Which steps are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Additive steps, on existing tables only.
    Existing,
    /// Additive steps, as at every start.
    Expanding,
    /// All steps.
    All,
}

/// What may be done to the tables of a database that is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tables {
    /// They are created, and what is missing is added.
    #[default]
    Added,
    /// Like [`Tables::Added`]; also removes what only older nodes use.
    Migrated,
    /// They must be there. What is missing is added.
    Existing,
}

impl From<Tables> for Extent {
    fn from(tables: Tables) -> Self {
        match tables {
            Tables::Added => Extent::Expanding,
            Tables::Migrated => Extent::All,
            Tables::Existing => Extent::Existing,
        }
    }
}

/// In order; the version of the tables is the number of steps taken. Steps are never changed once
/// they were released.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../migrations/0001_first.sql"), min_reader: 1, kind: Change::Expand },
    Migration { sql: include_str!("../migrations/0002_titles.sql"), min_reader: 1, kind: Change::Expand },
    Migration {
        sql: include_str!("../migrations/0003_moved_and_lanes.sql"),
        min_reader: 1,
        kind: Change::Expand,
    },
    Migration { sql: include_str!("../migrations/0004_attached.sql"), min_reader: 1, kind: Change::Expand },
    Migration { sql: include_str!("../migrations/0005_hidden.sql"), min_reader: 1, kind: Change::Expand },
];

/// The version of this program.
pub(crate) const VERSION: i32 = MIGRATIONS.len() as i32;

/// The oldest PostgreSQL that has all functions that are used here.
const OLDEST_SERVER: i32 = 13;

/// How often a step is tried again that had to wait for a lock of other nodes.
const TRIES: u32 = 5;

/// How long nodes may work in between.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(500);

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

/// What a migration came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Migrated {
    pub(crate) store: uuid::Uuid,
    pub(crate) before: i32,
    pub(crate) after: i32,
}

/// Migrates if needed, while other nodes work. A step that would wait for them for longer than two
/// seconds is given up and tried again, so that nothing waits behind it.
pub(crate) async fn migrate(
    connection: &mut Connection,
    database: &str,
    extent: Extent,
) -> Result<Migrated, JobError> {
    migrate_by(MIGRATIONS, connection, database, extent).await
}

async fn migrate_by(
    steps: &[Migration],
    connection: &mut Connection,
    database: &str,
    extent: Extent,
) -> Result<Migrated, JobError> {
    let mut before = 0;
    match look(connection).await? {
        Some((version, min_reader, store)) => {
            check(version, min_reader, steps.len() as i32, database)?;
            before = version;
            if first_left_out(steps, version, extent) <= version as usize {
                return Ok(Migrated { store, before, after: version });
            }
        }
        None if extent == Extent::Existing => {
            refuse_foreign(connection, database).await?;
            return Err(empty(database).into());
        }
        None => {}
    }
    let mut tries = 0;
    loop {
        connection.begin().await?;
        let upgraded = upgrade(steps, connection, database, extent).await;
        let upgraded = connection.end(upgraded).await;
        tries += 1;
        match upgraded {
            Err(error) if error.is_lock_timeout() && tries < TRIES => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error),
            Ok((store, after)) => return Ok(Migrated { store, before, after }),
        }
    }
}

/// The number of the first step that is not taken.
fn first_left_out(steps: &[Migration], version: i32, extent: Extent) -> usize {
    let taken = usize::try_from(version).unwrap_or_default();
    let is_left_out = |it: &Migration| extent != Extent::All && it.kind == Change::Contract;
    steps.iter().skip(taken).position(is_left_out).map_or(steps.len(), |it| taken + it)
}

async fn upgrade(
    steps: &[Migration],
    connection: &mut Connection,
    database: &str,
    extent: Extent,
) -> Result<(uuid::Uuid, i32), JobError> {
    // Another process may take long under the lock, and a step on large tables, too.
    connection.batch("SET LOCAL statement_timeout = 0").await?;
    connection.query_slowly(LOCK).await?;
    let server: String = connection.query("SHOW server_version_num", &[]).await?[0].get(0);
    check_server(server.parse().unwrap_or(i32::MAX), database)?;
    if look(connection).await?.is_none() {
        refuse_foreign(connection, database).await?;
        refuse_encoding(connection, database).await?;
        connection.batch(PREPARE).await?;
    }
    let found = look(connection).await?;
    let (version, min_reader, store) = found.ok_or_else(|| no_schema(database))?;
    check(version, min_reader, steps.len() as i32, database)?;
    connection.batch("SET LOCAL lock_timeout = '2s'").await?;
    let end = first_left_out(steps, version, extent);
    let taken = usize::try_from(version).unwrap_or_default();
    for (number, step) in steps.iter().enumerate().take(end).skip(taken) {
        if step.kind == Change::Contract {
            check_nodes(connection, number as i32, database).await?;
        }
        connection.batch_slowly(step.sql).await?;
        let sql = "UPDATE schema SET version = version + 1, min_reader = $1";
        connection.execute(sql, &[&step.min_reader]).await?;
    }
    Ok((store, version.max(end as i32)))
}

/// Fails while a node runs whose program doesn't know the tables as they were before this step.
async fn check_nodes(connection: &mut Connection, before: i32, database: &str) -> Result<(), JobError> {
    let sql = "SELECT name FROM nodes WHERE knows < $1 ORDER BY name";
    let older: Vec<String> = connection.query(sql, &[&before]).await?.iter().map(|row| row.get(0)).collect();
    if older.is_empty() {
        return Ok(());
    }
    Err(StoreError::UnusableServer(format!(
        "the tables of the database {database} can't be changed while older programs use them: {}; restart \
         those with the new version first",
        older.join(", ")
    ))
    .into())
}

/// Fails if there are tables, although none of ours.
async fn refuse_foreign(connection: &mut Connection, database: &str) -> Result<(), JobError> {
    let sql = "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
               WHERE nspname = current_schema() AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname LIMIT 3";
    let rows = connection.query(sql, &[]).await?;
    let tables: Vec<String> = rows.iter().map(|row| row.get::<_, String>(0)).collect();
    if tables.is_empty() {
        return Ok(());
    }
    Err(StoreError::UnusableServer(format!(
        "the database {database} has tables of another program ({}); use an empty database, or a schema of its own",
        tables.join(", ")
    ))
    .into())
}

/// Fails if the database can't hold every text: an answer that was paid for could not be recorded.
async fn refuse_encoding(connection: &mut Connection, database: &str) -> Result<(), JobError> {
    let encoding: String = connection.query("SHOW server_encoding", &[]).await?[0].get(0);
    if ["UTF8", "SQL_ASCII"].contains(&encoding.as_str()) {
        return Ok(());
    }
    Err(StoreError::UnusableServer(format!(
        "the database {database} has the encoding {encoding}, which can't hold every text; create it with \
         ENCODING 'UTF8'"
    ))
    .into())
}

fn empty(database: &str) -> StoreError {
    StoreError::UnusableServer(format!(
        "the database {database} is empty; its tables are created when it is migrated or used"
    ))
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

fn check(version: i32, min_reader: i32, known: i32, database: &str) -> Result<(), StoreError> {
    if min_reader <= known {
        return Ok(());
    }
    Err(StoreError::UnusableServer(format!(
        "the tables of the database {database} are of a newer version ({version}) than this program ({known}) \
         can use; update the program"
    )))
}

/// Fails if the server, by its `server_version_num`, is too old.
fn check_server(number: i32, database: &str) -> Result<(), StoreError> {
    let version = number / 10_000;
    if OLDEST_SERVER <= version {
        return Ok(());
    }
    Err(StoreError::UnusableServer(format!(
        "the database {database} is PostgreSQL {version}; {OLDEST_SERVER} or newer is needed"
    )))
}

fn no_schema(database: &str) -> StoreError {
    StoreError::UnusableServer(format!("the tables of the database {database} could not be created"))
}

#[cfg(test)]
mod tests {
    use quorum_testkit::postgres::Database;

    use super::*;
    use crate::{address::Address, connection::Place};

    const fn step(sql: &'static str, kind: Change) -> Migration {
        Migration { sql, min_reader: 1, kind }
    }

    #[tokio::test]
    async fn what_older_nodes_use_is_taken_away_last() {
        let database = Database::fresh();
        let address = Address::parse(&database.url()).unwrap();
        let place = Place { address, runtime: tokio::runtime::Handle::current(), counts: Default::default() };
        let mut connection = Connection::open(&place).await.unwrap();
        let (add, remove) =
            (step("ALTER TABLE nodes ADD COLUMN more integer", Change::Expand), Change::Contract);
        let ours = MIGRATIONS.iter().map(|it| step(it.sql, Change::Expand));
        let further = [add, step("ALTER TABLE nodes DROP COLUMN draining", remove)];
        let steps: Vec<Migration> = ours.chain(further).collect();
        let (added, removed) = (VERSION + 1, VERSION + 2);
        let mut run = async |extent| {
            let migrated = migrate_by(&steps, &mut connection, "panel", extent).await;
            migrated.map(|it| (it.before, it.after)).map_err(|it| it.into_store_error("panel").to_string())
        };
        assert_eq!(run(Extent::Expanding).await, Ok((0, added)));
        assert_eq!(run(Extent::Expanding).await, Ok((added, added)));
        let node = "INSERT INTO nodes (id, name, version, config, lease_ms, channel, knows) VALUES
            (gen_random_uuid(), 'old node', '', '', 1, '', ";
        database.run(&format!("{node}{VERSION})"));
        let refused = run(Extent::All).await.unwrap_err();
        assert!(refused.contains("old node"), "{refused}");
        database.run(&format!("DELETE FROM nodes; {node}{added})"));
        assert_eq!(run(Extent::All).await, Ok((added, removed)));
    }

    #[tokio::test]
    async fn a_step_that_takes_longer_than_any_answer_is_finished() {
        let database = Database::fresh();
        let address = Address::parse(&database.url()).unwrap();
        let place = Place { address, runtime: tokio::runtime::Handle::current(), counts: Default::default() };
        let slow = step("SELECT pg_sleep(1)", Change::Expand);
        let steps: Vec<Migration> =
            MIGRATIONS.iter().map(|it| step(it.sql, Change::Expand)).chain([slow]).collect();
        let migrate = async || {
            let mut connection = Connection::open(&place).await.unwrap();
            connection.patience = std::time::Duration::from_millis(500);
            connection.batch("SET statement_timeout = '500ms'").await.unwrap();
            let migrated = migrate_by(&steps, &mut connection, "panel", Extent::Expanding).await;
            migrated.map(|it| it.after).map_err(|it| it.into_store_error("panel").to_string())
        };
        // The second one waits for the first under the lock.
        let both = futures::future::join(migrate(), migrate()).await;
        assert_eq!(both, (Ok(VERSION + 1), Ok(VERSION + 1)));
    }

    #[test]
    fn a_server_that_is_too_old_is_told() {
        let told = |number| check_server(number, "panel").map_err(|error| error.to_string());
        let too_old = "the database panel is PostgreSQL 12; 13 or newer is needed";
        assert_eq!([120_022, 130_000, 150_013].map(told), [Err(too_old.to_owned()), Ok(()), Ok(())]);
    }

    #[test]
    fn a_newer_database_is_used_as_long_as_it_allows() {
        assert_eq!(check(VERSION + 3, VERSION, VERSION, "panel"), Ok(()));
        let refused = check(VERSION + 3, VERSION + 1, VERSION, "panel").map_err(|error| error.to_string());
        assert!(refused.is_err_and(|it| it.contains("newer version")));
    }
}
