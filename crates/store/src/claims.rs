//! Who runs which discussion.

use std::collections::HashMap;

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Claim, StoreError},
};
use rusqlite::{OptionalExtension, Row, params};

use crate::{desk::Desk, error::Trouble, inbox::root};

/// Who asks, and for how long.
pub(crate) struct Claimant {
    pub(crate) owner: String,
    pub(crate) lease_ms: u64,
}

/// Somebody who has a discussion, or had it.
struct Holder {
    owner: String,
    runner: String,
    lease_until: Timestamp,
}

/// Takes one discussion, unless a living process has it.
pub(crate) fn claim(desk: &mut Desk, id: DiscussionId, claimant: &Claimant) -> Result<Claim, Trouble> {
    root(&desk.connection, id)?;
    desk.runner.sweep();
    let sql = "SELECT owner, runner, lease_until FROM discussions WHERE id = ?1 AND owner IS NOT NULL";
    let holder = desk.connection.prepare_cached(sql)?.query_row([id.to_string()], holder).optional()?;
    if let Some(holder) = holder {
        let is_own = holder.owner == claimant.owner && holder.runner == desk.runner.name;
        let holds = holder.lease_until > desk.now() && desk.runner.is_alive(&holder.runner);
        if holds && !is_own {
            return Err(StoreError::Held { id, owner: holder.owner }.into());
        }
    }
    take(desk, id, claimant)
}

/// Takes the oldest discussions that could go on and that nobody has.
pub(crate) fn claim_any(desk: &mut Desk, max: usize, claimant: &Claimant) -> Result<Vec<Claim>, Trouble> {
    desk.runner.sweep();
    let mut claims = Vec::new();
    for id in free(desk, max)? {
        claims.push(take(desk, id, claimant)?);
    }
    Ok(claims)
}

fn free(desk: &Desk, max: usize) -> Result<Vec<DiscussionId>, Trouble> {
    let mut statement = desk.connection.prepare_cached(
        "SELECT owner, runner, lease_until, id FROM discussions WHERE root = id AND run = 'runnable'
         ORDER BY opened_at, id",
    )?;
    let mut rows = statement.query([])?;
    let (mut free, mut living) = (Vec::new(), HashMap::new());
    while let Some(row) = rows.next()?.filter(|_| free.len() < max) {
        let is_held = row.get::<_, Option<String>>(0)?.is_some() && {
            let Holder { runner, lease_until, .. } = holder(row)?;
            // A process may hold thousands; it is asked for once.
            let lives = |runner: &String| desk.runner.is_alive(runner);
            lease_until > desk.now() && *living.entry(runner).or_insert_with_key(lives)
        };
        let id: Option<DiscussionId> = row.get::<_, String>(3)?.parse().ok();
        free.extend(id.filter(|_| !is_held));
    }
    Ok(free)
}

fn holder(row: &Row<'_>) -> rusqlite::Result<Holder> {
    Ok(Holder { owner: row.get(0)?, runner: row.get(1)?, lease_until: Timestamp(row.get(2)?) })
}

fn take(desk: &Desk, id: DiscussionId, claimant: &Claimant) -> Result<Claim, Trouble> {
    let Claimant { owner, lease_ms } = claimant;
    let mut statement = desk.connection.prepare_cached(
        "UPDATE discussions SET fence = fence + 1, owner = ?2, runner = ?3, lease_until = ?4 WHERE id = ?1
         RETURNING fence",
    )?;
    let until = desk.now().plus_ms(*lease_ms).0;
    let row = params![id.to_string(), owner, desk.runner.name, until];
    let fence: i64 = statement.query_row(row, |row| row.get(0))?;
    Ok(Claim { id, owner: owner.clone(), fence: fence as u64 })
}

/// Prolongs these; returns those that are another's by now, or nobody's. One whose lease ran out is still good as long
/// as nobody else came.
pub(crate) fn extend(desk: &mut Desk, claims: &[Claim], lease_ms: u64) -> Result<Vec<Claim>, Trouble> {
    let mut statement = desk.connection.prepare_cached(
        "UPDATE discussions SET lease_until = ?4 WHERE id = ?1 AND owner = ?2 AND fence = ?3",
    )?;
    let until = desk.now().plus_ms(lease_ms).0;
    let mut lost = Vec::new();
    for claim in claims {
        let changed =
            statement.execute(params![claim.id.to_string(), claim.owner, claim.fence as i64, until])?;
        lost.extend((changed == 0).then(|| claim.clone()));
    }
    Ok(lost)
}

/// Gives a claim back; one that is gone already is left alone.
pub(crate) fn release(desk: &mut Desk, claim: &Claim) -> Result<(), Trouble> {
    let mut statement = desk.connection.prepare_cached(
        "UPDATE discussions SET owner = NULL, runner = NULL, lease_until = NULL
         WHERE id = ?1 AND owner = ?2 AND fence = ?3",
    )?;
    statement.execute(params![claim.id.to_string(), claim.owner, claim.fence as i64])?;
    Ok(())
}
