//! The budget of an evaluation: each discussion reserves what it may cost at most before it starts.

use std::sync::{Mutex, PoisonError};

use quorum_core::model::{
    money::Usd,
    spec::{Limits, Spec},
};

use super::{Evaluation, Job, Stopped, plan};
use crate::{Error, Scope};

/// What was spent and reserved.
pub(crate) struct Budget {
    most: Option<Usd>,
    /// What a discussion of each protocol may cost; the last is that of the first answers.
    each: Vec<Usd>,
    state: Mutex<Spending>,
}

#[derive(Debug, Default)]
struct Spending {
    spent: Usd,
    reserved: Usd,
    is_short: bool,
}

impl Budget {
    /// The budget of this evaluation. Where there is no limit, nothing has to be known beforehand.
    pub(super) async fn of(evaluation: &Evaluation, scope: &Scope) -> Result<Budget, Error> {
        let most = evaluation.max_cost.and_then(Usd::from_dollars);
        let each = if most.is_some() { plan::dearest(evaluation, scope).await? } else { Vec::new() };
        Ok(Budget { most, each, state: Mutex::default() })
    }

    /// Reserves what this discussion may cost; `None` if the budget has no room for it.
    pub(super) fn reserve(&self, job: &Job) -> Option<Usd> {
        let Some(most) = self.most else { return Some(Usd::ZERO) };
        let place = job.protocol.unwrap_or(self.each.len().saturating_sub(1));
        let cost = self.each.get(place).copied().unwrap_or_default();
        let mut state = self.lock();
        if state.spent + state.reserved + cost > most {
            state.is_short = true;
            return None;
        }
        state.reserved += cost;
        Some(cost)
    }

    /// The order with what was reserved as its limit.
    pub(super) fn limited(&self, spec: Spec, reserved: Usd) -> Spec {
        if self.most.is_none() || reserved == Usd::ZERO {
            return spec;
        }
        Spec { limits: Limits { usd: Some(reserved), ..spec.limits }, ..spec }
    }

    /// Counts what a discussion has cost in place of what was reserved for it.
    pub(super) fn settle(&self, reserved: Usd, spent: Usd) {
        let mut state = self.lock();
        state.reserved = state.reserved.less(reserved);
        state.spent += spent;
    }

    /// Gives back what was reserved.
    pub(super) fn release(&self, reserved: Usd) {
        self.settle(reserved, Usd::ZERO);
    }

    /// What was spent, in USD.
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
