//! The audit log: who did what to which discussion.

use quorum_core::{
    model::{id::Tenant, time::Timestamp},
    seams::AuditEntry,
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

/// The tenant's entries, newest first.
pub(crate) fn audit_entries(
    connection: &Connection,
    tenant: &Tenant,
    limit: usize,
) -> Result<Vec<AuditEntry>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT at, who, action, discussion, result FROM deeds WHERE tenant = ?1 ORDER BY number DESC LIMIT ?2",
    )?;
    let read = |row: &Row<'_>| {
        let (at, discussion) = (Timestamp(row.get(0)?), parsed(row, 3)?);
        let (who, action, result) = (row.get(1)?, row.get(2)?, row.get(4)?);
        Ok(AuditEntry { at, tenant: tenant.clone(), who, action, discussion, result })
    };
    let rows = statement.query_map(params![tenant.name(), i64::try_from(limit).unwrap_or(i64::MAX)], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
