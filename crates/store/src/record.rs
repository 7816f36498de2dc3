//! The record: discussions begin, facts are added and read.

use std::sync::Arc;

use quorum_core::{
    model::{
        event::{Event, Fact, Lineage},
        id::{DiscussionId, Seq, Step},
        spec::Spec,
        time::Timestamp,
    },
    seams::{Append, Created, StoreError, Then},
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use crate::{
    cache::{Cached, Holder, Run},
    claims::Claimant,
    error::{Trouble, unreadable},
    seeds::{self, Seats},
    standing::{self, Standing},
    write_context::WriteContext,
};

/// Facts as they are kept, one behind the other. Made by the caller's thread, since there is only one that writes.
pub(crate) struct Bodies {
    all: String,
    ends: Vec<usize>,
}

/// What a fact takes beside the words of a turn.
const USUAL_BODY: usize = 512;

impl Bodies {
    pub(crate) fn of(facts: &[Fact]) -> Result<Self, StoreError> {
        let fault = |error| StoreError::Unusable(format!("a fact can't be written as JSON: {error}"));
        // With room for everything from the beginning: growing took as long as writing.
        let (mut all, mut ends) = (Vec::with_capacity(room(facts)), Vec::with_capacity(facts.len()));
        for fact in facts {
            serde_json::to_writer(&mut all, &fact.event).map_err(fault)?;
            ends.push(all.len());
        }
        let not_text = |error| StoreError::Unusable(format!("a fact's JSON is no text: {error}"));
        Ok(Bodies { all: String::from_utf8(all).map_err(not_text)?, ends })
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.all.get(start..*end).unwrap_or_default())
    }
}

/// About what these facts come to; more is made where it is not enough.
fn room(facts: &[Fact]) -> usize {
    let words = |fact: &Fact| match &fact.event {
        Event::TurnCompleted { turn } => turn.text.len() + turn.text.len() / 16,
        Event::Decided { decision } => decision.synthesis.len() + decision.synthesis.len() / 16,
        _ => 0,
    };
    facts.iter().map(|fact| USUAL_BODY + words(fact)).sum()
}

/// The first facts of a discussion, as they are and as they are kept.
pub(crate) struct Opening {
    pub(crate) id: DiscussionId,
    pub(crate) facts: Vec<Fact>,
    pub(crate) bodies: Bodies,
}

/// Puts a new discussion there with its first facts, claimed where somebody begins it at once.
pub(crate) fn create(
    context: &mut WriteContext,
    opening: &Opening,
    claimant: Option<&Claimant>,
) -> Result<Created, Trouble> {
    let Opening { id, facts, bodies } = opening;
    let id = *id;
    if context.find(id)?.is_some() {
        return Ok(Created::Existed);
    }
    check_numbers(id, Seq::START, facts)?;
    let Some(Fact { at, event: opened @ Event::Opened { spec, lineage, .. }, .. }) = facts.first() else {
        let message = format!("discussion {id} doesn't begin with what was ordered");
        return Err(StoreError::Unusable(message).into());
    };
    check_belongings(context, spec, lineage.as_ref())?;
    let root = lineage.as_ref().map_or(id, |it| it.root);
    let standing = Standing::OPENED.after(facts);
    let holder = claimant.map(|claimant| claimant.as_holder(context));
    let (opened_at, holder) = (*at, holder.as_ref());
    let number = New { id, root, spec, opened_at, standing, holder }.insert(&context.connection)?;
    let (last, seats) = (facts.last().map_or(Seq::START, |it| it.seq), Arc::new(Seats::of(opened)));
    insert_facts(&context.connection, number, facts, bodies)?;
    seeds::open(&context.connection, id, facts, &seats)?;
    let (run, fence, holder) = (Run::Runnable, u64::from(holder.is_some()), holder.cloned());
    context.learn(id, Cached { number, root, run, standing, last, fence, holder, seats: Some(seats) });
    Ok(Created::New)
}

fn exists(connection: &Connection, id: DiscussionId) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM discussions WHERE id = ?1")?.exists([id.to_string()])
}

fn check_belongings(
    context: &mut WriteContext,
    spec: &Spec,
    lineage: Option<&Lineage>,
) -> Result<(), Trouble> {
    if let Some(root) = lineage.map(|it| it.root) {
        context.root(root)?;
    }
    if let Some(session) = spec.session {
        let sql = "SELECT 1 FROM sessions WHERE id = ?1 AND tenant = ?2";
        if !context
            .connection
            .prepare_cached(sql)?
            .exists(params![session.to_string(), spec.tenant.name()])?
        {
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
    holder: Option<&'a Holder>,
}

impl New<'_> {
    /// Returns its number.
    fn insert(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO discussions
             (id, root, session, pattern, topic, key, simulated, opened_at, status, run, unindexed, tenant,
              fence, owner, runner, lease_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'runnable', ?1 = ?2, ?10, ?11, ?12, ?13, ?14)",
        )?;
        let New { id, root, spec, opened_at, standing, holder } = self;
        let (id, root, session) = (id.to_string(), root.to_string(), spec.session.map(|it| it.to_string()));
        let (key, is_simulated) = (key(&spec.topic), spec.simulation.is_some());
        let (Spec { pattern, topic, .. }, status) = (spec, standing.status.name());
        let (at, tenant) = (opened_at.0, spec.tenant.name());
        let (owner, runner) = (holder.map(|it| &it.owner), holder.map(|it| &it.runner));
        let (fence, lease_until) = (holder.is_some(), holder.map(|it| it.lease_until.0));
        statement.insert(params![
            id,
            root,
            session,
            pattern,
            topic,
            key,
            is_simulated,
            at,
            status,
            tenant,
            fence,
            owner,
            runner,
            lease_until
        ])
    }
}

/// INV-DISC-630: discussions of the same topic share their key.
fn key(topic: &str) -> String {
    format!("discussion:{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, topic.trim().as_bytes()).simple())
}

fn insert_facts(
    connection: &Connection,
    number: i64,
    facts: &[Fact],
    bodies: &Bodies,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO facts (discussion, seq, at, active_ms, step, type, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (fact, body) in facts.iter().zip(bodies.iter()) {
        let step = fact.step.as_ref().map(Step::as_str);
        let (seq, active_ms) = (fact.seq.0 as i64, fact.active_ms as i64);
        statement.execute(params![number, seq, fact.at.0, active_ms, step, kind(body), body])?;
    }
    Ok(())
}

/// The name of what happened: the first thing in its JSON, where serde puts the tag.
fn kind(body: &str) -> &str {
    body.strip_prefix("{\"type\":\"").unwrap_or(body).split('"').next().unwrap_or_default()
}

/// Adds facts, what follows from them, and what becomes of the claim.
pub(crate) fn append(context: &mut WriteContext, append: &Append, bodies: &Bodies) -> Result<Seq, Trouble> {
    let Append { claim, id, expected, facts, .. } = append;
    let mut cached = context.find(*id)?.ok_or(StoreError::Unknown(*id))?;
    let is_newest = if cached.root == *id {
        cached.is_held_by(claim)
    } else {
        context.find(cached.root)?.is_some_and(|root| root.is_held_by(claim))
    };
    if cached.root != claim.id || !is_newest || cached.last != *expected {
        return Err(StoreError::Fenced(*id).into());
    }
    if cached.run == Run::Over {
        return Err(StoreError::Over(*id).into());
    }
    check_numbers(*id, *expected, facts)?;
    let seats = if seeds::needs_seats(facts) { Some(context.seats(*id, &mut cached)?) } else { None };
    insert_facts(&context.connection, cached.number, facts, bodies)?;
    seeds::follow(&context.connection, *id, facts, seats.as_deref().unwrap_or(&Seats(Vec::new())))?;
    move_on(context, append, cached)?;
    Ok(facts.last().map_or(*expected, |fact| fact.seq))
}

/// What becomes of the discussion and its claim. Most facts change neither, and then nothing is written here.
fn move_on(context: &mut WriteContext, append: &Append, mut cached: Cached) -> Result<(), Trouble> {
    let Append { id, facts, then, .. } = append;
    let (run, standing) = (cached.run, cached.standing);
    cached.standing = standing.after(facts);
    cached.last = facts.last().map_or(cached.last, |fact| fact.seq);
    cached.run = match then {
        Then::Done => Run::Over,
        _ if cached.standing.is_over() => Run::Over,
        Then::Park { seen } if !has_newer_command(&context.connection, *id, seen.0)? => Run::Parked,
        Then::Continue | Then::Park { .. } => Run::Runnable,
    };
    let ends_the_claim = *then != Then::Continue && cached.root == *id;
    if ends_the_claim {
        cached.holder = None;
    }
    let synthesis = standing::synthesis(facts);
    if cached.standing != standing || synthesis.is_some() {
        let mut statement = context.connection.prepare_cached(
            "UPDATE discussions SET status = ?2, success = ?3, ended_at = ?4, synthesis = ifnull(?5, synthesis)
             WHERE number = ?1",
        )?;
        let Standing { status, success, ended_at } = cached.standing;
        statement.execute(params![
            cached.number,
            status.name(),
            success,
            ended_at.map(|at| at.0),
            synthesis
        ])?;
    }
    if cached.run != run || ends_the_claim {
        set_run(&context.connection, &cached, *id)?;
    }
    match cached.run {
        Run::Over => context.forget(*id),
        Run::Runnable | Run::Parked => context.learn(*id, cached),
    }
    Ok(())
}

/// Whether it could go on, and who has it; where it stands still, its words are to be indexed.
fn set_run(connection: &Connection, cached: &Cached, id: DiscussionId) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE discussions SET run = ?2, owner = ?3, runner = ?4, lease_until = ?5, unindexed = max(unindexed, ?6)
         WHERE number = ?1",
    )?;
    let stands_still = cached.run != Run::Runnable && cached.root == id;
    let Cached { number, run, holder, .. } = cached;
    let (owner, runner) = (holder.as_ref().map(|it| &it.owner), holder.as_ref().map(|it| &it.runner));
    let lease_until = holder.as_ref().map(|it| it.lease_until.0);
    statement.execute(params![number, run.name(), owner, runner, lease_until, stands_still]).map(drop)
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
        "SELECT seq, at, active_ms, step, body FROM facts
         WHERE discussion = (SELECT number FROM discussions WHERE id = ?1) AND seq > ?2 ORDER BY seq LIMIT ?3",
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

/// A fact from a row of its number, time, active time, step and body.
pub(crate) fn fact(id: DiscussionId, row: &Row<'_>) -> Result<Fact, Trouble> {
    let seq = Seq(row.get::<_, i64>(0)? as u64);
    let step: Option<String> = row.get(3)?;
    let body: String = row.get(4)?;
    let event = serde_json::from_str(&body).map_err(|error| unreadable(id, &format!("fact {seq}"), error))?;
    let (at, active_ms) = (Timestamp(row.get(1)?), row.get::<_, i64>(2)? as u64);
    Ok(Fact { seq, at, active_ms, step: step.as_deref().map(Step::from), event })
}
