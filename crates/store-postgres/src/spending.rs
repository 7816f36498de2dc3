//! Spending: what accounts spent each day, and what running discussions have set aside. Changes to
//! one account are serialized across all nodes.

use std::{ops::Range, time::UNIX_EPOCH};

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
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError, record};

/// What a discussion has set aside.
struct Allowance {
    account: Account,
    day: i64,
    base: Usd,
    amount: Usd,
    fence: u64,
}

/// How far the clock of a node may differ from the database's, in microseconds.
const TRUSTED: i64 = 2_000_000;

/// Locks an account until the transaction ends. Returns the given time, corrected to the database's
/// clock, so that a day begins at the same time for all nodes.
async fn lock(connection: &mut Connection, account: &Account, at: Timestamp) -> Result<Timestamp, JobError> {
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended(
                   concat_ws('/', 'quorum account', current_schema(), length($1::text), $1::text, $2::text), 0)),
                   now_us()";
    let before = wall();
    let rows = connection.query(sql, &[&text(account.tenant.name()), &text(&account.name)]).await?;
    Ok(Timestamp(at.0.saturating_add(ahead(before, rows[0].get(1), wall()))))
}

/// This node's clock, in microseconds since 1970.
fn wall() -> i64 {
    let since = UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// How far the database's clock is ahead of this node's, in microseconds. `before` and `after` are
/// this node's times around the query that read `database`. 0 if the difference is small.
fn ahead(before: i64, database: i64, after: i64) -> i64 {
    let ahead = database - database.clamp(before, after.max(before));
    if ahead.abs() <= TRUSTED { 0 } else { ahead }
}

/// Sets money aside for a claimed discussion, or returns the cap that has no room for it.
pub(crate) async fn draw(connection: &mut Connection, draw: &Draw) -> Result<Drawn, JobError> {
    let at = lock(connection, &draw.account, draw.at).await?;
    let draw = &Draw { at, ..draw.clone() };
    let Draw { claim, account, settled, target, .. } = draw;
    let id = claim.id;
    check_claim(connection, claim).await?;
    let (day, fence, found) = (day_of(at), claim.fence, find(connection, id).await?);
    let is_current = |it: &Allowance| it.day == day && it.fence == fence && it.account == *account;
    let (current, closing) = match found {
        Some(it) if is_current(&it) => (Some(it), None),
        other => (None, other),
    };
    let (base, amount) = current.map_or((*settled, Usd::ZERO), |it| (it.base, it.amount));
    let needed = target.less(base).less(amount);
    let mut grant = granted(&statuses(connection, draw, closing.as_ref()).await?, needed, at);
    if grant.is_err() {
        settle_dead(connection, account, Some(id)).await?;
        grant = granted(&statuses(connection, draw, closing.as_ref()).await?, needed, at);
    }
    let more = match grant {
        Ok(more) => more,
        Err(reached) => return Ok(Drawn::Short(reached)),
    };
    if closing.is_some() {
        close(connection, id, *settled).await?;
    }
    let allowance = Allowance { account: account.clone(), day, base, amount: amount + more, fence };
    write(connection, id, &allowance).await?;
    Ok(Drawn::UpTo(base + allowance.amount))
}

/// Fails unless the claim is the newest; it stays so until the transaction ends.
async fn check_claim(connection: &mut Connection, claim: &Claim) -> Result<(), JobError> {
    let sql = "SELECT 1 FROM discussions WHERE id = $1 AND fence = $2 AND node = $3 FOR SHARE";
    let (id, fence, node) = (Uuid::from(claim.id), claim.fence as i64, Uuid::from(claim.node));
    let found = connection.query_opt(sql, &[&id, &fence, &node]).await?;
    found.map(drop).ok_or(JobError::Refused(StoreError::Fenced(claim.id)))
}

/// The caps as they would be if what the discussion has set aside before were settled first.
async fn statuses(
    connection: &mut Connection,
    draw: &Draw,
    closing: Option<&Allowance>,
) -> Result<Vec<CapStatus>, JobError> {
    let days = days_of(&draw.caps, draw.at);
    let mut all = used(connection, &draw.account, &days).await?;
    if let Some(it) = closing.filter(|it| it.account == draw.account) {
        for (used, _) in all.iter_mut().zip(&days).filter(|(_, days)| days.contains(&it.day)) {
            used.spent += draw.settled.less(it.base);
            used.reserved = used.reserved.less(it.amount);
        }
    }
    Ok(in_order(&draw.caps, draw.at, all))
}

/// The days that each cap covers.
fn days_of(caps: &Caps, at: Timestamp) -> Vec<Range<i64>> {
    caps.each().map(|(period, _)| period.days(at)).collect()
}

/// The state of the caps, given what was used of each.
fn in_order(caps: &Caps, at: Timestamp, used: Vec<UsedOfCap>) -> Vec<CapStatus> {
    let mut used = used.into_iter();
    let nothing = || UsedOfCap { spent: Usd::ZERO, reserved: Usd::ZERO };
    let each =
        CapStatus::each(caps, at, |_| Ok::<_, std::convert::Infallible>(used.next().unwrap_or_else(nothing)));
    each.unwrap_or_else(|never| match never {})
}

/// Counts what was spent under this claim, and gives back the rest.
pub(crate) async fn settle(connection: &mut Connection, claim: &Claim, spent: Usd) -> Result<(), JobError> {
    if find(connection, claim.id).await?.is_some_and(|it| it.fence == claim.fence) {
        close(connection, claim.id, spent).await?;
    }
    Ok(())
}

/// The state of an account's caps, once allowances of the dead are settled.
pub(crate) async fn spending(
    connection: &mut Connection,
    account: &Account,
    caps: &Caps,
    at: Timestamp,
) -> Result<Vec<CapStatus>, JobError> {
    let at = lock(connection, account, at).await?;
    settle_dead(connection, account, None).await?;
    let all = used(connection, account, &days_of(caps, at)).await?;
    Ok(in_order(caps, at, all))
}

async fn used(
    connection: &mut Connection,
    account: &Account,
    days: &[Range<i64>],
) -> Result<Vec<UsedOfCap>, JobError> {
    let sql = "SELECT (SELECT coalesce(sum(spent), 0)::bigint FROM spending
                       WHERE tenant = $1 AND name = $2 AND day >= $3 AND day < $4),
                      (SELECT coalesce(sum(amount), 0)::bigint FROM allowances
                       WHERE tenant = $1 AND name = $2 AND day >= $3 AND day < $4)";
    let (tenant, name) = (text(account.tenant.name()), text(&account.name));
    let mut all = Vec::new();
    for Range { start, end } in days {
        let row = connection.query(sql, &[&tenant, &name, start, end]).await?.remove(0);
        let usd = |column| Usd::from_billionths(row.get::<_, i64>(column));
        all.push(UsedOfCap { spent: usd(0), reserved: usd(1) });
    }
    Ok(all)
}

async fn find(connection: &mut Connection, id: DiscussionId) -> Result<Option<Allowance>, JobError> {
    let sql =
        "SELECT tenant, name, day, base, amount, fence FROM allowances WHERE discussion = $1 FOR UPDATE";
    let row = connection.query_opt(sql, &[&Uuid::from(id)]).await?;
    Ok(row.map(|row| Allowance {
        account: Account { tenant: Tenant::named(row.get(0)), name: row.get(1) },
        day: row.get(2),
        base: Usd::from_billionths(row.get::<_, i64>(3)),
        amount: Usd::from_billionths(row.get::<_, i64>(4)),
        fence: row.get::<_, i64>(5) as u64,
    }))
}

async fn write(connection: &mut Connection, id: DiscussionId, allowance: &Allowance) -> Result<(), JobError> {
    let Allowance { account: Account { tenant, name }, day, base, amount, fence } = allowance;
    let sql = "INSERT INTO allowances (discussion, tenant, name, day, base, amount, fence)
               VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT (discussion) DO UPDATE SET amount = excluded.amount";
    let (base, amount, fence) = (base.billionths(), amount.billionths(), *fence as i64);
    let (tenant, name) = (text(tenant.name()), text(name));
    connection.execute(sql, &[&Uuid::from(id), &tenant, &name, day, &base, &amount, &fence]).await?;
    Ok(())
}

/// Counts what was spent of an allowance and removes it.
async fn close(connection: &mut Connection, id: DiscussionId, spent: Usd) -> Result<(), JobError> {
    let sql =
        "WITH closed AS (DELETE FROM allowances WHERE discussion = $1 RETURNING tenant, name, day, base)
               INSERT INTO spending (tenant, name, day, spent)
               SELECT tenant, name, day, greatest($2::bigint - base, 0) FROM closed
               ON CONFLICT (tenant, name, day) DO UPDATE SET spent = spending.spent + excluded.spent";
    connection.execute(sql, &[&Uuid::from(id), &spent.billionths()]).await?;
    Ok(())
}

/// Settles the allowances of discussions without a living node, and those that were drawn under an
/// older claim.
async fn settle_dead(
    connection: &mut Connection,
    account: &Account,
    asking: Option<DiscussionId>,
) -> Result<(), JobError> {
    let sql = "SELECT a.discussion FROM allowances a LEFT JOIN discussions d ON d.id = a.discussion
               WHERE a.tenant = $1 AND a.name = $2 AND (d.id IS NULL OR d.fence <> a.fence OR d.node IS NULL)
               ORDER BY a.discussion";
    for row in connection.query(sql, &[&text(account.tenant.name()), &text(&account.name)]).await? {
        let id: DiscussionId = row.get::<_, Uuid>(0).into();
        if Some(id) != asking {
            settle_from_record(connection, id).await?;
        }
    }
    Ok(())
}

/// Settles an allowance by what the record says. The claim it was drawn under has ended, so a run
/// that only seemed dead can't go on spending it.
pub(crate) async fn settle_from_record(
    connection: &mut Connection,
    id: DiscussionId,
) -> Result<(), JobError> {
    if find(connection, id).await?.is_none() {
        return Ok(());
    }
    let spent = recorded(connection, id).await?;
    close(connection, id, spent).await
}

/// What a discussion and everything below it spent, by their records.
async fn recorded(connection: &mut Connection, root: DiscussionId) -> Result<Usd, JobError> {
    let rows = connection.query("SELECT id FROM discussions WHERE root = $1", &[&Uuid::from(root)]).await?;
    let mut sum = Usd::ZERO;
    for row in rows {
        let id: DiscussionId = row.get::<_, Uuid>(0).into();
        let facts = record::read(connection, id, Seq::START, usize::MAX).await?;
        sum += State::of(id, &facts).map(|state| state.spent_itself()).unwrap_or_default();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_corrected_only_if_a_clock_is_wrong() {
        const SECOND: i64 = 1_000_000;
        let check = |before, database, after, expected| {
            let [before, database, after] = [before, database, after].map(|it: i64| it * SECOND);
            assert_eq!(ahead(before, database, after), expected * SECOND, "{before} {database} {after}");
        };
        check(100, 100, 100, 0);
        check(100, 102, 100, 0);
        check(100, 98, 100, 0);
        // The account was locked by another transaction for a while.
        check(100, 109, 109, 0);
        check(100, 7_309, 109, 7_200);
        check(100, -7_100, 109, -7_200);
        // This node's clock was set back meanwhile.
        check(7_300, 100, 100, -7_200);
    }
}
