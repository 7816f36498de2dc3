//! Spending: what accounts spent each day, and what running discussions have set aside. Both are
//! changed in write transactions only, so that all processes share one count.

use std::ops::Range;

use quorum_core::{
    model::{
        account::{Account, CapStatus, Caps, UsedOfCap, day_of, granted},
        id::{DiscussionId, Seq, Tenant},
        money::Usd,
        state::State,
        time::Timestamp,
    },
    seams::{Claim, Draw, Drawn, StoreError},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{cache::parsed, claims, error::JobError, record, write_context::WriteContext};

/// The amount that a discussion has set aside.
struct Allowance {
    account: Account,
    day: i64,
    base: Usd,
    amount: Usd,
    fence: u64,
}

/// Sets money aside for a claimed discussion, or returns the cap that has no room for it.
pub(crate) fn draw(context: &mut WriteContext, draw: &Draw) -> Result<Drawn, JobError> {
    let Draw { claim, account, at, settled, target, .. } = draw;
    let id = claim.id;
    if !context.find(id)?.is_some_and(|cached| cached.is_held_by(claim)) {
        return Err(StoreError::Fenced(id).into());
    }
    let (day, fence, found) = (day_of(*at), claim.fence, find(&context.connection, id)?);
    let is_current = |it: &Allowance| it.day == day && it.fence == fence && it.account == *account;
    let (current, closing) = match found {
        Some(it) if is_current(&it) => (Some(it), None),
        other => (None, other),
    };
    let (base, amount) = current.map_or((*settled, Usd::ZERO), |it| (it.base, it.amount));
    let needed = target.less(base).less(amount);
    let mut grant = granted(&statuses(&context.connection, draw, closing.as_ref())?, needed, *at);
    if grant.is_err() {
        settle_dead(context, account, Some(id))?;
        grant = granted(&statuses(&context.connection, draw, closing.as_ref())?, needed, *at);
    }
    let more = match grant {
        Ok(more) => more,
        Err(reached) => return Ok(Drawn::Short(reached)),
    };
    if closing.is_some() {
        close(&context.connection, id, *settled)?;
    }
    let allowance = Allowance { account: account.clone(), day, base, amount: amount + more, fence };
    write(&context.connection, id, &allowance)?;
    Ok(Drawn::UpTo(base + allowance.amount))
}

/// The caps as they would be after settling the discussion's earlier allowance.
fn statuses(
    connection: &Connection,
    draw: &Draw,
    closing: Option<&Allowance>,
) -> rusqlite::Result<Vec<CapStatus>> {
    CapStatus::each(&draw.caps, draw.at, |days| {
        let mut used = used(connection, &draw.account, &days)?;
        if let Some(it) = closing.filter(|it| it.account == draw.account && days.contains(&it.day)) {
            used.spent += draw.settled.less(it.base);
            used.reserved = used.reserved.less(it.amount);
        }
        Ok(used)
    })
}

/// Counts what was spent under this claim, and gives back the rest.
pub(crate) fn settle(context: &mut WriteContext, claim: &Claim, spent: Usd) -> Result<(), JobError> {
    if find(&context.connection, claim.id)?.is_some_and(|it| it.fence == claim.fence) {
        close(&context.connection, claim.id, spent)?;
    }
    Ok(())
}

/// The state of an account's caps, after settling the allowances of dead runs.
pub(crate) fn spending(
    context: &mut WriteContext,
    account: &Account,
    caps: &Caps,
    at: Timestamp,
) -> Result<Vec<CapStatus>, JobError> {
    settle_dead(context, account, None)?;
    Ok(cap_statuses(&context.connection, account, caps, at)?)
}

/// The same as it is stored, for a database that can't be written.
pub(crate) fn cap_statuses(
    connection: &Connection,
    account: &Account,
    caps: &Caps,
    at: Timestamp,
) -> rusqlite::Result<Vec<CapStatus>> {
    CapStatus::each(caps, at, |days| used(connection, account, &days))
}

fn used(connection: &Connection, account: &Account, days: &Range<i64>) -> rusqlite::Result<UsedOfCap> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT ifnull(sum(spent), 0) FROM spending
                 WHERE tenant = ?1 AND name = ?2 AND day >= ?3 AND day < ?4),
                (SELECT ifnull(sum(amount), 0) FROM allowances
                 WHERE tenant = ?1 AND name = ?2 AND day >= ?3 AND day < ?4)",
    )?;
    let Account { tenant, name } = account;
    statement.query_row(params![tenant.name(), name, days.start, days.end], |row| {
        Ok(UsedOfCap { spent: usd(row, 0)?, reserved: usd(row, 1)? })
    })
}

fn usd(row: &Row<'_>, column: usize) -> rusqlite::Result<Usd> {
    row.get(column).map(Usd::from_billionths)
}

fn find(connection: &Connection, id: DiscussionId) -> rusqlite::Result<Option<Allowance>> {
    let sql = "SELECT tenant, name, day, base, amount, fence FROM allowances WHERE discussion = ?1";
    let allowance = |row: &Row<'_>| {
        let account = Account { tenant: Tenant::named(row.get_ref(0)?.as_str()?), name: row.get(1)? };
        let (day, fence) = (row.get(2)?, row.get::<_, i64>(5)? as u64);
        Ok(Allowance { account, day, base: usd(row, 3)?, amount: usd(row, 4)?, fence })
    };
    connection.prepare_cached(sql)?.query_row([id.to_string()], allowance).optional()
}

fn write(connection: &Connection, id: DiscussionId, allowance: &Allowance) -> rusqlite::Result<()> {
    let Allowance { account: Account { tenant, name }, day, base, amount, fence } = allowance;
    let mut statement = connection.prepare_cached(
        "INSERT INTO allowances (discussion, tenant, name, day, base, amount, fence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (discussion) DO UPDATE SET amount = excluded.amount",
    )?;
    let (base, amount, fence) = (base.billionths(), amount.billionths(), *fence as i64);
    statement.execute(params![id.to_string(), tenant.name(), name, day, base, amount, fence]).map(drop)
}

/// Counts what was spent of an allowance and removes it.
fn close(connection: &Connection, id: DiscussionId, spent: Usd) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO spending (tenant, name, day, spent)
         SELECT tenant, name, day, max(?2 - base, 0) FROM allowances WHERE discussion = ?1
         ON CONFLICT (tenant, name, day) DO UPDATE SET spent = spent + excluded.spent",
    )?;
    count.execute(params![id.to_string(), spent.billionths()])?;
    let sql = "DELETE FROM allowances WHERE discussion = ?1";
    connection.prepare_cached(sql)?.execute([id.to_string()]).map(drop)
}

/// Settles the allowances of discussions without a living node, whose claims end, and those that
/// were drawn under an older claim.
fn settle_dead(
    context: &mut WriteContext,
    account: &Account,
    asking: Option<DiscussionId>,
) -> Result<(), JobError> {
    for (id, fence) in holders(&context.connection, account)? {
        let is_live = context.root(id)?.fence == fence && claims::holder(context, id)?.is_some();
        if Some(id) != asking && !is_live {
            settle_from_record(context, id)?;
        }
    }
    Ok(())
}

/// The discussions that have set money of the account aside, with the fences of their claims.
fn holders(connection: &Connection, account: &Account) -> rusqlite::Result<Vec<(DiscussionId, u64)>> {
    let sql = "SELECT discussion, fence FROM allowances WHERE tenant = ?1 AND name = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let holder = |row: &Row<'_>| Ok((parsed(row, 0)?, row.get::<_, i64>(1)? as u64));
    let rows = statement.query_map(params![account.tenant.name(), account.name], holder)?;
    rows.collect()
}

/// Settles an allowance by what the record says, and ends the claim it was drawn under: a run that
/// only seemed dead must not go on spending it.
pub(crate) fn settle_from_record(context: &mut WriteContext, id: DiscussionId) -> Result<(), JobError> {
    let Some(Allowance { fence, .. }) = find(&context.connection, id)? else { return Ok(()) };
    let spent = recorded(&context.connection, id)?;
    let cached = context.root(id)?;
    if cached.fence == fence {
        claims::end(context, id, cached)?;
    }
    Ok(close(&context.connection, id, spent)?)
}

/// What a discussion and everything below it spent, by their records.
fn recorded(connection: &Connection, root: DiscussionId) -> Result<Usd, JobError> {
    let mut statement = connection.prepare_cached("SELECT id FROM discussions WHERE root = ?1")?;
    let rows = statement.query_map([root.to_string()], |row| parsed::<DiscussionId>(row, 0))?;
    let tree: Vec<DiscussionId> = rows.collect::<Result<_, _>>()?;
    let mut sum = Usd::ZERO;
    for id in tree {
        let facts = record::read(connection, id, Seq::START, usize::MAX)?;
        sum += State::of(id, &facts).map(|state| state.spent_itself()).unwrap_or_default();
    }
    Ok(sum)
}
