//! Idempotency keys: a request that is sent twice under one key starts one discussion.

use quorum_core::{model::id::DiscussionId, seams::Reservation};
use rusqlite::{Row, params};

use crate::{cache::parsed, error::JobError, write_context::WriteContext};

/// Reserves the id for the key, unless the key has one. Returns the reservation that holds.
pub(crate) fn reserve(context: &mut WriteContext, wanted: &Reservation) -> Result<Reservation, JobError> {
    let Reservation { tenant, key, digest, id } = wanted;
    let mut insert = context.connection.prepare_cached(
        "INSERT OR IGNORE INTO reservations (tenant, key, digest, discussion, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![tenant.name(), key, digest, id.to_string(), context.now().0])?;
    let sql = "SELECT digest, discussion FROM reservations WHERE tenant = ?1 AND key = ?2";
    let mut statement = context.connection.prepare_cached(sql)?;
    let reservation = |row: &Row<'_>| {
        let (digest, id) = (row.get(0)?, parsed::<DiscussionId>(row, 1)?);
        Ok(Reservation { digest, id, ..wanted.clone() })
    };
    Ok(statement.query_row(params![tenant.name(), key], reservation)?)
}
