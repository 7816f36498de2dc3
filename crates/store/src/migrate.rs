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
         update the program",
        file.display(),
        MIGRATIONS.len()
    ))
}

fn of_another_program(file: &Path) -> StoreError {
    StoreError::Unusable(format!("{} is a database of another program; move it away", file.display()))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use rusqlite::types::ValueRef;

    use super::*;

    /// Every form a database ever had stays as it is: a step that was changed afterwards would leave databases behind that
    /// no program makes. `QUORUM_BLESS=1` writes the form of a step that is new, and of no other.
    #[test]
    fn steps_are_added_never_changed() {
        let connection = Connection::open_in_memory().unwrap();
        for from in 0..MIGRATIONS.len() {
            apply(&connection, from).unwrap();
            let (made, file) = (form(&connection), golden(from + 1));
            if std::env::var_os("QUORUM_BLESS").is_some() && !file.exists() {
                fs::write(&file, &made).unwrap();
            }
            let expected = fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(made, expected, "the form after step {} is not that of {}", from + 1, file.display());
        }
        assert!(!golden(MIGRATIONS.len() + 1).exists(), "a step was taken away");
    }

    fn golden(step: usize) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/form-{step}.sql"))
    }

    /// Everything that was made, by name, and what stands in it.
    fn form(connection: &Connection) -> String {
        let things = "SELECT type || ' ' || name, sql FROM sqlite_schema ORDER BY type, name";
        let tables =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%' ORDER BY name";
        let made = rows(connection, things).into_iter().map(|it| format!("-- {}\n{};\n\n", it[0], it[1]));
        let filled = rows(connection, tables).into_iter().flat_map(|table| {
            let found = rows(connection, &format!("SELECT * FROM {}", table[0]));
            found.into_iter().map(move |row| format!("-- in {}: {}\n", table[0], row.join("|")))
        });
        made.chain(filled).collect()
    }

    fn rows(connection: &Connection, sql: &str) -> Vec<Vec<String>> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let shown = |value: ValueRef<'_>| match value {
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Integer(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|it| Ok(shown(row.get_ref(it)?))).collect();
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    }
}
