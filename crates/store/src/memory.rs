//! The values that workflows keep: versions by tenant, namespace and key.

use quorum_core::{
    model::{id::Tenant, time::Timestamp},
    seams::{MemoryQuery, NewMemory, Remembered},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{error::JobError, write_context::WriteContext};

/// Adds a version, unless the same use of a tool has added it; returns its number.
pub(crate) fn remember(context: &mut WriteContext, new: &NewMemory) -> Result<u64, JobError> {
    let connection = &context.connection;
    let known: Option<i64> = connection
        .prepare_cached("SELECT version FROM memory WHERE tenant = ?1 AND origin = ?2")?
        .query_row(params![new.tenant.name(), new.origin], |row| row.get(0))
        .optional()?;
    if let Some(version) = known {
        return Ok(version as u64);
    }
    let last: i64 = connection
        .prepare_cached(
            "SELECT coalesce(max(version), 0) FROM memory WHERE tenant = ?1 AND namespace = ?2 AND key = ?3",
        )?
        .query_row(params![new.tenant.name(), new.namespace, new.key], |row| row.get(0))?;
    connection
        .prepare_cached(
            "INSERT INTO memory (tenant, namespace, key, version, value, at, expires, origin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            new.tenant.name(),
            new.namespace,
            new.key,
            last + 1,
            new.value.to_string(),
            new.at.0,
            new.expires.map(|it| it.0),
            new.origin,
        ])?;
    Ok((last + 1) as u64)
}

/// The newest version of each key that fits and has not expired, newest first.
pub(crate) fn remembered(
    connection: &Connection,
    tenant: &Tenant,
    query: &MemoryQuery,
) -> Result<Vec<Remembered>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT namespace, key, version, value, at FROM memory AS one
         WHERE tenant = ?1 AND (?2 IS NULL OR namespace = ?2) AND (?3 IS NULL OR key = ?3)
           AND (expires IS NULL OR expires > ?4)
           AND version = (SELECT max(version) FROM memory AS other
                WHERE other.tenant = one.tenant AND other.namespace = one.namespace AND other.key = one.key)
         ORDER BY number DESC",
    )?;
    let read = |row: &Row<'_>| {
        let value: String = row.get(3)?;
        Ok(Remembered {
            namespace: row.get(0)?,
            key: row.get(1)?,
            version: row.get::<_, i64>(2)? as u64,
            value: serde_json::from_str(&value).unwrap_or(serde_json::Value::String(value)),
            at: Timestamp(row.get(4)?),
        })
    };
    let (namespace, key) = (query.namespace.as_deref(), query.key.as_deref());
    let rows = statement.query_map(params![tenant.name(), namespace, key, query.now.0], read)?;
    let mut found = Vec::new();
    for row in rows {
        let row = row?;
        if query.fits(&row) {
            found.push(row);
        }
        if found.len() == query.limit {
            break;
        }
    }
    Ok(found)
}
