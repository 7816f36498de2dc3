//! Claims: which node runs a discussion.
//!
//! A claim that races with the deletion of its node waits for it at the foreign key, and fails.

use std::{collections::HashMap, sync::LazyLock};

use quorum_core::{
    model::id::{DiscussionId, NodeId, Tenant},
    seams::{
        Abilities, Claim, ClaimRequest, LONGEST_WAIT_MS, MOST_ATTEMPTS, Release, StoreError, Taken,
        backoff_ms,
    },
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    batch::text,
    connection::Connection,
    error::JobError,
    pool::{Pool, transact},
    record::{WAITING, lock_tenant},
};

/// How often a claim is tried again when the holder let go between two looks.
const TRIES: u32 = 3;

/// Claims one discussion, unless another node has it.
pub(crate) async fn claim(
    connection: &mut Connection,
    id: DiscussionId,
    node: NodeId,
) -> Result<Claim, JobError> {
    let sql =
        "UPDATE discussions SET fence = fence + 1, node = $2, attempts = 0, claimed_at = last, stuck = false
               WHERE id = $1 AND root = id AND (node IS NULL OR node = $2) RETURNING fence";
    let mut owner = None;
    for _ in 0..TRIES {
        let claimed = connection.query_opt(sql, &[&Uuid::from(id), &Uuid::from(node)]).await;
        let claimed =
            claimed.map_err(|error| if error.is_gone() { StoreError::Gone(node).into() } else { error })?;
        if let Some(row) = claimed {
            return Ok(Claim { id, node, fence: row.get::<_, i64>(0) as u64 });
        }
        owner = holder(connection, id).await?;
        check(connection, node).await?;
        if owner.is_some() {
            break;
        }
    }
    Err(StoreError::Held { id, owner: owner.unwrap_or_default() }.into())
}

/// The name of the node that runs a discussion, if any.
pub(crate) async fn holder(
    connection: &mut Connection,
    id: DiscussionId,
) -> Result<Option<String>, JobError> {
    let sql = "SELECT nodes.name FROM discussions LEFT JOIN nodes ON nodes.id = node
               WHERE discussions.id = $1 AND root = discussions.id";
    let row = connection.query_opt(sql, &[&Uuid::from(id)]).await?;
    Ok(row.ok_or(StoreError::Unknown(id))?.get(0))
}

/// Fails unless the node has a row.
async fn check(connection: &mut Connection, node: NodeId) -> Result<(), JobError> {
    let found = connection.query_opt("SELECT 1 FROM nodes WHERE id = $1", &[&Uuid::from(node)]).await?;
    found.map(drop).ok_or(JobError::Refused(StoreError::Gone(node)))
}

/// What a node can run, as parameters.
struct Able {
    patterns: Option<Vec<String>>,
    flows: Option<Vec<i32>>,
    providers: Option<Vec<String>>,
}

impl Able {
    fn of(able: &Abilities) -> Self {
        let patterns = able.patterns.as_ref();
        Able {
            patterns: patterns.map(|all| all.iter().map(|it| it.0.clone()).collect()),
            flows: patterns.map(|all| all.iter().map(|it| it.1 as i32).collect()),
            providers: able.providers.clone(),
        }
    }
}

/// The condition under which a discussion may be claimed. $1 to $3 are what the node can run, $4
/// the longest wait: a time further ahead is an error of a clock.
fn claimable() -> String {
    format!(
        "{WAITING} AND NOT (ready_at > (SELECT now_us()) AND ready_at <= (SELECT now_us() + $4::bigint))
         AND ($1::text[] IS NULL OR (pattern, flow) IN (SELECT * FROM unnest($1::text[], $2::int[])))
         AND ($3::text[] IS NULL OR needs <@ $3::text[])"
    )
}

/// Whether the node has a row, and whether there is anything to claim: one statement for a node
/// that looks every second while there is nothing.
pub(crate) async fn is_any(connection: &mut Connection, request: &ClaimRequest) -> Result<bool, JobError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let claimable = claimable();
        format!(
            "SELECT EXISTS (SELECT FROM nodes WHERE id = $5), EXISTS (SELECT FROM discussions WHERE {claimable})"
        )
    });
    let Able { patterns, flows, providers } = Able::of(&request.able);
    let (longest, node) = (longest_us(), Uuid::from(request.node));
    let row = connection.query(&SQL, &[&patterns, &flows, &providers, &longest, &node]).await?.remove(0);
    if !row.get::<_, bool>(0) {
        return Err(StoreError::Gone(request.node).into());
    }
    Ok(row.get(1))
}

/// Claims runnable discussions that no node has, in the order of their turns. Each round is a
/// transaction of its own, because the next one may lock tenants that come before those of this
/// one: two nodes would wait for each other.
pub(crate) async fn claim_any(pool: &Pool, request: &ClaimRequest) -> Result<Vec<Taken>, StoreError> {
    let (mut taken, mut full) = (Vec::new(), Vec::new());
    while taken.len() < request.max {
        let most = request.max - taken.len();
        match transact!(pool, connection, claim_some(connection, request, most, &full)) {
            Ok(None) => break,
            Ok(Some((more, over))) => {
                taken.extend(more);
                full.extend(over);
            }
            // What is claimed by now must be run.
            Err(_) if !taken.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

/// Claims up to this many discussions, and returns them with the tenants that may have no more of
/// them; `None` if there is nothing to claim.
async fn claim_some(
    connection: &mut Connection,
    request: &ClaimRequest,
    most: usize,
    full: &[String],
) -> Result<Option<(Vec<Taken>, Vec<String>)>, JobError> {
    let free = find_free(connection, request, most, full).await?;
    if free.is_empty() {
        return Ok(None);
    }
    let (chosen, over) = Shares::of(connection, request, &free).await?.choose(free);
    Ok(Some((write(connection, request.node, chosen).await?, over)))
}

/// A discussion that may be claimed.
struct Free {
    number: i64,
    tenant: String,
    is_takeover: bool,
}

/// Locks discussions that may be claimed and that no other node is just claiming, without those of
/// the tenants in `full`.
async fn find_free(
    connection: &mut Connection,
    request: &ClaimRequest,
    most: usize,
    full: &[String],
) -> Result<Vec<Free>, JobError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let claimable = claimable();
        format!(
            "SELECT number, tenant, claimed_at IS NOT NULL FROM discussions
             WHERE {claimable} AND tenant <> ALL ($5::text[])
             ORDER BY turn, opened_at, id LIMIT $6 FOR NO KEY UPDATE SKIP LOCKED"
        )
    });
    let Able { patterns, flows, providers } = Able::of(&request.able);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = connection.query(&SQL, &[&patterns, &flows, &providers, &longest_us(), &full, &most]).await?;
    let free = |row: &Row| Free { number: row.get(0), tenant: row.get(1), is_takeover: row.get(2) };
    Ok(rows.iter().map(free).collect())
}

/// How many discussions of each tenant may still be claimed; empty if any number may.
struct Shares(Option<HashMap<String, u64>>);

impl Shares {
    /// Locks the tenants, so that two nodes count one after the other.
    async fn of(
        connection: &mut Connection,
        request: &ClaimRequest,
        free: &[Free],
    ) -> Result<Self, JobError> {
        let Some(most) = request.most_of_tenant else { return Ok(Shares(None)) };
        let mut tenants: Vec<&str> = free.iter().map(|it| it.tenant.as_str()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        let mut left = HashMap::new();
        for tenant in tenants {
            lock_tenant(connection, tenant).await?;
            let sql = "SELECT count(*) FROM (SELECT FROM discussions WHERE tenant = $1 AND node IS NOT NULL LIMIT $2) AS it";
            let limit = i64::try_from(most).unwrap_or(i64::MAX);
            let running: i64 = connection.query(sql, &[&text(tenant), &limit]).await?[0].get(0);
            left.insert(tenant.to_owned(), most.saturating_sub(running as u64));
        }
        Ok(Shares(Some(left)))
    }

    /// Those that fit, and the tenants of which more don't.
    fn choose(self, free: Vec<Free>) -> (Vec<Free>, Vec<String>) {
        let Shares(Some(mut left)) = self else { return (free, Vec::new()) };
        let (mut chosen, mut full) = (Vec::new(), Vec::new());
        for it in free {
            match left.get_mut(&it.tenant) {
                Some(more) if 0 < *more => {
                    *more -= 1;
                    chosen.push(it);
                }
                _ if full.contains(&it.tenant) => {}
                _ => full.push(it.tenant),
            }
        }
        (chosen, full)
    }
}

/// Writes the claims. A run that died without progress counts; after too many, the discussion is
/// put aside instead.
async fn write(connection: &mut Connection, node: NodeId, chosen: Vec<Free>) -> Result<Vec<Taken>, JobError> {
    let sql = "WITH tried AS (
                   SELECT number, CASE WHEN claimed_at IS NULL THEN attempts WHEN claimed_at = last THEN attempts + 1
                       ELSE 0 END AS attempts
                   FROM discussions WHERE number = ANY ($1)
               )
               UPDATE discussions d SET
                   attempts = tried.attempts,
                   stuck = tried.attempts >= $3,
                   node = CASE WHEN tried.attempts < $3 THEN $2::uuid END,
                   claimed_at = CASE WHEN tried.attempts < $3 THEN last END,
                   fence = fence + CASE WHEN tried.attempts < $3 THEN 1 ELSE 0 END
               FROM tried WHERE d.number = tried.number
               RETURNING d.number, d.id, d.fence, d.stuck";
    let numbers: Vec<i64> = chosen.iter().map(|it| it.number).collect();
    let most = MOST_ATTEMPTS as i32;
    let rows = connection.query(sql, &[&numbers, &Uuid::from(node), &most]).await;
    let rows = rows.map_err(|error| if error.is_gone() { StoreError::Gone(node).into() } else { error })?;
    let claims: HashMap<i64, Claim> = rows
        .iter()
        .filter(|row| !row.get::<_, bool>(3))
        .map(|row| {
            let id = row.get::<_, Uuid>(1).into();
            (row.get(0), Claim { id, node, fence: row.get::<_, i64>(2) as u64 })
        })
        .collect();
    let taken = |it: Free| {
        let claim = claims.get(&it.number)?.clone();
        Some(Taken { claim, tenant: Tenant::named(&it.tenant), is_takeover: it.is_takeover })
    };
    Ok(chosen.into_iter().filter_map(taken).collect())
}

/// The claims that a node holds.
pub(crate) async fn held(connection: &mut Connection, node: NodeId) -> Result<Vec<Claim>, JobError> {
    let rows =
        connection.query("SELECT id, fence FROM discussions WHERE node = $1", &[&Uuid::from(node)]).await?;
    let claim =
        |row: &Row| Claim { id: row.get::<_, Uuid>(0).into(), node, fence: row.get::<_, i64>(1) as u64 };
    Ok(rows.iter().map(claim).collect())
}

/// Releases a claim, if it is still valid.
pub(crate) async fn release(
    connection: &mut Connection,
    claim: &Claim,
    how: Release,
) -> Result<(), JobError> {
    let sql = "WITH tried AS (
                   SELECT number, CASE WHEN NOT $4 THEN attempts WHEN claimed_at = last THEN attempts + 1 ELSE 0 END
                       AS attempts
                   FROM discussions WHERE id = $1 AND fence = $2 AND node = $3 FOR NO KEY UPDATE
               )
               UPDATE discussions d SET node = NULL, claimed_at = NULL, attempts = tried.attempts,
                   stuck = tried.attempts >= $6,
                   ready_at = now_us() + 1000 * coalesce($5::bigint, ($7::bigint[])[least(tried.attempts, $6) + 1])
               FROM tried WHERE d.number = tried.number";
    let (failed, wait_ms) = match how {
        Release::Now => (false, Some(0)),
        Release::After(ms) => (false, Some(ms.min(LONGEST_WAIT_MS) as i64)),
        Release::Failed => (true, None),
    };
    let (id, fence, node) = (Uuid::from(claim.id), claim.fence as i64, Uuid::from(claim.node));
    let backoffs: Vec<i64> = (0..=MOST_ATTEMPTS).map(|it| backoff_ms(it) as i64).collect();
    connection
        .execute(sql, &[&id, &fence, &node, &failed, &wait_ms, &(MOST_ATTEMPTS as i32), &backoffs])
        .await?;
    Ok(())
}

fn longest_us() -> i64 {
    LONGEST_WAIT_MS as i64 * 1_000
}
