//! Forgetting, by age or by a person's word: the only way anything is ever deleted (INV-DISC-632).

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::StoreError,
};
use rusqlite::{Connection, params};

use crate::{claims, error::Trouble, write_context::WriteContext};

/// Everything that hangs on a discussion and those below it, children before parents.
const BELONGINGS: &[&str] = &[
    "DELETE FROM search WHERE rowid IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_logs WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_state WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_participants WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM commands WHERE discussion IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM facts WHERE discussion IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussions WHERE root = ?1",
    "DELETE FROM reservations WHERE discussion = ?1",
];

/// What nothing hangs on any more: old deeds, and ids kept for orders that never came.
const LEFTOVERS: &[&str] = &[
    "DELETE FROM deeds WHERE at < ?1",
    "DELETE FROM reservations WHERE at < ?1 AND discussion NOT IN (SELECT id FROM discussions)",
];

/// Removes what ended before this moment and is not being tried again. Returns how many discussions people started are gone.
pub(crate) fn forget(context: &mut WriteContext, ended_before: Timestamp) -> Result<u64, Trouble> {
    let connection = &context.connection;
    let gone = gone(connection, ended_before, context.now())?;
    set_forgetting(connection, true)?;
    for sql in LEFTOVERS {
        connection.prepare_cached(sql)?.execute([ended_before.0])?;
    }
    set_forgetting(connection, false)?;
    erase(context, &gone)?;
    Ok(gone.len() as u64)
}

/// Removes one discussion that nobody runs.
pub(crate) fn remove(context: &mut WriteContext, id: DiscussionId) -> Result<(), Trouble> {
    if let Some(holder) = claims::holder(context, id)? {
        return Err(StoreError::Held { id, owner: holder.to_string() }.into());
    }
    erase(context, &[id.to_string()])
}

fn erase(context: &mut WriteContext, roots: &[String]) -> Result<(), Trouble> {
    if roots.is_empty() {
        return Ok(());
    }
    let connection = &context.connection;
    set_forgetting(connection, true)?;
    for root in roots {
        for sql in BELONGINGS {
            connection.prepare_cached(sql)?.execute([root])?;
        }
    }
    set_forgetting(connection, false)?;
    context.forget_all();
    Ok(())
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
