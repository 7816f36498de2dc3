//! Spending in memory: what accounts spent each day, and what running discussions have reserved.

use std::ops::Range;

use crate::{
    memory::Contents,
    model::{
        account::{Account, CapStatus, Caps, UsedOfCap, day_of, granted},
        id::DiscussionId,
        money::Usd,
        time::Timestamp,
    },
    seams::{Claim, Draw, Drawn, StoreError},
};

/// The amount that a discussion has reserved.
pub(super) struct Allowance {
    account: Account,
    /// The day it counts on.
    day: i64,
    /// The amount that the discussion had spent when this began.
    base: Usd,
    /// How much is reserved beyond that.
    amount: Usd,
    /// The fence of the claim it was drawn under.
    fence: u64,
}

impl Contents {
    pub(super) fn draw(&mut self, draw: &Draw) -> Result<Drawn, StoreError> {
        let Draw { claim, account, at, settled, target, .. } = draw;
        if !self.holds(claim) {
            return Err(StoreError::Fenced(claim.id));
        }
        let (id, day, fence) = (claim.id, day_of(*at), claim.fence);
        let current = self.allowances.get(&id);
        let is_current = |it: &&Allowance| it.day == day && it.fence == fence && it.account == *account;
        let (base, amount) =
            current.filter(is_current).map_or((*settled, Usd::ZERO), |it| (it.base, it.amount));
        let closes = current.is_some_and(|it| !is_current(&it));
        let needed = target.less(base).less(amount);
        let grant = |contents: &Contents| granted(&contents.statuses_without(draw, closes), needed, *at);
        let more = match grant(self).or_else(|_| {
            self.settle_dead(account, Some(id));
            grant(self)
        }) {
            Ok(more) => more,
            Err(reached) => return Ok(Drawn::Short(reached)),
        };
        if closes {
            self.close(id, *settled);
        }
        let amount = amount + more;
        self.allowances.insert(id, Allowance { account: account.clone(), day, base, amount, fence });
        Ok(Drawn::UpTo(base + amount))
    }

    /// The caps as they would be if the discussion's earlier allowance were settled first.
    fn statuses_without(&self, draw: &Draw, closes: bool) -> Vec<CapStatus> {
        let closing = self.allowances.get(&draw.claim.id).filter(|_| closes);
        let used = |days: Range<i64>| {
            let mut used = self.used(&draw.account, &days);
            if let Some(it) = closing.filter(|it| it.account == draw.account && days.contains(&it.day)) {
                used.spent += draw.settled.less(it.base);
                used.reserved = used.reserved.less(it.amount);
            }
            Ok::<_, std::convert::Infallible>(used)
        };
        let Ok(statuses) = CapStatus::each(&draw.caps, draw.at, used);
        statuses
    }

    fn used(&self, account: &Account, days: &Range<i64>) -> UsedOfCap {
        let sum = |amounts: &mut dyn Iterator<Item = Usd>| amounts.fold(Usd::ZERO, |sum, it| sum + it);
        let spent = self.spending.iter().filter(|((it, day), _)| it == account && days.contains(day));
        let reserved = self.allowances.values().filter(|it| it.account == *account && days.contains(&it.day));
        UsedOfCap {
            spent: sum(&mut spent.map(|(_, usd)| *usd)),
            reserved: sum(&mut reserved.map(|it| it.amount)),
        }
    }

    pub(super) fn settle(&mut self, claim: &Claim, spent: Usd) {
        if self.allowances.get(&claim.id).is_some_and(|it| it.fence == claim.fence) {
            self.close(claim.id, spent);
        }
    }

    /// Counts what was spent of an allowance and gives back the rest.
    fn close(&mut self, id: DiscussionId, spent: Usd) {
        if let Some(Allowance { account, day, base, .. }) = self.allowances.remove(&id) {
            *self.spending.entry((account, day)).or_default() += spent.less(base);
        }
    }

    /// Settles the allowances of discussions without a living node, whose claims end, and those
    /// that were drawn under an older claim.
    fn settle_dead(&mut self, account: &Account, asking: Option<DiscussionId>) {
        let is_live = |id: &DiscussionId, fence: u64| {
            self.discussions.get(id).is_some_and(|it| it.fence == fence && it.is_held())
        };
        let is_dead = |(id, it): &(&DiscussionId, &Allowance)| {
            it.account == *account && Some(**id) != asking && !is_live(id, it.fence)
        };
        let dead: Vec<DiscussionId> = self.allowances.iter().filter(is_dead).map(|(id, _)| *id).collect();
        dead.into_iter().for_each(|id| self.settle_from_record(id));
    }

    /// Settles an allowance by what the record says, and ends the claim it was drawn under: a run
    /// that only seemed dead must not go on spending it.
    pub(super) fn settle_from_record(&mut self, id: DiscussionId) {
        let Some(fence) = self.allowances.get(&id).map(|it| it.fence) else { return };
        let tree = self.discussions.values().filter(|it| it.root_id() == id);
        let spent = tree.map(|it| it.state.spent_itself()).fold(Usd::ZERO, |sum, it| sum + it);
        if let Some(discussion) = self.discussions.get_mut(&id).filter(|it| it.fence == fence) {
            discussion.holder = None;
        }
        self.close(id, spent);
    }

    pub(super) fn cap_statuses(&mut self, account: &Account, caps: &Caps, at: Timestamp) -> Vec<CapStatus> {
        self.settle_dead(account, None);
        let used = |days: Range<i64>| Ok::<_, std::convert::Infallible>(self.used(account, &days));
        let Ok(statuses) = CapStatus::each(caps, at, used);
        statuses
    }
}
