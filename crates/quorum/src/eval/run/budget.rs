//! The budget of an evaluation: each discussion reserves what it may cost at most before it starts.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use quorum_core::model::{
    id::DiscussionId,
    money::Usd,
    spec::{Limits, Spec},
};
use tokio::sync::Notify;
use uuid::Uuid;

use super::{Evaluation, Job, Stopped, plan};
use crate::{Error, Scope};

/// The amounts spent and reserved.
pub(crate) struct Budget {
    most: Option<Usd>,
    /// The maximum cost of a discussion of each protocol; the last is that of the first answers.
    each: Vec<Usd>,
    /// What earlier processes spent on each discussion. It counts from the beginning: most of it
    /// would otherwise be found only after other discussions have reserved their part.
    earlier: BTreeMap<DiscussionId, Usd>,
    state: Mutex<Spending>,
    /// Notified whenever a reservation is given back.
    freed: Notify,
}

#[derive(Debug, Default)]
struct Spending {
    spent: Usd,
    reserved: Usd,
    is_short: bool,
}

impl Budget {
    /// The budget of this evaluation. Without a limit, no costs have to be known beforehand.
    pub(super) async fn of(evaluation: &Evaluation, scope: &Scope) -> Result<Budget, Error> {
        let most = evaluation.max_cost.and_then(Usd::from_dollars);
        let (each, earlier) = match most {
            Some(_) => (plan::max_costs(evaluation, scope).await?, spent_earlier(evaluation, scope).await?),
            None => (Vec::new(), BTreeMap::new()),
        };
        Ok(Budget::new(most, each, earlier))
    }

    fn new(most: Option<Usd>, each: Vec<Usd>, earlier: BTreeMap<DiscussionId, Usd>) -> Budget {
        let spent = earlier.values().fold(Usd::ZERO, |sum, it| sum + *it);
        let state = Mutex::new(Spending { spent, ..Spending::default() });
        Budget { most, each, earlier, state, freed: Notify::new() }
    }

    /// Whether there is a limit at all.
    pub(super) fn is_limited(&self) -> bool {
        self.most.is_some()
    }

    /// Reserves what this discussion may cost; `None` if the budget has no room for it.
    pub(super) async fn reserve(&self, job: &Job) -> Option<Usd> {
        let place = job.protocol.unwrap_or(self.each.len().saturating_sub(1));
        self.reserve_cost(self.each.get(place).copied().unwrap_or_default()).await
    }

    /// Reserves this amount; `None` if the budget has no room for it. Waits for other discussions,
    /// which may need less than they have reserved.
    pub(super) async fn reserve_cost(&self, cost: Usd) -> Option<Usd> {
        let Some(most) = self.most else { return Some(Usd::ZERO) };
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // From here on, no released reservation is missed.
            freed.as_mut().enable();
            {
                let mut state = self.lock();
                // Once a discussion has found no room, a cheaper one would only begin a question
                // that can't be finished.
                if state.is_short {
                    return None;
                }
                if state.spent + state.reserved + cost <= most {
                    state.reserved += cost;
                    return Some(cost);
                }
                if state.reserved == Usd::ZERO {
                    state.is_short = true;
                    return None;
                }
            }
            freed.await;
        }
    }

    /// The order with what was reserved as its limit.
    pub(super) fn limited(&self, spec: Spec, reserved: Usd) -> Spec {
        if self.most.is_none() || reserved == Usd::ZERO {
            return spec;
        }
        Spec { limits: Limits { usd: Some(reserved), ..spec.limits }, ..spec }
    }

    /// Counts what a discussion has cost in all, in place of what was reserved for it.
    pub(super) fn settle(&self, reserved: Usd, id: DiscussionId, spent: Usd) {
        let known = self.earlier.get(&id).copied().unwrap_or_default();
        let mut state = self.lock();
        state.reserved = state.reserved.less(reserved);
        state.spent += spent.less(known);
        drop(state);
        self.freed.notify_waiters();
    }

    /// Gives back what was reserved.
    pub(super) fn release(&self, reserved: Usd) {
        let mut state = self.lock();
        state.reserved = state.reserved.less(reserved);
        drop(state);
        self.freed.notify_waiters();
    }

    /// The amount spent, in USD.
    pub(super) fn spent(&self) -> f64 {
        self.lock().spent.dollars()
    }

    /// Whether something was not started for want of money.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.lock().is_short.then_some(Stopped::Budget)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spending> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cost of this evaluation's discussions so far.
async fn spent_earlier(evaluation: &Evaluation, scope: &Scope) -> Result<BTreeMap<DiscussionId, Usd>, Error> {
    let session = evaluation.session.as_deref().and_then(|it| it.parse::<Uuid>().ok());
    let Some(session) = session else { return Ok(BTreeMap::new()) };
    let mut spent = BTreeMap::new();
    for entry in scope.list(usize::MAX, Some(session)).await? {
        let state = scope.discussion(entry.discussion_id).await?.state().await?;
        spent.insert(entry.discussion_id, state.spent.usd);
    }
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn dollars(amount: f64) -> Usd {
        Usd::from_dollars(amount).expect("an amount")
    }

    #[tokio::test]
    async fn a_reservation_waits_for_those_that_may_need_less_than_they_reserved() {
        let budget = Budget::new(Some(dollars(1.0)), Vec::new(), BTreeMap::new());
        let id = DiscussionId::fresh();
        assert_eq!(budget.reserve_cost(dollars(0.8)).await, Some(dollars(0.8)));
        let mut second = Box::pin(budget.reserve_cost(dollars(0.8)));
        assert_eq!((&mut second).now_or_never(), None);
        budget.settle(dollars(0.8), id, dollars(0.1));
        assert_eq!((&mut second).now_or_never(), Some(Some(dollars(0.8))));
        assert_eq!(budget.stopped(), None);
        budget.settle(dollars(0.8), id, dollars(0.8));
        assert_eq!(budget.reserve_cost(dollars(0.2)).await, None);
        assert_eq!(budget.stopped(), Some(Stopped::Budget));
    }

    #[tokio::test]
    async fn what_earlier_processes_spent_counts_from_the_beginning_and_only_once() {
        let id = DiscussionId::fresh();
        let budget = Budget::new(Some(dollars(1.0)), Vec::new(), BTreeMap::from([(id, dollars(0.7))]));
        assert_eq!(budget.reserve_cost(dollars(0.4)).await, None);
        budget.settle(Usd::ZERO, id, dollars(0.75));
        assert!((budget.spent() - 0.75).abs() < 1e-9);
    }

    #[tokio::test]
    async fn without_a_limit_nothing_is_reserved() {
        let budget = Budget::new(None, Vec::new(), BTreeMap::new());
        assert_eq!(budget.reserve_cost(dollars(5.0)).await, Some(Usd::ZERO));
    }
}
