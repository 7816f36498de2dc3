//! Outcomes: recorded right answers, beside the record.

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{KnownOutcome, OutcomesWanted, StoreError},
};
use rusqlite::{Connection, Row, params};

use crate::{cache::parsed, error::JobError, write_context::WriteContext};

pub(crate) const COLUMNS: &str = "discussion, tenant, simulated, answer, said_by, at, scored";

/// Adds an outcome.
pub(crate) fn resolve(context: &mut WriteContext, outcome: &KnownOutcome) -> Result<(), JobError> {
    let KnownOutcome { discussion, tenant, simulated, answer, by, at, scored } = outcome;
    context.root(*discussion)?;
    let scored = serde_json::to_string(scored)
        .map_err(|error| StoreError::Unusable(format!("an outcome could not be written: {error}")))?;
    context
        .connection
        .prepare_cached(&format!("INSERT INTO outcomes ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"))?
        .execute(params![discussion.to_string(), tenant.name(), simulated, answer, by, at.0, scored])?;
    Ok(())
}

/// The newest outcome of each discussion, newest first.
pub(crate) fn outcomes(
    connection: &Connection,
    wanted: &OutcomesWanted,
) -> Result<Vec<KnownOutcome>, JobError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM outcomes AS one WHERE tenant = ?1 AND simulated = ?2
         AND NOT EXISTS (SELECT 1 FROM outcomes AS later
             WHERE later.discussion = one.discussion AND later.number > one.number)
         ORDER BY number DESC LIMIT ?3"
    ))?;
    let limit = i64::try_from(wanted.limit).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| outcome(row, 0);
    let rows = statement.query_map(params![wanted.tenant.name(), wanted.simulated, limit], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All outcomes of a discussion, oldest first.
pub(crate) fn outcomes_of(connection: &Connection, id: DiscussionId) -> Result<Vec<KnownOutcome>, JobError> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM outcomes WHERE discussion = ?1 ORDER BY number"))?;
    let rows = statement.query_map([id.to_string()], |row| outcome(row, 0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The outcome in a row whose columns begin at this one.
pub(crate) fn outcome(row: &Row<'_>, first: usize) -> rusqlite::Result<KnownOutcome> {
    let scored: String = row.get(first + 6)?;
    Ok(KnownOutcome {
        discussion: parsed(row, first)?,
        tenant: Tenant::named(row.get_ref(first + 1)?.as_str()?),
        simulated: row.get(first + 2)?,
        answer: row.get(first + 3)?,
        by: row.get(first + 4)?,
        at: Timestamp(row.get(first + 5)?),
        // What a later version wrote and this one can't read is not a ground for learning.
        scored: serde_json::from_str(&scored).unwrap_or_default(),
    })
}
