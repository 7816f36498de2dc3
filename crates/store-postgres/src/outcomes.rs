//! Outcomes: recorded right answers, beside the record.

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{KnownOutcome, OutcomesWanted, StoreError},
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError};

const COLUMNS: &str = "discussion, tenant, simulated, answer, said_by, at, scored";

/// Adds an outcome of a discussion that exists.
pub(crate) async fn resolve(connection: &mut Connection, outcome: &KnownOutcome) -> Result<(), JobError> {
    let KnownOutcome { discussion, tenant, simulated, answer, by, at, scored } = outcome;
    let scored = serde_json::to_string(scored)
        .map_err(|error| StoreError::Unusable(format!("an outcome could not be written: {error}")))?;
    let sql = format!(
        "INSERT INTO outcomes ({COLUMNS}) SELECT $1, $2, $3, $4, $5, $6, $7
         WHERE EXISTS (SELECT FROM discussions WHERE id = $1)"
    );
    let (tenant, answer, by) = (text(tenant.name()), text(answer), text(by));
    let written: crate::connection::Parameters<'_> =
        &[&Uuid::from(*discussion), &tenant, simulated, &answer, &by, &at.0, &text(&scored)];
    match connection.execute(&sql, written).await? {
        0 => Err(StoreError::Unknown(*discussion).into()),
        _ => Ok(()),
    }
}

/// The newest outcome of each discussion, newest first.
pub(crate) async fn outcomes(
    connection: &mut Connection,
    wanted: &OutcomesWanted,
) -> Result<Vec<KnownOutcome>, JobError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outcomes AS one WHERE tenant = $1 AND simulated = $2
         AND NOT EXISTS (SELECT FROM outcomes AS later
             WHERE later.discussion = one.discussion AND later.number > one.number)
         ORDER BY number DESC LIMIT $3"
    );
    let limit = i64::try_from(wanted.limit).unwrap_or(i64::MAX);
    let rows = connection.query(&sql, &[&text(wanted.tenant.name()), &wanted.simulated, &limit]).await?;
    Ok(rows.iter().map(outcome).collect())
}

/// All outcomes of a discussion, oldest first.
pub(crate) async fn outcomes_of(
    connection: &mut Connection,
    id: DiscussionId,
) -> Result<Vec<KnownOutcome>, JobError> {
    let sql = format!("SELECT {COLUMNS} FROM outcomes WHERE discussion = $1 ORDER BY number");
    Ok(connection.query(&sql, &[&Uuid::from(id)]).await?.iter().map(outcome).collect())
}

fn outcome(row: &Row) -> KnownOutcome {
    KnownOutcome {
        discussion: row.get::<_, Uuid>(0).into(),
        tenant: Tenant::named(row.get(1)),
        simulated: row.get(2),
        answer: row.get(3),
        by: row.get(4),
        at: Timestamp(row.get(5)),
        // What a later version wrote and this one can't read is no ground for learning.
        scored: serde_json::from_str(row.get(6)).unwrap_or_default(),
    }
}
