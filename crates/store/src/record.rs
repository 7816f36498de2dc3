//! The record: discussions begin, facts are added and read.

use quorum_core::{
    model::{
        event::{Event, Fact, Lineage},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        spec::Spec,
        time::Timestamp,
    },
    seams::{Append, Created, StoreError, Then},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::{
    desk::Desk,
    error::{Trouble, unreadable},
    projection::{self, Seats, Standing},
    search, tables,
};

/// The facts as they are kept. Made by the caller's thread, since there is only one that writes.
pub(crate) fn bodies(facts: &[Fact]) -> Result<Vec<String>, StoreError> {
    let fault = |error| StoreError::Unusable(format!("a fact can't be written as JSON: {error}"));
    facts.iter().map(|fact| serde_json::to_string(&fact.event).map_err(fault)).collect()
}

/// Puts a new discussion there with its first facts.
pub(crate) fn create(
    desk: &mut Desk,
    id: DiscussionId,
    facts: &[Fact],
    bodies: &[String],
) -> Result<Created, Trouble> {
    if exists(&desk.connection, id)? {
        return Ok(Created::Existed);
    }
    check_numbers(id, Seq::START, facts)?;
    let Some(Fact { at, event: opened @ Event::Opened { spec, lineage, .. }, .. }) = facts.first() else {
        let message = format!("discussion {id} doesn't begin with what was ordered");
        return Err(StoreError::Unusable(message).into());
    };
    check_belongings(desk, spec, lineage.as_ref())?;
    let root = lineage.as_ref().map_or(id, |it| it.root);
    let new = New { id, root, spec, opened_at: *at, standing: Standing::OPENED.after(facts) };
    new.insert(&desk.connection)?;
    insert_facts(&desk.connection, id, facts, bodies)?;
    tables::open(&desk.connection, id, facts, &Seats::of(opened))?;
    if lineage.is_none() {
        search::index(&desk.connection, id)?;
    }
    Ok(Created::New)
}

fn exists(connection: &Connection, id: DiscussionId) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM discussions WHERE id = ?1")?.exists([id.to_string()])
}

fn check_belongings(desk: &Desk, spec: &Spec, lineage: Option<&Lineage>) -> Result<(), Trouble> {
    if let Some(root) = lineage.map(|it| it.root) {
        let sql = "SELECT 1 FROM discussions WHERE id = ?1 AND root = id";
        if !desk.connection.prepare_cached(sql)?.exists([root.to_string()])? {
            return Err(StoreError::Unknown(root).into());
        }
    }
    if let Some(session) = spec.session {
        let sql = "SELECT 1 FROM sessions WHERE id = ?1";
        if !desk.connection.prepare_cached(sql)?.exists([session.to_string()])? {
            return Err(StoreError::UnknownSession(session).into());
        }
    }
    Ok(())
}

/// A discussion that was just ordered.
struct New<'a> {
    id: DiscussionId,
    root: DiscussionId,
    spec: &'a Spec,
    opened_at: Timestamp,
    standing: Standing,
}

impl New<'_> {
    fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO discussions (id, root, session, pattern, topic, key, simulated, opened_at, status, run)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'runnable')",
        )?;
        let New { id, root, spec, opened_at, standing } = self;
        let (id, root, session) = (id.to_string(), root.to_string(), spec.session.map(|it| it.to_string()));
        let (key, is_simulated) = (key(&spec.topic), spec.simulation.is_some());
        let (Spec { pattern, topic, .. }, status) = (spec, standing.status.name());
        let row = params![id, root, session, pattern, topic, key, is_simulated, opened_at.0, status];
        statement.execute(row).map(drop)
    }
}

/// INV-DISC-630: discussions of the same topic share their key.
fn key(topic: &str) -> String {
    format!("discussion:{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, topic.trim().as_bytes()).simple())
}

fn insert_facts(
    connection: &Connection,
    id: DiscussionId,
    facts: &[Fact],
    bodies: &[String],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO facts (discussion, seq, at, active_ms, step, type, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let id = id.to_string();
    for (fact, body) in facts.iter().zip(bodies) {
        let step = fact.step.as_ref().map(Step::as_str);
        let (seq, active_ms) = (fact.seq.0 as i64, fact.active_ms as i64);
        statement.execute(params![id, seq, fact.at.0, active_ms, step, kind(body), body])?;
    }
    Ok(())
}

/// The name of what happened: the first thing in its JSON, where serde puts the tag.
fn kind(body: &str) -> &str {
    body.trim_start_matches("{\"type\":\"").split('"').next().unwrap_or_default()
}

/// Adds facts, what follows from them, and what becomes of the claim.
pub(crate) fn append(desk: &mut Desk, append: &Append, bodies: &[String]) -> Result<Seq, Trouble> {
    let Append { claim, id, expected, facts, .. } = append;
    let before = find(&desk.connection, *id)?.ok_or(StoreError::Unknown(*id))?;
    let is_newest = before.owner.as_ref() == Some(&claim.owner) && before.fence == claim.fence as i64;
    if before.root != claim.id.to_string() || !is_newest || before.last != expected.0 as i64 {
        return Err(StoreError::Fenced(*id).into());
    }
    if before.run == "over" {
        return Err(StoreError::Over(*id).into());
    }
    check_numbers(*id, *expected, facts)?;
    let seats = if projection::needs_seats(facts) { Some(desk.seats(*id)?) } else { None };
    insert_facts(&desk.connection, *id, facts, bodies)?;
    tables::follow(&desk.connection, *id, facts, seats.as_deref().unwrap_or(&Seats(Vec::new())))?;
    move_on(desk, append, &before)?;
    Ok(facts.last().map_or(*expected, |fact| fact.seq))
}

/// A discussion before something is added to it, with the claim of its root.
struct Before {
    root: String,
    run: String,
    standing: Standing,
    last: i64,
    owner: Option<String>,
    fence: i64,
}

fn find(connection: &Connection, id: DiscussionId) -> Result<Option<Before>, Trouble> {
    let mut statement = connection.prepare_cached(
        "SELECT own.root, own.run, own.status, own.success, own.ended_at, top.owner, top.fence,
         (SELECT ifnull(max(seq), 0) FROM facts WHERE discussion = own.id)
         FROM discussions own JOIN discussions top ON top.id = own.root WHERE own.id = ?1",
    )?;
    let read = |row: &Row<'_>| {
        let status: String = row.get(2)?;
        let standing = Standing {
            status: lifecycle(&status),
            success: row.get(3)?,
            ended_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
        };
        Ok(Before {
            root: row.get(0)?,
            run: row.get(1)?,
            standing,
            owner: row.get(5)?,
            fence: row.get(6)?,
            last: row.get(7)?,
        })
    };
    Ok(statement.query_row([id.to_string()], read).optional()?)
}

/// The lifecycle of that name.
pub(crate) fn lifecycle(name: &str) -> Lifecycle {
    Lifecycle::ALL.into_iter().find(|it| it.name() == name).unwrap_or_default()
}

/// What becomes of the discussion and its claim. Most facts change neither, and then nothing is written here.
fn move_on(desk: &mut Desk, append: &Append, before: &Before) -> Result<(), Trouble> {
    let Append { id, facts, then, .. } = append;
    let standing = before.standing.after(facts);
    let run = match then {
        Then::Done => "over",
        _ if standing.is_over() => "over",
        Then::Park { seen } if !has_newer_command(&desk.connection, *id, seen.0)? => "parked",
        Then::Continue | Then::Park { .. } => "runnable",
    };
    let synthesis = projection::synthesis(facts);
    if standing != before.standing || run != before.run || synthesis.is_some() {
        let mut statement = desk.connection.prepare_cached(
            "UPDATE discussions SET status = ?2, success = ?3, ended_at = ?4, synthesis = ifnull(?5, synthesis),
             run = ?6 WHERE id = ?1",
        )?;
        let (status, ended_at) = (standing.status.name(), standing.ended_at.map(|at| at.0));
        statement.execute(params![id.to_string(), status, standing.success, ended_at, synthesis, run])?;
    }
    let is_root = before.root == id.to_string();
    if run != "runnable" && is_root {
        search::index(&desk.connection, *id)?;
    }
    if run == "over" {
        desk.clear_seats(*id);
    }
    if *then != Then::Continue && is_root {
        let sql = "UPDATE discussions SET owner = NULL, runner = NULL, lease_until = NULL WHERE id = ?1";
        desk.connection.prepare_cached(sql)?.execute([id.to_string()])?;
    }
    Ok(())
}

fn has_newer_command(connection: &Connection, id: DiscussionId, seen: u64) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM commands WHERE discussion = ?1 AND id > ?2";
    connection.prepare_cached(sql)?.exists(params![id.to_string(), seen as i64])
}

fn check_numbers(id: DiscussionId, expected: Seq, facts: &[Fact]) -> Result<(), StoreError> {
    let are_in_order = facts.iter().zip(expected.0 + 1..).all(|(fact, number)| fact.seq.0 == number);
    let message = || format!("the facts for discussion {id} are not numbered from {} on", expected.next());
    are_in_order.then_some(()).ok_or_else(|| StoreError::Unusable(message()))
}

/// The facts after this number.
pub(crate) fn read(
    connection: &Connection,
    id: DiscussionId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Fact>, Trouble> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, active_ms, step, body FROM facts WHERE discussion = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let (after, limit) =
        (i64::try_from(after.0).unwrap_or(i64::MAX), i64::try_from(limit).unwrap_or(i64::MAX));
    let mut rows = statement.query(params![id.to_string(), after, limit])?;
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        facts.push(fact(id, row)?);
    }
    if facts.is_empty() && !exists(connection, id)? {
        return Err(StoreError::Unknown(id).into());
    }
    Ok(facts)
}

fn fact(id: DiscussionId, row: &Row<'_>) -> Result<Fact, Trouble> {
    let seq = Seq(row.get::<_, i64>(0)? as u64);
    let step: Option<String> = row.get(3)?;
    let body: String = row.get(4)?;
    let event = serde_json::from_str(&body).map_err(|error| unreadable(id, &format!("fact {seq}"), error))?;
    let (at, active_ms) = (Timestamp(row.get(1)?), row.get::<_, i64>(2)? as u64);
    Ok(Fact { seq, at, active_ms, step: step.as_deref().map(Step::from), event })
}
