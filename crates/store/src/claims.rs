//! Who runs which discussion.

use std::{collections::HashMap, sync::Arc};

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Claim, Created, StoreError},
};
use rusqlite::params;

use crate::{
    desk::Desk,
    error::Trouble,
    known::{Holder, Known},
    record::{self, Opening},
};

/// Who asks, and for how long.
pub(crate) struct Claimant {
    pub(crate) owner: Arc<str>,
    pub(crate) lease_ms: u64,
}

impl Claimant {
    /// As it stands in the database, from now on.
    pub(crate) fn as_holder(&self, desk: &Desk) -> Holder {
        let (owner, runner) = (self.owner.clone(), desk.runner.name.clone());
        Holder { owner, runner, lease_until: desk.now().plus_ms(self.lease_ms) }
    }
}

/// Puts a discussion there as [`record::create`] does, and takes it; `None` where it was there already.
pub(crate) fn begin(
    desk: &mut Desk,
    opening: &Opening,
    claimant: &Claimant,
) -> Result<Option<Claim>, Trouble> {
    desk.runner.sweep_once();
    match record::create(desk, opening, Some(claimant))? {
        Created::New => Ok(Some(Claim { id: opening.id, owner: claimant.owner.to_string(), fence: 1 })),
        Created::Existed => Ok(None),
    }
}

/// Who runs it, and lives.
pub(crate) fn holder(desk: &mut Desk, id: DiscussionId) -> Result<Option<Arc<str>>, Trouble> {
    let Some(holder) = desk.root(id)?.holder else { return Ok(None) };
    let holds = holder.lease_until > desk.now() && desk.runner.is_alive(&holder.runner);
    Ok(holds.then_some(holder.owner))
}

/// Takes one discussion, unless a living process has it.
pub(crate) fn claim(desk: &mut Desk, id: DiscussionId, claimant: &Claimant) -> Result<Claim, Trouble> {
    let known = desk.root(id)?;
    if let Some(holder) = &known.holder {
        let is_ours = holder.runner == desk.runner.name;
        if !is_ours {
            desk.runner.sweep();
        }
        let holds = holder.lease_until > desk.now() && desk.runner.is_alive(&holder.runner);
        if holds && !(is_ours && holder.owner == claimant.owner) {
            return Err(StoreError::Held { id, owner: holder.owner.to_string() }.into());
        }
    }
    desk.runner.sweep_once();
    take(desk, id, known, claimant)
}

/// Takes the oldest discussions that could go on and that nobody has.
pub(crate) fn claim_any(desk: &mut Desk, max: usize, claimant: &Claimant) -> Result<Vec<Claim>, Trouble> {
    desk.runner.sweep();
    let mut claims = Vec::new();
    for id in free(desk, max)? {
        let known = desk.root(id)?;
        claims.push(take(desk, id, known, claimant)?);
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
            let (runner, lease_until) = (row.get(1)?, Timestamp(row.get(2)?));
            // A process may hold thousands; it is asked for once.
            let lives = |runner: &String| desk.runner.is_alive(runner);
            lease_until > desk.now() && *living.entry(runner).or_insert_with_key(lives)
        };
        let id: Option<DiscussionId> = row.get::<_, String>(3)?.parse().ok();
        free.extend(id.filter(|_| !is_held));
    }
    Ok(free)
}

fn take(desk: &mut Desk, id: DiscussionId, known: Known, claimant: &Claimant) -> Result<Claim, Trouble> {
    let (holder, fence) = (claimant.as_holder(desk), known.fence + 1);
    let mut statement = desk.connection.prepare_cached(
        "UPDATE discussions SET fence = ?2, owner = ?3, runner = ?4, lease_until = ?5 WHERE number = ?1",
    )?;
    let lease_until = holder.lease_until.0;
    statement.execute(params![known.number, fence as i64, holder.owner, holder.runner, lease_until])?;
    drop(statement);
    desk.learn(id, Known { fence, holder: Some(holder), ..known });
    Ok(Claim { id, owner: claimant.owner.to_string(), fence })
}

/// Prolongs these; returns those that are another's by now, or nobody's. One whose lease ran out is still good as long
/// as nobody else came.
pub(crate) fn extend(desk: &mut Desk, claims: &[Claim], lease_ms: u64) -> Result<Vec<Claim>, Trouble> {
    let lease_until = desk.now().plus_ms(lease_ms);
    let mut lost = Vec::new();
    for claim in claims {
        let Some((known, holder)) = held(desk, claim)? else {
            lost.push(claim.clone());
            continue;
        };
        let sql = "UPDATE discussions SET lease_until = ?2 WHERE number = ?1";
        desk.connection.prepare_cached(sql)?.execute([known.number, lease_until.0])?;
        desk.learn(claim.id, Known { holder: Some(Holder { lease_until, ..holder }), ..known });
    }
    Ok(lost)
}

/// Gives a claim back; one that is gone already is left alone.
pub(crate) fn release(desk: &mut Desk, claim: &Claim) -> Result<(), Trouble> {
    let Some((known, _)) = held(desk, claim)? else { return Ok(()) };
    let sql = "UPDATE discussions SET owner = NULL, runner = NULL, lease_until = NULL WHERE number = ?1";
    desk.connection.prepare_cached(sql)?.execute([known.number])?;
    desk.learn(claim.id, Known { holder: None, ..known });
    Ok(())
}

/// The claimed discussion and who has it, if it is still this claim.
fn held(desk: &mut Desk, claim: &Claim) -> Result<Option<(Known, Holder)>, Trouble> {
    let Some(known) = desk.find(claim.id)?.filter(|known| known.is_held_by(claim)) else { return Ok(None) };
    Ok(known.holder.clone().map(|holder| (known, holder)))
}
