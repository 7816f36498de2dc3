//! The audit log: who did what to which discussion.

use quorum_core::{
    model::time::Timestamp,
    seams::{AuditEntry, AuditWanted},
};
use rusqlite::{Connection, Row, params};

use crate::{cache::parsed, error::JobError, write_context::WriteContext};

/// Adds an entry.
pub(crate) fn log(context: &mut WriteContext, entry: &AuditEntry) -> Result<(), JobError> {
    let AuditEntry { at, tenant, who, action, discussion, result } = entry;
    let mut statement = context.connection.prepare_cached(
        "INSERT INTO deeds (at, tenant, who, action, discussion, result) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    statement.execute(params![at.0, tenant.name(), who, action, discussion.to_string(), result])?;
    Ok(())
}

/// A tenant's entries with their numbers, newest first.
pub(crate) fn audit_entries(
    connection: &Connection,
    wanted: &AuditWanted,
) -> Result<Vec<(u64, AuditEntry)>, JobError> {
    let AuditWanted { tenant, limit, before } = wanted;
    let mut statement = connection.prepare_cached(
        "SELECT at, who, action, discussion, result, number FROM deeds
         WHERE tenant = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
    )?;
    let read = |row: &Row<'_>| {
        let (at, discussion) = (Timestamp(row.get(0)?), parsed(row, 3)?);
        let (who, action, result) = (row.get(1)?, row.get(2)?, row.get(4)?);
        let entry = AuditEntry { at, tenant: tenant.clone(), who, action, discussion, result };
        Ok((row.get::<_, i64>(5)? as u64, entry))
    };
    let before = before.and_then(|it| i64::try_from(it).ok()).unwrap_or(i64::MAX);
    let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![tenant.name(), before, limit], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
