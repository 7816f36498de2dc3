//! Forgetting: the only way anything is ever deleted (INV-DISC-632).

use quorum_core::model::time::Timestamp;
use rusqlite::{Connection, params};

use crate::{desk::Desk, error::Trouble};

/// Everything that hangs on a discussion and those below it, children before parents.
const BELONGINGS: &[&str] = &[
    "DELETE FROM search WHERE rowid IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_logs WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_state WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_participants WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM commands WHERE discussion IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM facts WHERE discussion IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussions WHERE root = ?1",
];

/// Removes what ended before this moment and is not being tried again. Returns how many discussions people started are gone.
pub(crate) fn forget(desk: &mut Desk, ended_before: Timestamp) -> Result<u64, Trouble> {
    let connection = &desk.connection;
    let gone = gone(connection, ended_before, desk.now())?;
    if gone.is_empty() {
        return Ok(0);
    }
    set_forgetting(connection, true)?;
    for root in &gone {
        for sql in BELONGINGS {
            connection.prepare_cached(sql)?.execute([root])?;
        }
    }
    set_forgetting(connection, false)?;
    desk.forget_all();
    Ok(gone.len() as u64)
}

fn gone(connection: &Connection, ended_before: Timestamp, now: Timestamp) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM discussions WHERE root = id AND ended_at < ?1 AND (owner IS NULL OR lease_until <= ?2)",
    )?;
    let rows = statement.query_map(params![ended_before.0, now.0], |row| row.get(0))?;
    rows.collect()
}

/// Opens the way past the triggers that forbid deleting, for this transaction only.
fn set_forgetting(connection: &Connection, forgetting: bool) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE maintenance SET forgetting = ?1")?.execute([forgetting]).map(drop)
}
