//! Retention: hides old discussions, removes them later, and restores them (INV-DISC-632).
//!
//! This file has the only statements that delete facts.

use std::sync::LazyLock;

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Cutoffs, Expired, Retention, SLICE, StoreError},
};
use uuid::Uuid;

use crate::{claims, connection::Connection, error::JobError, search, spending};

/// One node at a time; the others have nothing to do meanwhile.
const LOCK: &str =
    "SELECT pg_try_advisory_xact_lock(hashtextextended('quorum retention ' || current_schema(), 0))";

/// Deletes everything that belongs to these roots and the discussions below them.
const BELONGINGS: &[&str] = &[
    "DELETE FROM search WHERE discussion IN (SELECT number FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM discussion_logs WHERE project_id IN
         (SELECT id FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM discussion_state WHERE project_id IN
         (SELECT id FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM discussion_participants WHERE project_id IN
         (SELECT id FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM outcomes WHERE discussion IN (SELECT id FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM commands WHERE discussion = ANY ($1)",
    "DELETE FROM facts WHERE discussion IN (SELECT number FROM discussions WHERE root = ANY ($1))",
    "DELETE FROM discussions WHERE root = ANY ($1)",
    "DELETE FROM reservations WHERE discussion = ANY ($1)",
];

/// Deletes old audit entries, and idempotency keys whose discussion was never created.
const LEFTOVERS: &[&str] = &[
    "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < $1 LIMIT 5000)",
    "DELETE FROM reservations WHERE (tenant, key) IN (SELECT tenant, key FROM reservations WHERE at < $1
         AND NOT EXISTS (SELECT FROM discussions WHERE id = reservations.discussion) LIMIT 5000)",
];

/// Restarts the grace period of discussions that a wrong clock hid in the future.
const CORRECT_MARKS: &str = "UPDATE discussions SET hidden_at = $1 WHERE number IN
    (SELECT number FROM discussions WHERE hidden_at > $2 LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)";

/// The time from which retention counts, as the index of hidden discussions knows it: none for one
/// that has no end.
const KEPT_FROM: &str = "greatest(coalesce(ended_at, 9223372036854775807), restored_at)";

static SHOW_AGAIN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE discussions SET hidden_at = NULL WHERE number IN (SELECT number FROM discussions
         WHERE hidden_at IS NOT NULL AND {KEPT_FROM} >= $1 LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)"
    )
});

/// Those that are to be shown again are not removed, although there may be more of them than were
/// shown.
static DUE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT id FROM discussions WHERE hidden_at <= $1 AND {KEPT_FROM} < $2 AND node IS NULL
         LIMIT $3 FOR UPDATE SKIP LOCKED"
    )
});

const HIDE: &str = "UPDATE discussions SET hidden_at = $1 WHERE number IN (SELECT number FROM discussions
    WHERE root = id AND hidden_at IS NULL AND ended_at < $2 AND (restored_at IS NULL OR restored_at < $2)
    AND node IS NULL LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)";

/// The fact that was written last, by the database's clock and not by its own time: it is of one of
/// the newest discussions or of one that is not over.
const NEWEST: &str = "SELECT last_at FROM (
        (SELECT number, last_at, written_at FROM discussions ORDER BY number DESC LIMIT 1000)
        UNION (SELECT number, last_at, written_at FROM discussions WHERE run <> 'over')
    ) AS recent ORDER BY written_at DESC, number DESC LIMIT 1";

/// Hides discussions whose retention has ended, and removes those whose grace period is over.
pub(crate) async fn expire(connection: &mut Connection, retention: Retention) -> Result<Expired, JobError> {
    if !connection.query(LOCK, &[]).await?[0].get::<_, bool>(0) {
        return Ok(Expired::default());
    }
    let Some(row) = connection.query_opt(NEWEST, &[]).await? else { return Ok(Expired::default()) };
    let cutoffs = match retention.measure(Timestamp(row.get(0))) {
        Ok(cutoffs) => cutoffs,
        Err(leap) => return Ok(Expired { leap: Some(leap), ..Expired::default() }),
    };
    let Cutoffs { now, ended_before, hidden_before, logged_before } = cutoffs;
    let most = SLICE as i64;
    let corrected = connection.execute(CORRECT_MARKS, &[&now.0, &cutoffs.latest_mark().0, &most]).await?;
    let reappeared = connection.execute(&SHOW_AGAIN, &[&ended_before.0, &most]).await?;
    let due = connection.query(&DUE, &[&hidden_before.0, &ended_before.0, &most]).await?;
    let due: Vec<Uuid> = due.iter().map(|row| row.get(0)).collect();
    let hidden = connection.execute(HIDE, &[&now.0, &ended_before.0, &most]).await?;
    erase(connection, &due).await?;
    for sql in LEFTOVERS {
        connection.execute(sql, &[&logged_before.0]).await?;
    }
    let removed = due.len() as u64;
    let more = [corrected, reappeared, hidden, removed].contains(&(SLICE as u64));
    Ok(Expired { hidden, removed, reappeared, leap: None, more })
}

/// Shows a hidden discussion again and restarts its retention as if it had ended at `now`.
pub(crate) async fn restore(
    connection: &mut Connection,
    id: DiscussionId,
    now: Timestamp,
) -> Result<(), JobError> {
    let sql = "UPDATE discussions SET hidden_at = NULL, restored_at = $2 WHERE id = $1 AND root = id";
    match connection.execute(sql, &[&Uuid::from(id), &now.0]).await? {
        0 => Err(StoreError::Unknown(id).into()),
        _ => Ok(()),
    }
}

/// Removes one discussion at once, unless it is running.
pub(crate) async fn remove(connection: &mut Connection, id: DiscussionId) -> Result<(), JobError> {
    let sql = "SELECT 1 FROM discussions WHERE id = $1 AND root = id FOR UPDATE";
    connection.query(sql, &[&Uuid::from(id)]).await?;
    if let Some(owner) = claims::holder(connection, id).await? {
        return Err(StoreError::Held { id, owner }.into());
    }
    erase(connection, &[id.into()]).await
}

async fn erase(connection: &mut Connection, roots: &[Uuid]) -> Result<(), JobError> {
    if !roots.is_empty() {
        search::lock(connection).await?;
    }
    for root in roots {
        spending::settle_from_record(connection, (*root).into()).await?;
    }
    connection.batch("SET LOCAL quorum.forgetting = 'on'").await?;
    for sql in BELONGINGS {
        connection.execute(sql, &[&roots]).await?;
    }
    Ok(())
}
