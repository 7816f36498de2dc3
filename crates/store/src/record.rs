//! The record: creating discussions, adding and reading facts.

use std::sync::Arc;

use quorum_core::{
    model::{
        event::{Event, Fact, Lineage},
        id::{DiscussionId, Seq, Step},
        relevance::key,
        spec::Spec,
        time::Timestamp,
    },
    seams::{Append, Created, StoreError, Then},
};
use rusqlite::{Connection, Row, params};

use crate::{
    cache::{Cached, Holder, Run},
    claims::Claimant,
    error::{JobError, unreadable},
    list_status::{self, ListStatus},
    seeds::{self, Seats},
    write_context::WriteContext,
};

/// Facts as JSON, concatenated. Serialised on the caller's thread, because there is only one writer
/// thread.
pub(crate) struct Bodies {
    all: String,
    ends: Vec<usize>,
}

/// The usual size of a fact's JSON without the text of a turn.
const USUAL_BODY: usize = 512;

impl Bodies {
    pub(crate) fn of(facts: &[Fact]) -> Result<Self, StoreError> {
        let fault = |error| StoreError::Unusable(format!("a fact can't be written as JSON: {error}"));
        // Reserve all memory at the start: growing the buffer took as long as writing it.
        let (mut all, mut ends) =
            (Vec::with_capacity(estimated_size(facts)), Vec::with_capacity(facts.len()));
        for fact in facts {
            serde_json::to_writer(&mut all, &fact.event).map_err(fault)?;
            ends.push(all.len());
        }
        let not_text = |error| StoreError::Unusable(format!("a fact's JSON is not UTF-8: {error}"));
        Ok(Bodies { all: String::from_utf8(all).map_err(not_text)?, ends })
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.all.get(start..*end).unwrap_or_default())
    }
}

/// An estimate of the JSON's size; the buffer grows if it is too small.
fn estimated_size(facts: &[Fact]) -> usize {
    let words = |fact: &Fact| match &fact.event {
        Event::TurnCompleted { turn } => turn.text.len() + turn.text.len() / 16,
        Event::Decided { decision } => decision.synthesis.len() + decision.synthesis.len() / 16,
        _ => 0,
    };
    facts.iter().map(|fact| USUAL_BODY + words(fact)).sum()
}

/// The first facts of a discussion, as values and as JSON.
pub(crate) struct Opening {
    pub(crate) id: DiscussionId,
    pub(crate) facts: Vec<Fact>,
    pub(crate) bodies: Bodies,
}

/// Creates a discussion with its first facts, claimed if there is a claimant.
pub(crate) fn create(
    context: &mut WriteContext,
    opening: &Opening,
    claimant: Option<&Claimant>,
) -> Result<Created, JobError> {
    let Opening { id, facts, bodies } = opening;
    let id = *id;
    if context.find(id)?.is_some() {
        return Ok(Created::Existed);
    }
    check_numbers(id, Seq::START, facts)?;
    let Some(Fact { at, event: opened @ Event::Opened { spec, lineage, .. }, .. }) = facts.first() else {
        let message = format!("discussion {id} doesn't start with an `opened` fact");
        return Err(StoreError::Unusable(message).into());
    };
    check_references(context, spec, lineage.as_ref())?;
    let root = lineage.as_ref().map_or(id, |it| it.root);
    let list_status = ListStatus::OPENED.after(facts);
    let holder = claimant.map(|claimant| claimant.as_holder(context));
    let (opened_at, holder) = (*at, holder.as_ref());
    let number =
        NewDiscussion { id, root, spec, opened_at, list_status, holder }.insert(&context.connection)?;
    let (last, seats) = (facts.last().map_or(Seq::START, |it| it.seq), Arc::new(Seats::of(opened)));
    insert_facts(&context.connection, number, facts, bodies)?;
    seeds::open(&context.connection, id, facts, &seats)?;
    let (run, fence, holder) = (Run::Runnable, u64::from(holder.is_some()), holder.cloned());
    context.cache(id, Cached { number, root, run, list_status, last, fence, holder, seats: Some(seats) });
    Ok(Created::New)
}

fn exists(connection: &Connection, id: DiscussionId) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM discussions WHERE id = ?1")?.exists([id.to_string()])
}

fn check_references(
    context: &mut WriteContext,
    spec: &Spec,
    lineage: Option<&Lineage>,
) -> Result<(), JobError> {
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

/// A discussion to insert.
struct NewDiscussion<'a> {
    id: DiscussionId,
    root: DiscussionId,
    spec: &'a Spec,
    opened_at: Timestamp,
    list_status: ListStatus,
    holder: Option<&'a Holder>,
}

impl NewDiscussion<'_> {
    /// Inserts it and returns its number.
    fn insert(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO discussions
             (id, root, session, pattern, topic, key, simulated, opened_at, status, run, unindexed, tenant,
              fence, owner, runner, lease_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'runnable', ?1 = ?2, ?10, ?11, ?12, ?13, ?14)",
        )?;
        let NewDiscussion { id, root, spec, opened_at, list_status, holder } = self;
        let (id, root, session) = (id.to_string(), root.to_string(), spec.session.map(|it| it.to_string()));
        let (key, is_simulated) = (key(&spec.topic), spec.simulation.is_some());
        let (Spec { pattern, topic, .. }, status) = (spec, list_status.status.name());
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

/// The event's type: the first field of its JSON, where serde puts the tag.
fn kind(body: &str) -> &str {
    body.strip_prefix("{\"type\":\"").unwrap_or(body).split('"').next().unwrap_or_default()
}

/// Adds facts, the rows derived from them, and the change to the claim.
pub(crate) fn append(context: &mut WriteContext, append: &Append, bodies: &Bodies) -> Result<Seq, JobError> {
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
    seeds::apply(&context.connection, *id, facts, seats.as_deref().unwrap_or(&Seats(Vec::new())))?;
    update_discussion(context, append, cached)?;
    Ok(facts.last().map_or(*expected, |fact| fact.seq))
}

/// Updates the discussion's row and claim. Most facts change neither; then nothing is written.
fn update_discussion(
    context: &mut WriteContext,
    append: &Append,
    mut cached: Cached,
) -> Result<(), JobError> {
    let Append { id, facts, then, .. } = append;
    let (run, list_status) = (cached.run, cached.list_status);
    cached.list_status = list_status.after(facts);
    cached.last = facts.last().map_or(cached.last, |fact| fact.seq);
    cached.run = match then {
        Then::Done => Run::Over,
        _ if cached.list_status.is_over() => Run::Over,
        Then::Park { seen } if !has_newer_command(&context.connection, *id, seen.0)? => Run::Parked,
        Then::Continue | Then::Park { .. } => Run::Runnable,
    };
    let ends_the_claim = *then != Then::Continue && cached.root == *id;
    if ends_the_claim {
        cached.holder = None;
    }
    let synthesis = list_status::synthesis(facts);
    if cached.list_status != list_status || synthesis.is_some() {
        let mut statement = context.connection.prepare_cached(
            "UPDATE discussions SET status = ?2, success = ?3, ended_at = ?4, synthesis = ifnull(?5, synthesis)
             WHERE number = ?1",
        )?;
        let ListStatus { status, success, ended_at } = cached.list_status;
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
        Run::Over => context.uncache(*id),
        Run::Runnable | Run::Parked => context.cache(*id, cached),
    }
    Ok(())
}

/// Writes whether it can run and who has it. A discussion that stops is marked for indexing.
fn set_run(connection: &Connection, cached: &Cached, id: DiscussionId) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE discussions SET run = ?2, owner = ?3, runner = ?4, lease_until = ?5, unindexed = max(unindexed, ?6)
         WHERE number = ?1",
    )?;
    let has_stopped = cached.run != Run::Runnable && cached.root == id;
    let Cached { number, run, holder, .. } = cached;
    let (owner, runner) = (holder.as_ref().map(|it| &it.owner), holder.as_ref().map(|it| &it.runner));
    let lease_until = holder.as_ref().map(|it| it.lease_until.0);
    statement.execute(params![number, run.name(), owner, runner, lease_until, has_stopped]).map(drop)
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
) -> Result<Vec<Fact>, JobError> {
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

/// A fact from a row with number, time, active time, step and body.
pub(crate) fn fact(id: DiscussionId, row: &Row<'_>) -> Result<Fact, JobError> {
    let seq = Seq(row.get::<_, i64>(0)? as u64);
    let step: Option<String> = row.get(3)?;
    let body: String = row.get(4)?;
    let event = serde_json::from_str(&body).map_err(|error| unreadable(id, &format!("fact {seq}"), error))?;
    let (at, active_ms) = (Timestamp(row.get(1)?), row.get::<_, i64>(2)? as u64);
    Ok(Fact { seq, at, active_ms, step: step.as_deref().map(Step::from), event })
}
