//! Retention: hides old discussions, removes them later, and restores them (INV-DISC-632).
//!
//! This file has the only statements that delete anything.

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Cutoffs, Expired, Retention, SLICE, StoreError},
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{claims, error::JobError, spending, write_context::WriteContext};

/// Deletes everything that belongs to a root and the discussions below it, children before parents.
const BELONGINGS: &[&str] = &[
    "DELETE FROM search WHERE rowid IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_logs WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_state WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM discussion_participants WHERE project_id IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM outcomes WHERE discussion IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM commands WHERE discussion IN (SELECT id FROM discussions WHERE root = ?1)",
    "DELETE FROM facts WHERE discussion IN (SELECT number FROM discussions WHERE root = ?1)",
    "DELETE FROM discussions WHERE root = ?1",
    "DELETE FROM reservations WHERE discussion = ?1",
];

/// Deletes old audit entries, and idempotency keys whose discussion was never created.
const LEFTOVERS: &[&str] = &[
    "DELETE FROM deeds WHERE at < ?1",
    "DELETE FROM reservations WHERE at < ?1 AND discussion NOT IN (SELECT id FROM discussions)",
];

/// Restarts the grace period of discussions that a wrong clock hid in the future.
const CORRECT_MARKS: &str = "UPDATE discussions SET hidden_at = ?1 WHERE hidden_at > ?2";

const SHOW_AGAIN: &str = "UPDATE discussions SET hidden_at = NULL WHERE hidden_at IS NOT NULL
    AND (ended_at IS NULL OR ended_at >= ?1 OR restored_at >= ?1)";

const DUE: &str = "SELECT id FROM discussions WHERE hidden_at <= ?1 AND node IS NULL
    AND ifnull(lease_until, 0) <= ?2 LIMIT ?3";

const HIDE: &str = "UPDATE discussions SET hidden_at = ?1 WHERE number IN (SELECT number FROM discussions
    WHERE root = id AND hidden_at IS NULL AND ended_at < ?2 AND (restored_at IS NULL OR restored_at < ?2)
    AND node IS NULL AND ifnull(lease_until, 0) <= ?3 LIMIT ?4)";

/// Hides discussions whose retention has ended, and removes those whose grace period is over.
pub(crate) fn expire(context: &mut WriteContext, retention: Retention) -> Result<Expired, JobError> {
    let Some(newest) = newest_fact(&context.connection)? else { return Ok(Expired::default()) };
    let cutoffs = match retention.measure(newest) {
        Ok(cutoffs) => cutoffs,
        Err(leap) => return Ok(Expired { leap: Some(leap), ..Expired::default() }),
    };
    let Cutoffs { now, ended_before, .. } = cutoffs;
    let execute = |sql, params: &[&dyn rusqlite::ToSql]| -> rusqlite::Result<u64> {
        Ok(context.connection.prepare_cached(sql)?.execute(params)? as u64)
    };
    execute(CORRECT_MARKS, &[&now.0, &cutoffs.latest_mark().0])?;
    let reappeared = execute(SHOW_AGAIN, &[&ended_before.0])?;
    let due = due(context, &cutoffs)?;
    let hidden = execute(HIDE, &[&now.0, &ended_before.0, &context.now().0, &(SLICE as i64)])?;
    erase(context, &due, Some(cutoffs.logged_before))?;
    let removed = due.len() as u64;
    let more = [hidden, removed].contains(&(SLICE as u64));
    Ok(Expired { hidden, removed, reappeared, leap: None, more })
}

/// The time of the fact that was written last. Row ids grow with every write, so this doesn't
/// depend on any clock.
fn newest_fact(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let mut statement = connection.prepare_cached("SELECT at FROM facts ORDER BY rowid DESC LIMIT 1")?;
    statement.query_row([], |row| row.get(0).map(Timestamp)).optional()
}

fn due(context: &WriteContext, cutoffs: &Cutoffs) -> rusqlite::Result<Vec<String>> {
    let mut statement = context.connection.prepare_cached(DUE)?;
    let rows = statement
        .query_map(params![cutoffs.hidden_before.0, context.now().0, SLICE as i64], |row| row.get(0))?;
    rows.collect()
}

/// Shows a hidden discussion again and restarts its retention as if it had ended at `now`.
pub(crate) fn restore(context: &mut WriteContext, id: DiscussionId, now: Timestamp) -> Result<(), JobError> {
    let number = context.root(id)?.number;
    let sql = "UPDATE discussions SET hidden_at = NULL, restored_at = ?2 WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute(params![number, now.0])?;
    Ok(())
}

/// Removes one discussion at once, unless it is running.
pub(crate) fn remove(context: &mut WriteContext, id: DiscussionId) -> Result<(), JobError> {
    if let Some(holder) = claims::holder(context, id)? {
        return Err(StoreError::Held { id, owner: holder }.into());
    }
    erase(context, &[id.to_string()], None)
}

fn erase(
    context: &mut WriteContext,
    roots: &[String],
    logged_before: Option<Timestamp>,
) -> Result<(), JobError> {
    for id in roots.iter().filter_map(|root| root.parse().ok()) {
        spending::settle_from_record(context, id)?;
    }
    let connection = &context.connection;
    set_forgetting(connection, true)?;
    for root in roots {
        for sql in BELONGINGS {
            connection.prepare_cached(sql)?.execute([root])?;
        }
    }
    for (sql, moment) in LEFTOVERS.iter().zip(logged_before.into_iter().cycle()) {
        connection.prepare_cached(sql)?.execute([moment.0])?;
    }
    set_forgetting(connection, false)?;
    context.clear_cache();
    Ok(())
}

/// Disables the triggers that forbid deleting, for this transaction.
fn set_forgetting(connection: &Connection, forgetting: bool) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE maintenance SET forgetting = ?1")?.execute([forgetting]).map(drop)
}
