//! Budgets as reservations: a call starts only if its worst case fits here and in every discussion
//! above.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{
    event::WindUp,
    money::{Spent, Usd},
    spec::Limits,
};

/// The budget account of one discussion. Its reservations also count in every ledger above it.
#[derive(Debug)]
pub struct Ledger {
    limits: Limits,
    account: Mutex<Account>,
    above: Option<Arc<Ledger>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Account {
    /// Spent or reserved.
    taken: Spent,
    /// Held back for deciding and concluding.
    kept: Spent,
}

impl Ledger {
    /// A ledger of which so much is already used.
    #[must_use]
    pub fn new(limits: Limits, taken: Spent, above: Option<Arc<Ledger>>) -> Self {
        Ledger { limits, account: Mutex::new(Account { taken, kept: Spent::default() }), above }
    }

    /// Sets how much to hold back for deciding and concluding.
    pub fn keep_back(&self, kept: Spent) {
        self.account().kept = kept;
    }

    /// Reserves `wanted` here and in all ledgers above, or in none; the error names the budget that
    /// is short.
    pub fn reserve(&self, wanted: Spent) -> Result<(), WindUp> {
        // Lower ledgers are always locked before upper ones, so two discussions can't deadlock.
        let mut account = self.account();
        let mut all = wanted;
        all += account.taken;
        all += account.kept;
        self.fits(all)?;
        if let Some(above) = &self.above {
            above.reserve(wanted)?;
        }
        account.taken += wanted;
        Ok(())
    }

    /// Replaces a reservation with the actual usage, which may be larger.
    pub fn settle(&self, reserved: Spent, used: Spent) {
        {
            let mut account = self.account();
            account.taken = account.taken.less(reserved);
            account.taken += used;
        }
        if let Some(above) = &self.above {
            above.settle(reserved, used);
        }
    }

    /// What is spent or reserved.
    #[must_use]
    pub fn taken(&self) -> Spent {
        self.account().taken
    }

    fn fits(&self, all: Spent) -> Result<(), WindUp> {
        if self.limits.calls.is_some_and(|limit| all.calls > limit) {
            return Err(WindUp::CallBudget);
        }
        if self.limits.tokens.is_some_and(|limit| all.tokens > limit) {
            return Err(WindUp::TokenBudget);
        }
        if self.limits.usd.is_some_and(|limit: Usd| all.usd > limit) {
            return Err(WindUp::CostBudget);
        }
        Ok(())
    }

    fn account(&self) -> std::sync::MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(calls: u32) -> Spent {
        Spent { calls, ..Spent::default() }
    }

    #[test]
    fn inv_disc_620_a_child_reserves_in_every_ledger_above_or_in_none() {
        let limits = Limits { calls: Some(3), ..Limits::default() };
        let root = Arc::new(Ledger::new(limits, calls(1), None));
        let child = Ledger::new(Limits::default(), Spent::default(), Some(root.clone()));
        assert_eq!(child.reserve(calls(2)), Ok(()));
        assert_eq!(child.reserve(calls(1)), Err(WindUp::CallBudget));
        assert_eq!((root.taken(), child.taken()), (calls(3), calls(2)));
    }

    #[test]
    fn held_back_calls_are_not_available_to_the_talk() {
        let ledger = Ledger::new(Limits { calls: Some(3), ..Limits::default() }, Spent::default(), None);
        ledger.keep_back(calls(2));
        assert_eq!(ledger.reserve(calls(1)), Ok(()));
        assert_eq!(ledger.reserve(calls(1)), Err(WindUp::CallBudget));
        ledger.keep_back(calls(0));
        assert_eq!(ledger.reserve(calls(2)), Ok(()));
    }
}
