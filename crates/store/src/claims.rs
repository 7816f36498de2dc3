//! Who runs which discussion.

use std::{collections::HashMap, sync::Arc};

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Claim, Created, StoreError},
};
use rusqlite::params;

use crate::{
    cache::{Cached, Holder},
    error::Trouble,
    record::{self, Opening},
    write_context::WriteContext,
};

/// Who asks, and for how long.
pub(crate) struct Claimant {
    pub(crate) owner: Arc<str>,
    pub(crate) lease_ms: u64,
}

impl Claimant {
    /// As it stands in the database, from now on.
    pub(crate) fn as_holder(&self, context: &WriteContext) -> Holder {
        let (owner, runner) = (self.owner.clone(), context.liveness.name.clone());
        Holder { owner, runner, lease_until: context.now().plus_ms(self.lease_ms) }
    }
}

/// Puts a discussion there as [`record::create`] does, and takes it; `None` where it was there already.
pub(crate) fn begin(
    context: &mut WriteContext,
    opening: &Opening,
    claimant: &Claimant,
) -> Result<Option<Claim>, Trouble> {
    context.liveness.sweep_once();
    match record::create(context, opening, Some(claimant))? {
        Created::New => Ok(Some(Claim { id: opening.id, owner: claimant.owner.to_string(), fence: 1 })),
        Created::Existed => Ok(None),
    }
}

/// Who runs it, and lives.
pub(crate) fn holder(context: &mut WriteContext, id: DiscussionId) -> Result<Option<Arc<str>>, Trouble> {
    let Some(holder) = context.root(id)?.holder else { return Ok(None) };
    let holds = holder.lease_until > context.now() && context.liveness.is_alive(&holder.runner);
    Ok(holds.then_some(holder.owner))
}

/// Takes one discussion, unless a living process has it.
pub(crate) fn claim(
    context: &mut WriteContext,
    id: DiscussionId,
    claimant: &Claimant,
) -> Result<Claim, Trouble> {
    let cached = context.root(id)?;
    if let Some(holder) = &cached.holder {
        let is_ours = holder.runner == context.liveness.name;
        if !is_ours {
            context.liveness.sweep();
        }
        let holds = holder.lease_until > context.now() && context.liveness.is_alive(&holder.runner);
        if holds && !(is_ours && holder.owner == claimant.owner) {
            return Err(StoreError::Held { id, owner: holder.owner.to_string() }.into());
        }
    }
    context.liveness.sweep_once();
    take(context, id, cached, claimant)
}

/// Takes the oldest discussions that could go on and that nobody has.
pub(crate) fn claim_any(
    context: &mut WriteContext,
    max: usize,
    claimant: &Claimant,
) -> Result<Vec<Claim>, Trouble> {
    context.liveness.sweep();
    let mut claims = Vec::new();
    for id in free(context, max)? {
        let cached = context.root(id)?;
        claims.push(take(context, id, cached, claimant)?);
    }
    Ok(claims)
}

fn free(context: &WriteContext, max: usize) -> Result<Vec<DiscussionId>, Trouble> {
    let mut statement = context.connection.prepare_cached(
        "SELECT owner, runner, lease_until, id FROM discussions WHERE root = id AND run = 'runnable'
         ORDER BY opened_at, id",
    )?;
    let mut rows = statement.query([])?;
    let (mut free, mut living) = (Vec::new(), HashMap::new());
    while let Some(row) = rows.next()?.filter(|_| free.len() < max) {
        let is_held = row.get::<_, Option<String>>(0)?.is_some() && {
            let (runner, lease_until) = (row.get(1)?, Timestamp(row.get(2)?));
            // A process may hold thousands; it is asked for once.
            let lives = |runner: &String| context.liveness.is_alive(runner);
            lease_until > context.now() && *living.entry(runner).or_insert_with_key(lives)
        };
        let id: Option<DiscussionId> = row.get::<_, String>(3)?.parse().ok();
        free.extend(id.filter(|_| !is_held));
    }
    Ok(free)
}

fn take(
    context: &mut WriteContext,
    id: DiscussionId,
    cached: Cached,
    claimant: &Claimant,
) -> Result<Claim, Trouble> {
    let (holder, fence) = (claimant.as_holder(context), cached.fence + 1);
    let mut statement = context.connection.prepare_cached(
        "UPDATE discussions SET fence = ?2, owner = ?3, runner = ?4, lease_until = ?5 WHERE number = ?1",
    )?;
    let lease_until = holder.lease_until.0;
    statement.execute(params![cached.number, fence as i64, holder.owner, holder.runner, lease_until])?;
    drop(statement);
    context.learn(id, Cached { fence, holder: Some(holder), ..cached });
    Ok(Claim { id, owner: claimant.owner.to_string(), fence })
}

/// Prolongs these; returns those that are another's by now, or nobody's. One whose lease ran out is still good as long
/// as nobody else came.
pub(crate) fn extend(
    context: &mut WriteContext,
    claims: &[Claim],
    lease_ms: u64,
) -> Result<Vec<Claim>, Trouble> {
    let lease_until = context.now().plus_ms(lease_ms);
    let mut lost = Vec::new();
    for claim in claims {
        let Some((cached, holder)) = held(context, claim)? else {
            lost.push(claim.clone());
            continue;
        };
        let sql = "UPDATE discussions SET lease_until = ?2 WHERE number = ?1";
        context.connection.prepare_cached(sql)?.execute([cached.number, lease_until.0])?;
        context.learn(claim.id, Cached { holder: Some(Holder { lease_until, ..holder }), ..cached });
    }
    Ok(lost)
}

/// Gives a claim back; one that is gone already is left alone.
pub(crate) fn release(context: &mut WriteContext, claim: &Claim) -> Result<(), Trouble> {
    let Some((cached, _)) = held(context, claim)? else { return Ok(()) };
    let sql = "UPDATE discussions SET owner = NULL, runner = NULL, lease_until = NULL WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute([cached.number])?;
    context.learn(claim.id, Cached { holder: None, ..cached });
    Ok(())
}

/// The claimed discussion and who has it, if it is still this claim.
fn held(context: &mut WriteContext, claim: &Claim) -> Result<Option<(Cached, Holder)>, Trouble> {
    let Some(cached) = context.find(claim.id)?.filter(|cached| cached.is_held_by(claim)) else {
        return Ok(None);
    };
    Ok(cached.holder.clone().map(|holder| (cached, holder)))
}
