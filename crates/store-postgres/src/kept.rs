//! What is kept beside discussions: sessions, audit entries, idempotency keys, and the values of
//! workflows.

use quorum_core::{
    model::{id::Tenant, time::Timestamp},
    seams::{
        AuditEntry, AuditWanted, MemoryQuery, NewMemory, Remembered, Reservation, Session, SessionsWanted,
        StoreError,
    },
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError};

/// How often something is tried again that another process did at the same time.
const TRIES: u32 = 8;

/// Creates a session, unless it exists.
pub(crate) async fn create_session(connection: &mut Connection, session: &Session) -> Result<(), JobError> {
    let Session { id, name, created_at, tenant } = session;
    let sql =
        "INSERT INTO sessions (id, name, created_at, tenant) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[id, &text(name), &created_at.0, &text(tenant.name())]).await?;
    Ok(())
}

/// Sessions of a tenant, newest first.
pub(crate) async fn sessions(
    connection: &mut Connection,
    wanted: &SessionsWanted,
) -> Result<Vec<Session>, JobError> {
    let SessionsWanted { tenant, limit, after, called } = wanted;
    let sql = "SELECT id, name, created_at FROM sessions
               WHERE tenant = $1 AND ($2::bigint IS NULL OR (created_at, id) < ($2, $3::uuid))
               AND ($4::text IS NULL OR $4 IN (name, id::text)) ORDER BY created_at DESC, id DESC LIMIT $5";
    let session = |row: &Row| Session {
        id: row.get(0),
        name: row.get(1),
        created_at: Timestamp(row.get(2)),
        tenant: tenant.clone(),
    };
    let (at, id) = (after.map(|it| it.0.0), after.map(|it| it.1));
    let called = called.as_deref().map(text);
    let limit = if *limit == 0 { i64::MAX } else { i64::try_from(*limit).unwrap_or(i64::MAX) };
    let rows = connection.query(sql, &[&text(tenant.name()), &at, &id, &called, &limit]).await?;
    Ok(rows.iter().map(session).collect())
}

/// Adds an audit entry.
pub(crate) async fn log(connection: &mut Connection, entry: &AuditEntry) -> Result<(), JobError> {
    let AuditEntry { at, tenant, who, action, discussion, result } = entry;
    let sql =
        "INSERT INTO audit (at, tenant, who, action, discussion, result) VALUES ($1, $2, $3, $4, $5, $6)";
    let (tenant, discussion) = (text(tenant.name()), Uuid::from(*discussion));
    connection.execute(sql, &[&at.0, &tenant, &text(who), &text(action), &discussion, &text(result)]).await?;
    Ok(())
}

/// A tenant's audit entries with their numbers, newest first.
pub(crate) async fn audit_entries(
    connection: &mut Connection,
    wanted: &AuditWanted,
) -> Result<Vec<(u64, AuditEntry)>, JobError> {
    let AuditWanted { tenant, limit, before } = wanted;
    let sql = "SELECT at, who, action, discussion, result, number FROM audit
               WHERE tenant = $1 AND number < $2 ORDER BY number DESC LIMIT $3";
    let entry = |row: &Row| {
        let entry = AuditEntry {
            at: Timestamp(row.get(0)),
            tenant: tenant.clone(),
            who: row.get(1),
            action: row.get(2),
            discussion: row.get::<_, Uuid>(3).into(),
            result: row.get(4),
        };
        (row.get::<_, i64>(5) as u64, entry)
    };
    let before = before.and_then(|it| i64::try_from(it).ok()).unwrap_or(i64::MAX);
    let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
    Ok(connection.query(sql, &[&text(tenant.name()), &before, &limit]).await?.iter().map(entry).collect())
}

/// Reserves the id for the key, unless the key has one. Returns the reservation that holds.
pub(crate) async fn reserve(
    connection: &mut Connection,
    wanted: &Reservation,
) -> Result<Reservation, JobError> {
    let Reservation { tenant, key, digest, id } = wanted;
    let (tenant, key) = (text(tenant.name()), text(key));
    let sql =
        "INSERT INTO reservations (tenant, key, digest, discussion, at) VALUES ($1, $2, $3, $4, now_us())
               ON CONFLICT DO NOTHING";
    for _ in 0..TRIES {
        if 0 < connection.execute(sql, &[&tenant, &key, &text(digest), &Uuid::from(*id)]).await? {
            return Ok(wanted.clone());
        }
        let found = "SELECT digest, discussion FROM reservations WHERE tenant = $1 AND key = $2";
        // It may have been removed just now.
        if let Some(row) = connection.query_opt(found, &[&tenant, &key]).await? {
            return Ok(Reservation {
                digest: row.get(0),
                id: row.get::<_, Uuid>(1).into(),
                ..wanted.clone()
            });
        }
    }
    Err(busy())
}

/// Adds a version of a value, unless the same use of a tool has added it; returns its number.
pub(crate) async fn remember(connection: &mut Connection, new: &NewMemory) -> Result<u64, JobError> {
    let (tenant, namespace, key, origin) =
        (text(new.tenant.name()), text(&new.namespace), text(&new.key), text(&new.origin));
    let sql = "INSERT INTO memory (tenant, namespace, key, version, value, at, expires, origin)
               SELECT $1, $2, $3, coalesce((SELECT max(version) FROM memory
                   WHERE tenant = $1 AND namespace = $2 AND key = $3), 0) + 1, $4, $5, $6, $7
               ON CONFLICT DO NOTHING RETURNING version";
    let (value, expires) = (new.value.to_string(), new.expires.map(|it| it.0));
    for _ in 0..TRIES {
        let known = "SELECT version FROM memory WHERE tenant = $1 AND origin = $2";
        let row = match connection.query_opt(known, &[&tenant, &origin]).await? {
            Some(row) => Some(row),
            None => {
                let all: crate::connection::Parameters<'_> =
                    &[&tenant, &namespace, &key, &value, &new.at.0, &expires, &origin];
                connection.query_opt(sql, all).await?
            }
        };
        // Another process may have taken the version.
        if let Some(row) = row {
            return Ok(row.get::<_, i64>(0) as u64);
        }
    }
    Err(busy())
}

/// The newest version of each key that fits and has not expired, newest first.
pub(crate) async fn remembered(
    connection: &mut Connection,
    tenant: &Tenant,
    query: &MemoryQuery,
) -> Result<Vec<Remembered>, JobError> {
    let sql = "SELECT namespace, key, version, value, at FROM memory AS one
               WHERE tenant = $1 AND ($2::text IS NULL OR namespace = $2) AND ($3::text IS NULL OR key = $3)
                 AND (expires IS NULL OR expires > $4)
                 AND version = (SELECT max(version) FROM memory AS other
                     WHERE other.tenant = one.tenant AND other.namespace = one.namespace AND other.key = one.key)
               ORDER BY number DESC";
    let (namespace, key) = (query.namespace.as_deref().map(text), query.key.as_deref().map(text));
    let rows = connection.query(sql, &[&text(tenant.name()), &namespace, &key, &query.now.0]).await?;
    let value = |value: &str| serde_json::from_str(value).unwrap_or_else(|_| value.into());
    let found = rows.iter().map(|row| Remembered {
        namespace: row.get(0),
        key: row.get(1),
        version: row.get::<_, i64>(2) as u64,
        value: value(row.get(3)),
        at: Timestamp(row.get(4)),
    });
    Ok(found.filter(|it| query.fits(it)).take(query.limit).collect())
}

fn busy() -> JobError {
    StoreError::Unavailable("other processes changed the same row again and again; try again".to_owned())
        .into()
}
