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
    /// Held back from sub-discussions, for the rest of this discussion's own talk.
    own: Spent,
}

impl Ledger {
    /// A ledger of which so much is already used.
    #[must_use]
    pub fn new(limits: Limits, taken: Spent, above: Option<Arc<Ledger>>) -> Self {
        Ledger { limits, account: Mutex::new(Account { taken, ..Account::default() }), above }
    }

    /// Sets how much to hold back for deciding and concluding.
    pub fn keep_back(&self, kept: Spent) {
        self.account().kept = kept;
    }

    /// Sets how much of this discussion's own talk is still to come; sub-discussions can't have it.
    pub fn keep_from_below(&self, own: Spent) {
        self.account().own = own;
    }

    /// Reserves `wanted` here and in all ledgers above, or in none; the error names the budget that
    /// is short.
    pub fn reserve(&self, wanted: Spent) -> Result<(), WindUp> {
        self.take(wanted, Spent::default())
    }

    /// Whether a sub-discussion could reserve this much now.
    #[must_use]
    pub fn has_room_below(&self, wanted: Spent) -> bool {
        let account = *self.account();
        let mut held = account.kept;
        held += account.own;
        let fits = self.fits(account.taken, wanted, held).is_ok();
        fits && self.above.as_ref().is_none_or(|above| above.has_room_below(wanted))
    }

    /// Reserves `wanted` and leaves `held` for what must still follow.
    fn take(&self, wanted: Spent, mut held: Spent) -> Result<(), WindUp> {
        // Lower ledgers are always locked before upper ones, so two discussions can't deadlock.
        let mut account = self.account();
        held += account.kept;
        self.fits(account.taken, wanted, held)?;
        if let Some(above) = &self.above {
            above.take(wanted, above.with_own(held))?;
        }
        account.taken += wanted;
        Ok(())
    }

    fn with_own(&self, mut held: Spent) -> Spent {
        held += self.account().own;
        held
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

    fn fits(&self, taken: Spent, wanted: Spent, held: Spent) -> Result<(), WindUp> {
        let Limits { calls, tokens, usd, .. } = self.limits;
        let limit = Spent {
            calls: calls.unwrap_or(u32::MAX),
            tokens: tokens.unwrap_or(u64::MAX),
            usd: usd.unwrap_or(Usd::MAX),
        };
        let left = limit.less(taken).less(held);
        if calls.is_some() && wanted.calls > left.calls {
            return Err(WindUp::CallBudget { needed: wanted.calls, left: left.calls });
        }
        if tokens.is_some() && wanted.tokens > left.tokens {
            return Err(WindUp::TokenBudget { needed: wanted.tokens, left: left.tokens });
        }
        if usd.is_some() && wanted.usd > left.usd {
            return Err(WindUp::CostBudget { needed: wanted.usd, left: left.usd });
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
        assert_eq!(child.reserve(calls(1)), Err(WindUp::CallBudget { needed: 1, left: 0 }));
        assert_eq!((root.taken(), child.taken()), (calls(3), calls(2)));
    }

    #[test]
    fn a_child_leaves_what_the_talk_and_the_decisions_above_and_its_own_need() {
        let limits = Limits { calls: Some(10), ..Limits::default() };
        let root = Arc::new(Ledger::new(limits, calls(1), None));
        root.keep_back(calls(1));
        root.keep_from_below(calls(3));
        let child = Ledger::new(limits, Spent::default(), Some(root.clone()));
        child.keep_back(calls(1));
        assert!(root.has_room_below(calls(5)) && !root.has_room_below(calls(6)));
        assert_eq!(child.reserve(calls(5)), Err(WindUp::CallBudget { needed: 5, left: 4 }));
        assert_eq!(child.reserve(calls(4)), Ok(()));
        child.keep_back(calls(0));
        assert_eq!(child.reserve(calls(1)), Ok(()));
        assert_eq!(root.reserve(calls(3)), Ok(()), "what the root kept for its own talk");
    }

    #[test]
    fn held_back_calls_are_not_available_to_the_talk() {
        let ledger = Ledger::new(Limits { calls: Some(3), ..Limits::default() }, Spent::default(), None);
        ledger.keep_back(calls(2));
        assert_eq!(ledger.reserve(calls(1)), Ok(()));
        assert_eq!(ledger.reserve(calls(1)), Err(WindUp::CallBudget { needed: 1, left: 0 }));
        ledger.keep_back(calls(0));
        assert_eq!(ledger.reserve(calls(2)), Ok(()));
    }
}
