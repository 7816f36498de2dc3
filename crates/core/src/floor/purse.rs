//! The money that a discussion may spend under its account's caps: it is drawn from the store in
//! slices, before the calls that need it, and what is left is given back when the run ends.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Mutex;

use crate::{
    call::ledger::{Ledger, Short},
    floor::{Floor, services::Services},
    model::{
        account::{Account, CapReached, Caps},
        event::WindUp,
        money::{Spent, Usd},
    },
    record::{Record, failure::Failure, feed::Feed, retry_store::patiently},
    seams::{Claim, Draw, Drawn, StoreError},
};

/// The purse of a root, shared with all discussions below it.
pub(crate) struct Purse {
    services: Arc<Services>,
    account: Account,
    caps: Caps,
    claim: Claim,
    feed: Feed,
    /// The ledger of the root.
    ledger: Arc<Ledger>,
    /// One draw at a time, so that two of them don't both ask for what the first brings.
    drawing: Mutex<()>,
    has_drawn: AtomicBool,
}

impl Purse {
    /// The purse of this root; `None` if its account has no caps, or its voices cost nothing. From
    /// now on nothing can be reserved that was not drawn.
    pub(crate) fn of(services: &Arc<Services>, record: &Record, ledger: &Arc<Ledger>) -> Option<Arc<Purse>> {
        let (account, caps) = services.caps_of(&record.state.spec)?;
        ledger.allow(ledger.taken().usd);
        Some(Arc::new(Purse {
            services: services.clone(),
            account,
            caps,
            claim: record.claim().clone(),
            feed: record.feed().clone(),
            ledger: ledger.clone(),
            drawing: Mutex::new(()),
            has_drawn: AtomicBool::new(false),
        }))
    }

    /// Raises the allowance until the target may be spent in all, or returns the cap that has no
    /// room for it.
    pub(crate) async fn draw(&self, target: Usd) -> Result<Result<(), CapReached>, StoreError> {
        let _one_at_a_time = self.drawing.lock().await;
        let draw = Draw {
            claim: self.claim.clone(),
            account: self.account.clone(),
            caps: self.caps,
            at: self.services.clock.now(),
            settled: self.ledger.settled(),
            target,
        };
        match patiently(&self.feed, || self.services.store.draw(draw.clone())).await.0? {
            Drawn::UpTo(allowance) => {
                self.has_drawn.store(true, Ordering::Relaxed);
                self.ledger.allow(allowance);
                Ok(Ok(()))
            }
            Drawn::Short(reached) => Ok(Err(reached)),
        }
    }

    /// Counts what was spent and gives back the rest. If that fails, the store settles it from the
    /// record when the money is needed.
    pub(crate) async fn close(&self) {
        if self.has_drawn.load(Ordering::Relaxed) {
            let _ = self.services.store.settle(self.claim.clone(), self.ledger.taken().usd).await;
        }
    }
}

impl Floor {
    /// Reserves this much in the ledger, and draws what the account's caps allow if the allowance
    /// is too small; the inner error is why deliberation has to end. Facts that were paid for are
    /// written before it waits for a draw.
    pub(crate) async fn reserve(&mut self, wanted: Spent) -> Result<Result<(), WindUp>, Failure> {
        match self.ledger.reserve(wanted) {
            Ok(()) => Ok(Ok(())),
            Err(Short::Budget(reason)) => Ok(Err(reason)),
            Err(Short::Allowance { .. }) => {
                self.record.pay_up().await?;
                Ok(self.draw_and_reserve(wanted).await?)
            }
        }
    }

    /// The same for a group that has calls under way, whose facts are not in the record yet.
    pub(crate) fn draw_and_reserve(
        &self,
        wanted: Spent,
    ) -> impl Future<Output = Result<Result<(), WindUp>, StoreError>> + Send + use<> {
        let (ledger, purse) = (self.ledger.clone(), self.purse.clone());
        async move {
            loop {
                let (target, wanted, purse) = match (ledger.reserve(wanted), &purse) {
                    (Err(Short::Allowance { target, wanted }), Some(purse)) => (target, wanted, purse),
                    (Err(Short::Budget(reason)), _) => return Ok(Err(reason)),
                    // Only a ledger with a purse has an allowance.
                    (Ok(()) | Err(Short::Allowance { .. }), _) => return Ok(Ok(())),
                };
                if let Err(reached) = purse.draw(target).await? {
                    return Ok(Err(short_of(reached, wanted)));
                }
            }
        }
    }
}

/// The reason for ending. It has only the amount wanted now: the rest of the missing amount is for
/// other calls and the decision.
fn short_of(reached: CapReached, wanted: Usd) -> WindUp {
    let missing = reached.needed.less(reached.status.left());
    let (cap, period, renews_at) = (reached.status.cap, reached.status.period, reached.status.renews_at);
    WindUp::SpendingCap { needed: wanted, left: wanted.less(missing), cap, period, renews_at }
}
