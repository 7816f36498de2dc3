//! Listing past discussions, and sessions.

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{Backlog, RunStatus, Session, SessionsWanted, StoreError, Summary, Wanted},
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use crate::{
    cache::{lifecycle, parsed},
    error::JobError,
    write_context::WriteContext,
};

pub(crate) const SUMMARY: &str = "id, topic, pattern, status, opened_at, ended_at, success, \
                                  synthesis, simulated, session, run, node IS NOT NULL, stuck, digest, \
                                  title";

/// Whether to list visible discussions or those that retention has hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    Hidden,
}

/// Discussions that people started, newest first.
pub(crate) fn list(
    connection: &Connection,
    wanted: &Wanted,
    visibility: Visibility,
) -> Result<Vec<Summary>, JobError> {
    let hidden = match visibility {
        Visibility::Shown => "IS NULL",
        Visibility::Hidden => "IS NOT NULL",
    };
    let run = if wanted.unfinished { "run <> 'over' AND status <> 'error'" } else { "TRUE" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM discussions
         WHERE root = id AND hidden_at {hidden} AND {run} AND (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR substr(id, 1, length(?2)) = ?2)
         AND (?4 IS NULL OR tenant = ?4) AND (?5 IS NULL OR (opened_at, id) < (?5, ?6)) ORDER BY opened_at DESC, id DESC LIMIT ?3"
    ))?;
    let session = wanted.session.map(|it| it.to_string());
    let (limit, tenant) = (limit(wanted), wanted.tenant.as_ref().map(Tenant::name));
    let (opened_at, id) = wanted.after.map(|it| (it.opened_at.0, it.id.to_string())).unzip();
    let rows = statement.query_map(params![session, wanted.prefix, limit, tenant, opened_at, id], summary)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The SQL limit; a negative one means no limit to SQLite.
pub(crate) fn limit(wanted: &Wanted) -> i64 {
    if wanted.limit == 0 { -1 } else { i64::try_from(wanted.limit).unwrap_or(-1) }
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let session: Option<String> = row.get(9)?;
    Ok(Summary {
        id: parsed::<DiscussionId>(row, 0)?,
        topic: row.get(1)?,
        title: row.get(14)?,
        pattern: row.get(2)?,
        status: lifecycle(&row.get::<_, String>(3)?),
        opened_at: Timestamp(row.get(4)?),
        ended_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
        success: row.get(6)?,
        synthesis: row.get(7)?,
        simulated: row.get(8)?,
        session: session.and_then(|it| it.parse().ok()),
        run: run_status(row)?,
        digest: row.get::<_, Option<String>>(13)?.and_then(|it| serde_json::from_str(&it).ok()),
    })
}

fn run_status(row: &Row<'_>) -> rusqlite::Result<RunStatus> {
    Ok(match row.get_ref(10)?.as_str()? {
        "over" => RunStatus::Over,
        _ if row.get(11)? => RunStatus::Running,
        _ if row.get(12)? => RunStatus::Stuck,
        "parked" => RunStatus::Waiting,
        _ => RunStatus::Queued,
    })
}

/// The queue of a tenant, or of all.
pub(crate) fn backlog(
    connection: &Connection,
    tenant: Option<&Tenant>,
    now: Timestamp,
) -> Result<Backlog, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT sum(node IS NULL AND stuck = 0 AND run = 'runnable'),
         min(CASE WHEN node IS NULL AND stuck = 0 AND run = 'runnable' THEN ready_at END),
         sum(node IS NOT NULL), sum(node IS NULL AND stuck = 1) FROM discussions
         WHERE root = id AND run <> 'over' AND (?1 IS NULL OR tenant = ?1)",
    )?;
    let backlog = |row: &Row<'_>| {
        let count = |column| row.get::<_, Option<i64>>(column).map(|it| it.unwrap_or_default() as u64);
        let oldest = row.get::<_, Option<i64>>(1)?.map_or(0, |at| (now.0 - at).max(0) as u64 / 1_000);
        Ok(Backlog { queued: count(0)?, oldest_ms: oldest, running: count(2)?, stuck: count(3)? })
    };
    Ok(statement.query_row([tenant.map(Tenant::name)], backlog)?)
}

/// Gives a discussion another name in lists.
pub(crate) fn rename(
    context: &mut WriteContext,
    id: DiscussionId,
    title: Option<&str>,
) -> Result<(), JobError> {
    let number = context.root(id)?.number;
    let sql = "UPDATE discussions SET title = ?2 WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute(params![number, title])?;
    Ok(())
}

/// Creates a session, unless it exists.
pub(crate) fn create_session(context: &mut WriteContext, session: &Session) -> Result<(), JobError> {
    let sql = "INSERT OR IGNORE INTO sessions (id, name, created_at, tenant) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = context.connection.prepare_cached(sql)?;
    let Session { id, name, created_at, tenant } = session;
    statement.execute(params![id.to_string(), name, created_at.0, tenant.name()])?;
    Ok(())
}

/// Gives a session another name.
pub(crate) fn rename_session(
    context: &mut WriteContext,
    tenant: &Tenant,
    id: Uuid,
    name: &str,
) -> Result<(), JobError> {
    let sql = "UPDATE sessions SET name = ?3 WHERE id = ?1 AND tenant = ?2";
    let mut statement = context.connection.prepare_cached(sql)?;
    match statement.execute(params![id.to_string(), tenant.name(), name])? {
        0 => Err(StoreError::UnknownSession(id).into()),
        _ => Ok(()),
    }
}

/// Removes a session that no discussion belongs to.
pub(crate) fn remove_session(context: &mut WriteContext, tenant: &Tenant, id: Uuid) -> Result<(), JobError> {
    let sql = "SELECT count(DISTINCT root) FROM discussions WHERE session = ?1 AND tenant = ?2";
    let (which, tenant) = (id.to_string(), tenant.name());
    let mut statement = context.connection.prepare_cached(sql)?;
    let count: i64 = statement.query_row(params![which, tenant], |row| row.get(0))?;
    if 0 < count {
        return Err(StoreError::SessionInUse { id, discussions: count as u64 }.into());
    }
    let sql = "DELETE FROM sessions WHERE id = ?1 AND tenant = ?2";
    match context.connection.prepare_cached(sql)?.execute(params![which, tenant])? {
        0 => Err(StoreError::UnknownSession(id).into()),
        _ => Ok(()),
    }
}

/// Sessions of a tenant, newest first.
pub(crate) fn sessions(connection: &Connection, wanted: &SessionsWanted) -> Result<Vec<Session>, JobError> {
    let SessionsWanted { tenant, limit, after, called } = wanted;
    let sql = "SELECT id, name, created_at, tenant FROM sessions WHERE tenant = ?1
               AND (?2 IS NULL OR (created_at, id) < (?2, ?3)) AND (?4 IS NULL OR ?4 IN (name, id))
               ORDER BY created_at DESC, id DESC LIMIT ?5";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let id = parsed::<Uuid>(row, 0)?;
        let (created_at, tenant) = (Timestamp(row.get(2)?), Tenant::named(row.get_ref(3)?.as_str()?));
        Ok(Session { id, name: row.get(1)?, created_at, tenant })
    };
    let (at, id) = (after.map(|it| it.0.0), after.map(|it| it.1.to_string()));
    let limit = if *limit == 0 { i64::MAX } else { i64::try_from(*limit).unwrap_or(i64::MAX) };
    let rows = statement.query_map(params![tenant.name(), at, id, called, limit], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
