//! Migrations: brings a database to the newest schema version, in numbered steps.

use std::path::Path;

use quorum_core::seams::StoreError;
use rusqlite::Connection;

use crate::error::{explain, unwritable};

/// The version that the first step creates. Older ones were never released, and their facts can't
/// be read.
const FIRST: usize = 5;

/// All steps, in order. Steps are added, never changed.
const STEPS: &[&str] = &[
    include_str!("../migrations/0005_first.sql"),
    include_str!("../migrations/0006_finished_tables.sql"),
    include_str!("../migrations/0007_no_replacing.sql"),
    include_str!("../migrations/0008_spending.sql"),
    include_str!("../migrations/0009_search_terms.sql"),
    include_str!("../migrations/0010_memory.sql"),
    include_str!("../migrations/0011_outcomes.sql"),
    include_str!("../migrations/0012_nodes.sql"),
    include_str!("../migrations/0013_titles.sql"),
    include_str!("../migrations/0014_moved.sql"),
    include_str!("../migrations/0015_attached.sql"),
];

pub(crate) const NEWEST: usize = FIRST + STEPS.len() - 1;

/// Applies the missing steps, and returns the version from before. A database of an unsupported
/// version is refused and not changed.
pub(crate) fn migrate(connection: &Connection, file: &Path) -> Result<usize, StoreError> {
    let before = version(connection).map_err(|error| explain(&error, file))?;
    match schema(connection).map_err(|error| explain(&error, file))? {
        Schema::Current => Ok(before),
        Schema::New | Schema::Behind => {
            apply(connection).map_err(|error| explain(&error, file)).map(|()| before)
        }
        Schema::Refused(refusal) => Err(refusal.into_store_error(file)),
    }
}

/// Refuses a database of any version but the newest, for callers that can't write and so can't
/// migrate it.
pub(crate) fn check(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    match schema(connection).map_err(|error| explain(&error, file))? {
        Schema::Current => Ok(()),
        Schema::New | Schema::Behind => Err(unwritable(file)),
        Schema::Refused(refusal) => Err(refusal.into_store_error(file)),
    }
}

/// What to do about a database.
enum Schema {
    Current,
    /// The database is empty.
    New,
    /// Steps are missing.
    Behind,
    Refused(Refusal),
}

/// Why a database is not used.
enum Refusal {
    TooNew(usize),
    TooOld(usize),
    OfAnotherProgram,
}

fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    let version = version(connection)?;
    Ok(if version > NEWEST {
        Schema::Refused(Refusal::TooNew(version))
    } else if version == NEWEST {
        Schema::Current
    } else if version >= FIRST {
        Schema::Behind
    } else if version > 0 {
        Schema::Refused(Refusal::TooOld(version))
    } else if is_empty(connection)? {
        Schema::New
    } else {
        Schema::Refused(Refusal::OfAnotherProgram)
    })
}

/// Applies all missing steps in one transaction, unless another process did so first.
fn apply(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let applied = (|| {
        for form in FIRST.max(version(connection)? + 1)..=NEWEST {
            step(connection, form)?;
        }
        connection.execute_batch("COMMIT")
    })();
    if applied.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    applied
}

/// Applies the step to this version.
fn step(connection: &Connection, form: usize) -> rusqlite::Result<()> {
    connection.execute_batch(STEPS[form - FIRST])?;
    connection.pragma_update(None, "user_version", form as u32)
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0))
        .map(|version| version as usize)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    // Another process may have migrated it since the version was read; then the version is set now.
    let sql = "SELECT (SELECT count(*) FROM sqlite_schema) = 0 OR (SELECT user_version FROM pragma_user_version) > 0";
    connection.query_row(sql, [], |row| row.get(0))
}

impl Refusal {
    fn into_store_error(self, file: &Path) -> StoreError {
        let name = file.display();
        StoreError::Unusable(match self {
            Refusal::TooNew(version) => format!(
                "the database {name} was made by a newer version of this program (its schema version is {version}, \
                 the newest known here is {NEWEST}); update the program"
            ),
            Refusal::TooOld(version) => format!(
                "the database {name} was made by an older version of this program, and its facts can't be \
                 read by this one (its schema version is {version}, the oldest known here is {FIRST}); move it away"
            ),
            Refusal::OfAnotherProgram => {
                format!("{name} is a database of another program; move it away")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use rusqlite::types::ValueRef;

    use super::*;

    /// Changing a step afterwards would leave databases that no version of the program creates.
    /// `QUORUM_BLESS=1` writes the golden file of a new step only.
    #[test]
    fn steps_are_added_never_changed() {
        let connection = Connection::open_in_memory().unwrap();
        for form in FIRST..=NEWEST {
            step(&connection, form).unwrap();
            let (made, file) = (shape(&connection), golden(form));
            if std::env::var_os("QUORUM_BLESS").is_some() && !file.exists() {
                fs::write(&file, &made).unwrap();
            }
            let expected = fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(made, expected, "step {form} doesn't create the schema in {}", file.display());
        }
        assert!(!golden(NEWEST + 1).exists(), "a step was removed");
    }

    fn golden(form: usize) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/form-{form}.sql"))
    }

    /// Everything in the schema by name, and all rows.
    fn shape(connection: &Connection) -> String {
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
