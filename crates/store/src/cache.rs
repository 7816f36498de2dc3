//! The writer's cache of discussions, so that a write need not read their facts.

use std::sync::Arc;

use quorum_core::{
    model::{
        id::{DiscussionId, NodeId, Seq},
        lifecycle::Lifecycle,
        list_status::ListStatus,
        seed_rows::Seats,
        time::Timestamp,
    },
    seams::Claim,
};
use rusqlite::{
    Connection, OptionalExtension, Row,
    types::{Type, ValueRef},
};

use crate::error::JobError;

/// The current state of a discussion and its claim.
#[derive(Clone)]
pub(crate) struct Cached {
    /// The key of its facts.
    pub(crate) number: i64,
    /// Its own id if a person started it.
    pub(crate) root: DiscussionId,
    pub(crate) run: Run,
    pub(crate) list_status: ListStatus,
    pub(crate) last: Seq,
    pub(crate) fence: u64,
    pub(crate) holder: Option<NodeId>,
    /// A process of an older version that has it, and how long.
    pub(crate) older_holder: Option<(String, Timestamp)>,
    /// How many runs in a row ended without progress.
    pub(crate) attempts: u32,
    /// The last fact when it was claimed, until the claim is given up in good order.
    pub(crate) claimed_at: Option<Seq>,
    /// The seats; read when they are first needed.
    pub(crate) seats: Option<Arc<Seats>>,
}

impl Cached {
    /// Whether this claim is the newest one on it.
    pub(crate) fn is_held_by(&self, claim: &Claim) -> bool {
        self.fence == claim.fence && self.holder == Some(claim.node)
    }
}

/// Whether a discussion can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    Runnable,
    /// Waiting for a command.
    Parked,
    Over,
}

impl Run {
    const ALL: [Run; 3] = [Run::Runnable, Run::Parked, Run::Over];

    /// The stored name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Run::Runnable => "runnable",
            Run::Parked => "parked",
            Run::Over => "over",
        }
    }
}

/// Reads a discussion's row.
pub(crate) fn find(connection: &Connection, id: DiscussionId) -> Result<Option<Cached>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT number, root, run, status, success, ended_at, fence, node, owner, lease_until, attempts,
         claimed_at, (SELECT ifnull(max(seq), 0) FROM facts WHERE discussion = number)
         FROM discussions WHERE id = ?1",
    )?;
    Ok(statement.query_row([id.to_string()], cached).optional()?)
}

fn cached(row: &Row<'_>) -> rusqlite::Result<Cached> {
    let list_status = ListStatus {
        status: lifecycle(row.get_ref(3)?.as_str()?),
        success: row.get(4)?,
        ended_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
    };
    let run = row.get_ref(2)?.as_str()?;
    let run = Run::ALL.into_iter().find(|it| it.name() == run).ok_or(rusqlite::Error::InvalidQuery)?;
    Ok(Cached {
        number: row.get(0)?,
        root: parsed(row, 1)?,
        run,
        list_status,
        last: Seq(row.get::<_, i64>(12)? as u64),
        fence: row.get::<_, i64>(6)? as u64,
        holder: if row.get_ref(7)? == ValueRef::Null { None } else { Some(parsed(row, 7)?) },
        older_holder: older_holder(row)?,
        attempts: row.get(10)?,
        claimed_at: row.get::<_, Option<i64>>(11)?.map(|it| Seq(it as u64)),
        seats: None,
    })
}

fn older_holder(row: &Row<'_>) -> rusqlite::Result<Option<(String, Timestamp)>> {
    let Some(owner) = row.get::<_, Option<String>>(8)? else { return Ok(None) };
    Ok(Some((owner, Timestamp(row.get::<_, Option<i64>>(9)?.unwrap_or_default()))))
}

/// The lifecycle state with this name.
pub(crate) fn lifecycle(name: &str) -> Lifecycle {
    Lifecycle::ALL.into_iter().find(|it| it.name() == name).unwrap_or_default()
}

/// The id in this column.
pub(crate) fn parsed<T: std::str::FromStr<Err = uuid::Error>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    row.get_ref(column)?.as_str()?.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::<uuid::Error>::new(error))
    })
}
