//! Budgets as reservations: a call starts only if its worst case fits here and in every discussion
//! above, and into the allowance that the root has drawn from its account.

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

/// Why nothing can be reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Short {
    /// A budget is used up.
    Budget(WindUp),
    /// The root's allowance is used up, and may be raised.
    Allowance {
        /// The allowance needed in all: for this amount, and for what must still follow.
        target: Usd,
        /// How much of that is wanted now.
        wanted: Usd,
    },
}

#[derive(Debug, Default, Clone, Copy)]
struct Account {
    /// Spent or reserved.
    taken: Spent,
    /// How much of that is reserved for calls that have not ended.
    reserved: Usd,
    /// The most that may be taken, in the root of a discussion whose account has caps.
    allowance: Option<Usd>,
    /// Held back for deciding and concluding.
    kept: Spent,
    /// Held back from sub-discussions, for the rest of this discussion's own talk.
    own: Spent,
}

impl Ledger {
    /// A ledger of which this much is already used.
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

    /// Sets the most that may be taken in all. For a root, which alone has an allowance.
    pub fn allow(&self, allowance: Usd) {
        self.account().allowance = Some(allowance);
    }

    /// The amount spent, without reservations for calls that have not ended.
    #[must_use]
    pub fn settled(&self) -> Usd {
        let account = *self.account();
        account.taken.usd.less(account.reserved)
    }

    /// Reserves `wanted` here and in all ledgers above, or in none; the error names the budget that
    /// is short.
    pub fn reserve(&self, wanted: Spent) -> Result<(), Short> {
        self.reserve_beside(wanted, Spent::default())
    }

    /// Whether this much could be reserved now, as far as the budgets are concerned.
    #[must_use]
    pub fn has_room(&self, wanted: Spent) -> bool {
        let account = *self.account();
        let fits = self.fits(account.taken, wanted, account.kept).is_ok();
        fits && self.above.as_ref().is_none_or(|above| above.has_room(wanted))
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
    fn reserve_beside(&self, wanted: Spent, mut held: Spent) -> Result<(), Short> {
        // Lower ledgers are always locked before upper ones, so two discussions can't deadlock.
        let mut account = self.account();
        held += account.kept;
        self.fits(account.taken, wanted, held).map_err(Short::Budget)?;
        account.allows(wanted.usd, held.usd)?;
        if let Some(above) = &self.above {
            above.reserve_beside(wanted, above.with_own(held))?;
        }
        account.taken += wanted;
        account.reserved += wanted.usd;
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
            account.reserved = account.reserved.less(reserved.usd);
        }
        if let Some(above) = &self.above {
            above.settle(reserved, used);
        }
    }

    /// Makes the record the account of this discussion: nothing is reserved for it any more.
    pub fn reset(&self, recorded: Spent) {
        let before = {
            let mut account = self.account();
            let before = *account;
            (account.taken, account.reserved) = (recorded, Usd::ZERO);
            before
        };
        if let Some(above) = &self.above {
            above.correct(before, recorded);
        }
    }

    /// Replaces what a discussion below had taken and reserved with what it recorded.
    fn correct(&self, below: Account, recorded: Spent) {
        {
            let mut account = self.account();
            account.taken = account.taken.less(below.taken);
            account.taken += recorded;
            account.reserved = account.reserved.less(below.reserved);
        }
        if let Some(above) = &self.above {
            above.correct(below, recorded);
        }
    }

    /// The amounts spent or reserved.
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

impl Account {
    /// An amount of zero needs no allowance.
    fn allows(&self, wanted: Usd, held: Usd) -> Result<(), Short> {
        let target = self.taken.usd + held + wanted;
        match self.allowance {
            Some(allowance) if wanted > Usd::ZERO && target > allowance => {
                Err(Short::Allowance { target, wanted })
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(calls: u32) -> Spent {
        Spent { calls, ..Spent::default() }
    }

    fn out_of_calls(needed: u32, left: u32) -> Short {
        Short::Budget(WindUp::CallBudget { needed, left })
    }

    fn usd(dollars: f64) -> Usd {
        Usd::from_dollars(dollars).unwrap()
    }

    fn cost(dollars: f64) -> Spent {
        Spent { usd: usd(dollars), ..calls(1) }
    }

    #[test]
    fn s14_an_allowance_covers_every_level_and_what_the_decision_needs() {
        let root = Arc::new(Ledger::new(Limits::default(), cost(1.0), None));
        let child = Ledger::new(Limits::default(), Spent::default(), Some(root.clone()));
        root.allow(usd(1.0));
        root.keep_back(cost(0.5));
        let short = Short::Allowance { target: usd(1.75), wanted: usd(0.25) };
        assert_eq!(child.reserve(cost(0.25)), Err(short));
        assert_eq!(child.reserve(cost(0.0)), Ok(()), "what costs nothing needs none");
        root.allow(usd(1.75));
        assert_eq!(child.reserve(cost(0.25)), Ok(()));
        assert_eq!((root.taken().usd, root.settled()), (usd(1.25), usd(1.0)));
        child.settle(cost(0.25), cost(0.2));
        assert_eq!((root.taken().usd, root.settled()), (usd(1.2), usd(1.2)));
    }

    #[test]
    fn s14_a_reset_frees_what_was_reserved_below_and_nothing_else() {
        let root = Arc::new(Ledger::new(Limits::default(), cost(1.0), None));
        let child = Ledger::new(Limits::default(), Spent::default(), Some(root.clone()));
        assert_eq!((root.reserve(cost(0.25)), child.reserve(cost(0.5))), (Ok(()), Ok(())));
        child.reset(cost(0.125));
        assert_eq!((root.taken().usd, root.settled()), (usd(1.375), usd(1.125)));
    }

    #[test]
    fn inv_disc_620_a_child_reserves_in_every_ledger_above_or_in_none() {
        let limits = Limits { calls: Some(3), ..Limits::default() };
        let root = Arc::new(Ledger::new(limits, calls(1), None));
        let child = Ledger::new(Limits::default(), Spent::default(), Some(root.clone()));
        assert_eq!(child.reserve(calls(2)), Ok(()));
        assert_eq!(child.reserve(calls(1)), Err(out_of_calls(1, 0)));
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
        assert_eq!(child.reserve(calls(5)), Err(out_of_calls(5, 4)));
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
        assert_eq!(ledger.reserve(calls(1)), Err(out_of_calls(1, 0)));
        ledger.keep_back(calls(0));
        assert_eq!(ledger.reserve(calls(2)), Ok(()));
    }
}
