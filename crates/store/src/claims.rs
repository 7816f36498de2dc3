//! Claims: which node runs which discussion.

use std::collections::HashMap;

use quorum_core::{
    model::id::{DiscussionId, NodeId, Tenant},
    seams::{
        Claim, ClaimRequest, Created, LONGEST_WAIT_MS, MOST_ATTEMPTS, Release, Runner, StoreError, Taken,
        backoff_ms,
    },
};
use rusqlite::{Connection, Row, params};

use crate::{
    cache::{Cached, parsed},
    error::JobError,
    nodes,
    record::{self, Opening, Place},
    write_context::WriteContext,
};

/// Creates a discussion like [`record::create`] and claims it; `None` if it exists already.
pub(crate) fn begin(
    context: &mut WriteContext,
    opening: &Opening,
    runner: Runner,
) -> Result<Option<Claim>, JobError> {
    let node = runner.node;
    context.liveness.sweep_once();
    nodes::check(context, node)?;
    match record::create(context, opening, Place::Claimed(runner))? {
        Created::New => Ok(Some(Claim { id: opening.id, node, fence: 1 })),
        Created::Existed => Ok(None),
    }
}

/// The name of the living node that runs a discussion, if any.
pub(crate) fn holder(context: &mut WriteContext, id: DiscussionId) -> Result<Option<String>, JobError> {
    let cached = context.root(id)?;
    match cached.holder {
        Some(node) => nodes::living(context, node),
        None => Ok(cached.older_holder.filter(|(_, until)| context.now() < *until).map(|it| it.0)),
    }
}

/// Claims one discussion, unless a living node has it.
pub(crate) fn claim(context: &mut WriteContext, id: DiscussionId, node: NodeId) -> Result<Claim, JobError> {
    let cached = context.root(id)?;
    nodes::check(context, node)?;
    context.liveness.sweep_once();
    if cached.holder != Some(node) {
        if cached.holder.is_some() {
            context.liveness.sweep();
        }
        if let Some(owner) = holder(context, id)? {
            return Err(StoreError::Held { id, owner }.into());
        }
    }
    let cached = context.root(id)?;
    write_claim(context, id, Cached { attempts: 0, ..cached }, node)
}

/// Claims runnable discussions that no node has, in the order of their turns.
pub(crate) fn claim_any(context: &mut WriteContext, request: &ClaimRequest) -> Result<Vec<Taken>, JobError> {
    context.liveness.sweep();
    nodes::check(context, request.node)?;
    nodes::reap_dead(context)?;
    let mut taken = Vec::new();
    for (id, tenant) in find_free(context, request)? {
        let cached = context.root(id)?;
        let is_takeover = cached.claimed_at.is_some();
        let Some(cached) = counted(context, id, cached)? else { continue };
        taken.push(Taken { claim: write_claim(context, id, cached, request.node)?, tenant, is_takeover });
    }
    Ok(taken)
}

/// Counts a run that died without progress; `None` if it was the last that is tried.
fn counted(context: &mut WriteContext, id: DiscussionId, cached: Cached) -> Result<Option<Cached>, JobError> {
    let attempts = match cached.claimed_at {
        Some(claimed_at) if claimed_at == cached.last => cached.attempts + 1,
        Some(_) => 0,
        None => cached.attempts,
    };
    if attempts < MOST_ATTEMPTS {
        return Ok(Some(Cached { attempts, ..cached }));
    }
    let sql = "UPDATE discussions SET attempts = ?2, claimed_at = NULL, stuck = 1 WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute(params![cached.number, attempts])?;
    context.cache(id, Cached { attempts, claimed_at: None, ..cached });
    Ok(None)
}

fn find_free(
    context: &WriteContext,
    request: &ClaimRequest,
) -> Result<Vec<(DiscussionId, Tenant)>, JobError> {
    let mut running = running(&context.connection, request.most_of_tenant.is_some())?;
    // A time too far ahead is an error of a clock.
    let mut statement = context.connection.prepare_cached(
        "SELECT id, tenant, pattern, flow, needs FROM discussions
         WHERE root = id AND run = 'runnable' AND node IS NULL AND stuck = 0
         AND NOT (ready_at > ?1 AND ready_at <= ?2) AND ifnull(lease_until, 0) <= ?1
         ORDER BY turn, opened_at, id",
    )?;
    let now = context.now();
    let mut rows = statement.query([now.0, now.plus_ms(LONGEST_WAIT_MS).0])?;
    let mut free = Vec::new();
    while let Some(row) = rows.next()?.filter(|_| free.len() < request.max) {
        let tenant = row.get::<_, String>(1)?;
        let of_tenant = running.entry(tenant.clone()).or_default();
        let has_room = request.most_of_tenant.is_none_or(|most| *of_tenant < most);
        if has_room && suits(row, request)? {
            *of_tenant += 1;
            free.push((parsed(row, 0)?, Tenant::named(&tenant)));
        }
    }
    Ok(free)
}

fn suits(row: &Row<'_>, request: &ClaimRequest) -> rusqlite::Result<bool> {
    let needs: Vec<String> = serde_json::from_str(row.get_ref(4)?.as_str()?).unwrap_or_default();
    Ok(request.able.include(row.get_ref(2)?.as_str()?, row.get(3)?, &needs))
}

/// How many discussions of each tenant are run, if that matters.
fn running(connection: &Connection, matters: bool) -> rusqlite::Result<HashMap<String, u64>> {
    if !matters {
        return Ok(HashMap::new());
    }
    let sql = "SELECT tenant, count(*) FROM discussions WHERE node IS NOT NULL GROUP BY tenant";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
    rows.collect()
}

fn write_claim(
    context: &mut WriteContext,
    id: DiscussionId,
    cached: Cached,
    node: NodeId,
) -> Result<Claim, JobError> {
    let (fence, attempts, last) = (cached.fence + 1, cached.attempts, cached.last);
    let mut statement = context.connection.prepare_cached(
        "UPDATE discussions SET fence = ?2, node = ?3, attempts = ?4, claimed_at = ?5, stuck = 0,
         owner = NULL, runner = NULL, lease_until = NULL WHERE number = ?1",
    )?;
    statement.execute(params![cached.number, fence as i64, node.to_string(), attempts, last.0 as i64])?;
    drop(statement);
    let (holder, claimed_at) = (Some(node), Some(last));
    context.cache(id, Cached { fence, holder, older_holder: None, claimed_at, ..cached });
    Ok(Claim { id, node, fence })
}

/// The claims that a node holds.
pub(crate) fn held(connection: &Connection, node: NodeId) -> Result<Vec<Claim>, JobError> {
    let sql = "SELECT id, fence FROM discussions WHERE node = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let claim = |row: &Row<'_>| Ok(Claim { id: parsed(row, 0)?, node, fence: row.get::<_, i64>(1)? as u64 });
    Ok(statement.query_map([node.to_string()], claim)?.collect::<Result<_, _>>()?)
}

/// Releases a claim, if it is still valid.
pub(crate) fn release(context: &mut WriteContext, claim: &Claim, how: Release) -> Result<(), JobError> {
    let found = context.find(claim.id)?.filter(|cached| cached.is_held_by(claim));
    let Some(cached) = found else { return Ok(()) };
    let (attempts, wait_ms) = match how {
        Release::Now => (cached.attempts, 0),
        Release::After(ms) => (cached.attempts, ms.min(LONGEST_WAIT_MS)),
        Release::Failed => {
            let attempts = if cached.claimed_at == Some(cached.last) { cached.attempts + 1 } else { 0 };
            (attempts, backoff_ms(attempts))
        }
    };
    let (ready_at, stuck) = (context.now().plus_ms(wait_ms), MOST_ATTEMPTS <= attempts);
    let sql =
        "UPDATE discussions SET node = NULL, claimed_at = NULL, ready_at = ?2, attempts = ?3, stuck = ?4
               WHERE number = ?1";
    let mut statement = context.connection.prepare_cached(sql)?;
    statement.execute(params![cached.number, ready_at.0, attempts, stuck])?;
    drop(statement);
    context.cache(claim.id, Cached { holder: None, claimed_at: None, attempts, ..cached });
    Ok(())
}

/// Ends the claim of a discussion, if there is one.
pub(crate) fn end(context: &mut WriteContext, id: DiscussionId, cached: Cached) -> Result<(), JobError> {
    let sql = "UPDATE discussions SET node = NULL, owner = NULL, runner = NULL, lease_until = NULL
               WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute([cached.number])?;
    context.cache(id, Cached { holder: None, older_holder: None, ..cached });
    Ok(())
}

/// The place in the queue of a tenant that has not waited before: that of the first that waits, or
/// else after all turns that were ever given.
pub(crate) fn next_turn(context: &WriteContext) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(
                   (SELECT turn FROM discussions WHERE root = id AND run = 'runnable' AND node IS NULL
                    AND stuck = 0 AND ready_at <= ?1 ORDER BY turn, opened_at, id LIMIT 1),
                   (SELECT max(next) FROM turns), 0)";
    context.connection.prepare_cached(sql)?.query_row([context.now().0], |row| row.get(0))
}

/// Gives a tenant the next turn of its own, at least this one.
pub(crate) fn take_turn(context: &WriteContext, tenant: &Tenant, least: i64) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO turns (tenant, next) VALUES (?1, ?2 + 1)
               ON CONFLICT (tenant) DO UPDATE SET next = max(next, ?2) + 1 RETURNING next - 1";
    let mut statement = context.connection.prepare_cached(sql)?;
    statement.query_row(params![tenant.name(), least], |row| row.get(0))
}

/// How many discussions of a tenant are run.
pub(crate) fn running_of(connection: &Connection, tenant: &Tenant) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM discussions WHERE node IS NOT NULL AND tenant = ?1";
    connection.prepare_cached(sql)?.query_row([tenant.name()], |row| row.get::<_, i64>(0)).map(|it| it as u64)
}

/// How many orders of a tenant wait for a node.
pub(crate) fn waiting(connection: &Connection, tenant: &Tenant) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM discussions WHERE root = id AND run = 'runnable' AND node IS NULL
               AND stuck = 0 AND tenant = ?1";
    connection.prepare_cached(sql)?.query_row([tenant.name()], |row| row.get::<_, i64>(0)).map(|it| it as u64)
}
