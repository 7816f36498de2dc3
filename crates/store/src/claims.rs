//! Claims: which process runs which discussion.

use std::{collections::HashMap, sync::Arc};

use quorum_core::{
    model::{id::DiscussionId, time::Timestamp},
    seams::{Claim, Created, StoreError},
};
use rusqlite::params;

use crate::{
    cache::{Cached, Holder},
    error::JobError,
    record::{self, Opening},
    write_context::WriteContext,
};

/// A process that claims discussions, and its lease time.
pub(crate) struct Claimant {
    pub(crate) owner: Arc<str>,
    pub(crate) lease_ms: u64,
}

impl Claimant {
    /// The holder that this claimant becomes now.
    pub(crate) fn as_holder(&self, context: &WriteContext) -> Holder {
        let (owner, runner) = (self.owner.clone(), context.liveness.name.clone());
        Holder { owner, runner, lease_until: context.now().plus_ms(self.lease_ms) }
    }
}

/// Creates a discussion like [`record::create`] and claims it; `None` if it exists already.
pub(crate) fn begin(
    context: &mut WriteContext,
    opening: &Opening,
    claimant: &Claimant,
) -> Result<Option<Claim>, JobError> {
    context.liveness.sweep_once();
    match record::create(context, opening, Some(claimant))? {
        Created::New => Ok(Some(Claim { id: opening.id, owner: claimant.owner.to_string(), fence: 1 })),
        Created::Existed => Ok(None),
    }
}

/// The living owner of a discussion, if any.
pub(crate) fn holder(context: &mut WriteContext, id: DiscussionId) -> Result<Option<Arc<str>>, JobError> {
    let Some(holder) = context.root(id)?.holder else { return Ok(None) };
    let holds = holder.lease_until > context.now() && context.liveness.is_alive(&holder.runner);
    Ok(holds.then_some(holder.owner))
}

/// Claims one discussion, unless a living process has it.
pub(crate) fn claim(
    context: &mut WriteContext,
    id: DiscussionId,
    claimant: &Claimant,
) -> Result<Claim, JobError> {
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
    write_claim(context, id, cached, claimant)
}

/// Claims the oldest runnable discussions that nobody has.
pub(crate) fn claim_any(
    context: &mut WriteContext,
    max: usize,
    claimant: &Claimant,
) -> Result<Vec<Claim>, JobError> {
    context.liveness.sweep();
    let mut claims = Vec::new();
    for id in find_free(context, max)? {
        let cached = context.root(id)?;
        claims.push(write_claim(context, id, cached, claimant)?);
    }
    Ok(claims)
}

fn find_free(context: &WriteContext, max: usize) -> Result<Vec<DiscussionId>, JobError> {
    let mut statement = context.connection.prepare_cached(
        "SELECT owner, runner, lease_until, id FROM discussions WHERE root = id AND run = 'runnable'
         ORDER BY opened_at, id",
    )?;
    let mut rows = statement.query([])?;
    let (mut free, mut living) = (Vec::new(), HashMap::new());
    while let Some(row) = rows.next()?.filter(|_| free.len() < max) {
        let is_held = row.get::<_, Option<String>>(0)?.is_some() && {
            let (runner, lease_until) = (row.get(1)?, Timestamp(row.get(2)?));
            // A process may hold thousands of claims; check it once.
            let lives = |runner: &String| context.liveness.is_alive(runner);
            lease_until > context.now() && *living.entry(runner).or_insert_with_key(lives)
        };
        let id: Option<DiscussionId> = row.get::<_, String>(3)?.parse().ok();
        free.extend(id.filter(|_| !is_held));
    }
    Ok(free)
}

fn write_claim(
    context: &mut WriteContext,
    id: DiscussionId,
    cached: Cached,
    claimant: &Claimant,
) -> Result<Claim, JobError> {
    let (holder, fence) = (claimant.as_holder(context), cached.fence + 1);
    let mut statement = context.connection.prepare_cached(
        "UPDATE discussions SET fence = ?2, owner = ?3, runner = ?4, lease_until = ?5 WHERE number = ?1",
    )?;
    let lease_until = holder.lease_until.0;
    statement.execute(params![cached.number, fence as i64, holder.owner, holder.runner, lease_until])?;
    drop(statement);
    context.cache(id, Cached { fence, holder: Some(holder), ..cached });
    Ok(Claim { id, owner: claimant.owner.to_string(), fence })
}

/// Extends the leases of these claims. Returns the claims that are lost. An expired lease stays
/// valid until another owner claims the discussion.
pub(crate) fn extend(
    context: &mut WriteContext,
    claims: &[Claim],
    lease_ms: u64,
) -> Result<Vec<Claim>, JobError> {
    let lease_until = context.now().plus_ms(lease_ms);
    let mut lost = Vec::new();
    for claim in claims {
        let Some((cached, holder)) = find_held(context, claim)? else {
            lost.push(claim.clone());
            continue;
        };
        let sql = "UPDATE discussions SET lease_until = ?2 WHERE number = ?1";
        context.connection.prepare_cached(sql)?.execute([cached.number, lease_until.0])?;
        context.cache(claim.id, Cached { holder: Some(Holder { lease_until, ..holder }), ..cached });
    }
    Ok(lost)
}

/// Releases a claim, if it is still valid.
pub(crate) fn release(context: &mut WriteContext, claim: &Claim) -> Result<(), JobError> {
    let Some((cached, _)) = find_held(context, claim)? else { return Ok(()) };
    end(context, claim.id, cached)
}

/// Ends the claim of a discussion, if there is one.
pub(crate) fn end(context: &mut WriteContext, id: DiscussionId, cached: Cached) -> Result<(), JobError> {
    let sql = "UPDATE discussions SET owner = NULL, runner = NULL, lease_until = NULL WHERE number = ?1";
    context.connection.prepare_cached(sql)?.execute([cached.number])?;
    context.cache(id, Cached { holder: None, ..cached });
    Ok(())
}

/// The claimed discussion and its holder, if the claim is still valid.
fn find_held(context: &mut WriteContext, claim: &Claim) -> Result<Option<(Cached, Holder)>, JobError> {
    let Some(cached) = context.find(claim.id)?.filter(|cached| cached.is_held_by(claim)) else {
        return Ok(None);
    };
    Ok(cached.holder.clone().map(|holder| (cached, holder)))
}
