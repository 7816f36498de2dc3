//! The services that all discussions of a process share.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    model::{
        account::{Account, CappedAccount, Caps},
        spec::Spec,
    },
    record::Backing,
    registry::Registry,
    seams::{Clock, Store, Telemetry, Tools, Voices},
};

/// The engine's interfaces to the outside.
pub struct Services {
    /// The store of facts.
    pub store: Arc<dyn Store>,
    /// The voices that answer.
    pub voices: Arc<dyn Voices>,
    /// The tools that patterns may use.
    pub tools: Arc<dyn Tools>,
    /// Time and random numbers.
    pub clock: Arc<dyn Clock>,
    /// The registered patterns, methods, strategies and detectors.
    pub registry: Registry,
    /// The spending caps of the accounts that the configuration knows, whether or not any are set.
    pub caps: BTreeMap<Account, Caps>,
    /// Where discussions are reported to, if anywhere.
    pub telemetry: Option<Arc<dyn Telemetry>>,
}

impl Services {
    /// The account of an order and its caps; `None` if nothing limits its cost over time. Where the
    /// configuration doesn't know the account, the caps at the start of the discussion apply.
    #[must_use]
    pub fn caps_of(&self, spec: &Spec) -> Option<(Account, Caps)> {
        let CappedAccount { name, caps } = spec.account.as_ref().filter(|_| spec.simulation.is_none())?;
        let account = Account { tenant: spec.tenant.clone(), name: name.clone() };
        let caps = *self.caps.get(&account).unwrap_or(caps);
        caps.are_set().then_some((account, caps))
    }

    /// Whether a cap forbids voices whose price is unknown. A remote caller can't allow itself to
    /// spend what can't be counted; the configuration can.
    #[must_use]
    pub fn caps_need_prices(&self, spec: &Spec) -> bool {
        self.caps_of(spec).is_some_and(|(account, caps)| {
            let is_local = account == Account::default();
            !(caps.allow_unpriced || is_local && spec.limits.allow_unpriced)
        })
    }

    /// The services that a record needs.
    pub(crate) fn backing(&self) -> Backing {
        let (store, clock, telemetry) = (self.store.clone(), self.clock.clone(), self.telemetry.clone());
        Backing { store, clock, telemetry }
    }
}
