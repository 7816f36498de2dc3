//! The record: creating discussions, adding and reading facts.

use std::sync::Arc;

use quorum_core::{
    model::{
        digest::Digest,
        event::{Event, Fact, Lineage},
        id::{DiscussionId, NodeId, Seq, Step},
        list_status::{self, ListStatus},
        relevance::key,
        seed_rows::{Seats, needs_seats},
        spec::Spec,
        time::Timestamp,
    },
    seams::{Append, Created, LONGEST_WAIT_MS, Queueing, Runner, StoreError, Then, check_room, needs},
};
use rusqlite::{Connection, Row, params};

use crate::{
    cache::{Cached, Run},
    claims,
    error::{JobError, unreadable},
    seeds,
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

/// Where a new discussion begins.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// This node runs it.
    Claimed(Runner),
    /// It waits in the queue, or is a sub-discussion.
    Free,
    /// It waits in the queue, and its tenant's turns are counted.
    Queued(Queueing),
}

/// Creates a discussion with its first facts.
pub(crate) fn create(
    context: &mut WriteContext,
    opening: &Opening,
    place: Place,
) -> Result<Created, JobError> {
    let Opening { id, facts, bodies } = opening;
    let id = *id;
    if context.find(id)?.is_some() {
        return Ok(Created::Existed);
    }
    check_numbers(id, Seq::START, facts)?;
    let Some(Fact { at, event: opened @ Event::Opened { spec, lineage, flow, .. }, .. }) = facts.first()
    else {
        let message = format!("discussion {id} doesn't start with an `opened` fact");
        return Err(StoreError::Unusable(message).into());
    };
    check_references(context, spec, lineage.as_ref())?;
    let root = lineage.as_ref().map_or(id, |it| it.root);
    let list_status = ListStatus::OPENED.after(facts);
    let (holder, turn, ready_at) = placed(context, place, spec, root == id)?;
    let (opened_at, claimed_at) = (*at, holder.and(facts.last()).map(|it| it.seq));
    let row = NewDiscussion {
        id,
        root,
        spec,
        flow: *flow,
        opened_at,
        list_status,
        holder,
        claimed_at,
        turn,
        ready_at,
    };
    let number = row.insert(&context.connection)?;
    let (last, seats) = (facts.last().map_or(Seq::START, |it| it.seq), Arc::new(Seats::of(opened)));
    insert_facts(&context.connection, number, facts, bodies)?;
    seeds::open(&context.connection, id, facts, &seats)?;
    let (run, fence) = (Run::Runnable, u64::from(holder.is_some()));
    let cached = Cached {
        number,
        root,
        run,
        list_status,
        last,
        fence,
        holder,
        older_holder: None,
        attempts: 0,
        claimed_at,
        seats: Some(seats),
    };
    context.cache(id, cached);
    Ok(Created::New)
}

/// The holder of a new discussion, its turn, and when any node may claim it.
fn placed(
    context: &WriteContext,
    place: Place,
    spec: &Spec,
    is_root: bool,
) -> Result<(Option<NodeId>, i64, Timestamp), JobError> {
    let now = context.now();
    if !is_root {
        return Ok((None, 0, now));
    }
    let turn = claims::next_turn(context)?;
    match place {
        Place::Claimed(runner) => {
            if runner.most_of_tenant.is_some() {
                runner.check_room(claims::running_of(&context.connection, &spec.tenant)?)?;
            }
            Ok((Some(runner.node), turn, now))
        }
        Place::Free => Ok((None, turn, now)),
        Place::Queued(queueing) => {
            check_room(claims::waiting(&context.connection, &spec.tenant)?, &queueing)?;
            let turn = claims::take_turn(context, &spec.tenant, turn)?;
            Ok((None, turn, now.plus_ms(queueing.ready_in_ms.min(LONGEST_WAIT_MS))))
        }
    }
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
    flow: u32,
    opened_at: Timestamp,
    list_status: ListStatus,
    holder: Option<NodeId>,
    claimed_at: Option<Seq>,
    turn: i64,
    ready_at: Timestamp,
}

impl NewDiscussion<'_> {
    /// Inserts it and returns its number.
    fn insert(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO discussions
             (id, root, session, pattern, topic, key, simulated, opened_at, status, run, unindexed, tenant,
              fence, node, claimed_at, flow, needs, turn, ready_at, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'runnable', ?1 = ?2, ?10, ?11, ?12, ?13, ?14, ?15,
              ?16, ?17, ?18)",
        )?;
        let NewDiscussion {
            id,
            root,
            spec,
            flow,
            opened_at,
            list_status,
            holder,
            claimed_at,
            turn,
            ready_at,
        } = self;
        let (id, root, session) = (id.to_string(), root.to_string(), spec.session.map(|it| it.to_string()));
        let needs = serde_json::to_string(&needs(spec)).unwrap_or_default();
        statement.insert(params![
            id,
            root,
            session,
            spec.pattern,
            spec.topic,
            key(&spec.topic),
            spec.simulation.is_some(),
            opened_at.0,
            list_status.status.name(),
            spec.tenant.name(),
            holder.is_some(),
            holder.map(|it| it.to_string()),
            claimed_at.map(|it| it.0 as i64),
            flow,
            needs,
            turn,
            ready_at.0,
            serde_json::to_string(&Digest::opened()).unwrap_or_default()
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
    let seats = if needs_seats(facts) { Some(context.seats(*id, &mut cached)?) } else { None };
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
    let Append { id, facts, then, digest, .. } = append;
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
        (cached.holder, cached.attempts, cached.claimed_at) = (None, 0, None);
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
    if let Some(digest) = digest {
        let sql = "UPDATE discussions SET digest = ?2 WHERE number = ?1";
        let body = serde_json::to_string(&**digest).unwrap_or_default();
        context.connection.prepare_cached(sql)?.execute(params![cached.number, body])?;
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

/// Writes whether it can run and which node has it. A discussion that stops is marked for indexing.
fn set_run(connection: &Connection, cached: &Cached, id: DiscussionId) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE discussions SET run = ?2, node = ?3, attempts = ?4, claimed_at = ?5,
         unindexed = max(unindexed, ?6) WHERE number = ?1",
    )?;
    let has_stopped = cached.run != Run::Runnable && cached.root == id;
    let Cached { number, run, holder, attempts, claimed_at, .. } = cached;
    let (node, claimed_at) = (holder.map(|it| it.to_string()), claimed_at.map(|it| it.0 as i64));
    statement.execute(params![number, run.name(), node, attempts, claimed_at, has_stopped]).map(drop)
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
