//! Orders that may come twice, and who did what.

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{Deed, Reservation},
};
use rusqlite::{Connection, Row, params};

use crate::{desk::Desk, error::Trouble, known::parsed};

/// Keeps the id unless the key has one, and says what stands.
pub(crate) fn reserve(desk: &mut Desk, wanted: &Reservation) -> Result<Reservation, Trouble> {
    let Reservation { tenant, key, digest, id } = wanted;
    let mut insert = desk.connection.prepare_cached(
        "INSERT OR IGNORE INTO reservations (tenant, key, digest, discussion, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![tenant.name(), key, digest, id.to_string(), desk.now().0])?;
    let sql = "SELECT digest, discussion FROM reservations WHERE tenant = ?1 AND key = ?2";
    let mut statement = desk.connection.prepare_cached(sql)?;
    let standing = |row: &Row<'_>| {
        let (digest, id) = (row.get(0)?, parsed::<DiscussionId>(row, 1)?);
        Ok(Reservation { digest, id, ..wanted.clone() })
    };
    Ok(statement.query_row(params![tenant.name(), key], standing)?)
}

/// Writes down that somebody did something.
pub(crate) fn log(desk: &mut Desk, deed: &Deed) -> Result<(), Trouble> {
    let Deed { at, tenant, who, action, discussion, result } = deed;
    let mut statement = desk.connection.prepare_cached(
        "INSERT INTO deeds (at, tenant, who, action, discussion, result) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    statement.execute(params![at.0, tenant.name(), who, action, discussion.to_string(), result])?;
    Ok(())
}

/// What this tenant's people did, newest first.
pub(crate) fn deeds(connection: &Connection, tenant: &Tenant, limit: usize) -> Result<Vec<Deed>, Trouble> {
    let mut statement = connection.prepare_cached(
        "SELECT at, who, action, discussion, result FROM deeds WHERE tenant = ?1 ORDER BY number DESC LIMIT ?2",
    )?;
    let read = |row: &Row<'_>| {
        let (at, discussion) = (Timestamp(row.get(0)?), parsed(row, 3)?);
        let (who, action, result) = (row.get(1)?, row.get(2)?, row.get(4)?);
        Ok(Deed { at, tenant: tenant.clone(), who, action, discussion, result })
    };
    let rows = statement.query_map(params![tenant.name(), i64::try_from(limit).unwrap_or(i64::MAX)], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
