//! Listing past discussions, and the queue in figures.

use std::sync::LazyLock;

use quorum_core::{
    model::{
        event::Event,
        id::{DiscussionId, Tenant},
        lifecycle::Lifecycle,
        time::Timestamp,
    },
    seams::{Backlog, RunStatus, StoreError, Summary, Wanted},
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError};

/// The columns of a [`Summary`].
pub(crate) const SUMMARY: &str = "id, topic, pattern, status, opened_at, ended_at, success, synthesis, \
                                  simulated, session, run, node IS NOT NULL, stuck, digest, \
                                  title";

/// Whether to list visible discussions or those that retention has hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    Hidden,
}

/// Discussions that people started, newest first.
pub(crate) async fn list(
    connection: &mut Connection,
    wanted: &Wanted,
    visibility: Visibility,
) -> Result<Vec<Summary>, JobError> {
    let hidden = match visibility {
        Visibility::Shown => "IS NULL",
        Visibility::Hidden => "IS NOT NULL",
    };
    // A condition that is left out lets the planner use an index for the others.
    let tenant = if wanted.tenant.is_some() { "tenant = $3::text" } else { "$3::text IS NULL" };
    let session = if wanted.session.is_some() { "session = $1::uuid" } else { "$1::uuid IS NULL" };
    let after = match wanted.after {
        Some(_) => "(opened_at, id) < ($5::bigint, $6::uuid)",
        None => "$5::bigint IS NULL AND $6::uuid IS NULL",
    };
    let run = if wanted.unfinished { "run <> 'over' AND status <> 'error'" } else { "TRUE" };
    let sql = format!(
        "SELECT {SUMMARY} FROM discussions WHERE root = id AND hidden_at {hidden} AND {tenant} AND {session}
         AND {run} AND ($2::text IS NULL OR left(id::text, length($2)) = $2) AND {after}
         ORDER BY opened_at DESC, id DESC LIMIT $4"
    );
    let tenant = wanted.tenant.as_ref().map(|it| text(it.name()));
    let prefix = wanted.prefix.as_deref().map(text);
    let (opened_at, id) = wanted.after.map(|it| (it.opened_at.0, Uuid::from(it.id))).unzip();
    let rows =
        connection.query(&sql, &[&wanted.session, &prefix, &tenant, &limit(wanted), &opened_at, &id]).await?;
    Ok(rows.iter().map(summary).collect())
}

/// The SQL limit; `NULL` means no limit.
fn limit(wanted: &Wanted) -> Option<i64> {
    Some(wanted.limit).filter(|it| *it != 0).map(|it| i64::try_from(it).unwrap_or(i64::MAX))
}

/// A summary from its columns.
pub(crate) fn summary(row: &Row) -> Summary {
    let status: &str = row.get(3);
    Summary {
        id: row.get::<_, Uuid>(0).into(),
        topic: row.get(1),
        title: row.get(14),
        pattern: row.get(2),
        status: Lifecycle::ALL.into_iter().find(|it| it.name() == status).unwrap_or_default(),
        opened_at: Timestamp(row.get(4)),
        ended_at: row.get::<_, Option<i64>>(5).map(Timestamp),
        success: row.get(6),
        synthesis: row.get(7),
        simulated: row.get(8),
        session: row.get(9),
        run: run_status(row),
        digest: row.get::<_, Option<&str>>(13).and_then(|it| serde_json::from_str(it).ok()),
    }
}

fn run_status(row: &Row) -> RunStatus {
    match row.get::<_, &str>(10) {
        "over" => RunStatus::Over,
        _ if row.get(11) => RunStatus::Running,
        _ if row.get(12) => RunStatus::Stuck,
        "parked" => RunStatus::Waiting,
        _ => RunStatus::Queued,
    }
}

/// Discussions by their numbers, in this order.
pub(crate) async fn by_numbers(
    connection: &mut Connection,
    numbers: &[i64],
) -> Result<Vec<Summary>, JobError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {SUMMARY} FROM unnest($1::bigint[]) WITH ORDINALITY AS it (wanted, place)
             JOIN discussions ON number = wanted ORDER BY place"
        )
    });
    Ok(connection.query(&SQL, &[&numbers]).await?.iter().map(summary).collect())
}

/// Discussions of the same tenant that hold a copy of this one's answer, newest first.
pub(crate) async fn copies(connection: &mut Connection, of: DiscussionId) -> Result<Vec<Summary>, JobError> {
    let sql = "SELECT tenant FROM discussions WHERE id = $1";
    let row = connection.query_opt(sql, &[&Uuid::from(of)]).await?.ok_or(StoreError::Unknown(of))?;
    // Only opening facts that have the id somewhere are parsed.
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {SUMMARY}, body FROM discussions JOIN facts ON discussion = number AND seq = 1
             WHERE root = id AND tenant = $1 AND position($2 IN body) > 0 ORDER BY opened_at DESC, id DESC"
        )
    });
    let rows = connection.query(&SQL, &[&row.get::<_, &str>(0), &of.to_string()]).await?;
    let has_copy = |row: &&Row| match serde_json::from_str(row.get(15)) {
        Ok(Event::Opened { spec, .. }) => spec.shown().iter().any(|it| it.id == of),
        _ => false,
    };
    Ok(rows.iter().filter(has_copy).map(summary).collect())
}

/// Gives a discussion another name in lists.
pub(crate) async fn rename(
    connection: &mut Connection,
    id: DiscussionId,
    title: Option<&str>,
) -> Result<(), JobError> {
    let sql = "UPDATE discussions SET title = $2 WHERE id = $1 AND root = id";
    match connection.execute(sql, &[&Uuid::from(id), &title.map(text)]).await? {
        0 => Err(StoreError::Unknown(id).into()),
        _ => Ok(()),
    }
}

/// The queue of a tenant, or of all.
pub(crate) async fn backlog(
    connection: &mut Connection,
    tenant: Option<&Tenant>,
) -> Result<Backlog, JobError> {
    let sql = "SELECT
                   count(*) FILTER (WHERE node IS NULL AND NOT stuck AND run = 'runnable'),
                   (now_us() - min(ready_at) FILTER (WHERE node IS NULL AND NOT stuck AND run = 'runnable')) / 1000,
                   count(*) FILTER (WHERE node IS NOT NULL),
                   count(*) FILTER (WHERE node IS NULL AND stuck)
               FROM discussions WHERE root = id AND run <> 'over' AND ($1::text IS NULL OR tenant = $1)";
    let row = connection.query(sql, &[&tenant.map(|it| text(it.name()))]).await?.remove(0);
    let count = |column| row.get::<_, i64>(column) as u64;
    let oldest_ms = row.get::<_, Option<i64>>(1).unwrap_or_default().max(0) as u64;
    Ok(Backlog { queued: count(0), oldest_ms, running: count(2), stuck: count(3) })
}
