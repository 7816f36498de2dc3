//! Spending caps: which account a scope is charged to, and what is left of its caps.

use std::collections::BTreeMap;

use quorum_core::model::{
    account::{Account, CapStatus, CappedAccount, Caps},
    spec::Spec,
    time::iso,
};
use serde::Serialize;

use crate::{Config, Error, Plan, Scope};

/// The state of one spending cap, in US dollars.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapEntry {
    /// `day` or `month`, in UTC.
    pub period: &'static str,
    /// The most that may be spent.
    pub cap_usd: f64,
    /// What was spent; more than the cap if a provider charged more than it could by its price.
    pub spent_usd: f64,
    /// What running discussions have set aside, most of which they will not need.
    pub reserved_usd: f64,
    /// What is left.
    pub left_usd: f64,
    /// When the cap renews.
    pub renews_at: String,
}

impl From<&CapStatus> for CapEntry {
    fn from(status: &CapStatus) -> Self {
        CapEntry {
            period: status.period.name(),
            cap_usd: status.cap.dollars(),
            spent_usd: status.spent.dollars(),
            reserved_usd: status.reserved.dollars(),
            left_usd: status.left().dollars(),
            renews_at: iso(status.renews_at),
        }
    }
}

/// Whether a planned discussion fits what is left of the caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CapFit {
    /// Even at most.
    Fits,
    /// If nothing fails, but perhaps not at most.
    MayNotFit,
    /// Not even if nothing fails.
    DoesNotFit,
}

/// The caps of every account that the configuration knows, so that they hold for discussions that
/// were started under other ones.
pub(crate) fn configured(config: &Config) -> BTreeMap<Account, Caps> {
    let local = (Account::default(), config.limits);
    let tokens = config.server.owners();
    let tokens = tokens.map(|(name, it, caps)| (Account { tenant: it.clone(), name: name.to_owned() }, caps));
    std::iter::once(local).chain(tokens).collect()
}

/// An account with these caps; `None` if nothing is limited.
pub(super) fn capped(name: &str, caps: Caps) -> Option<CappedAccount> {
    caps.are_set().then(|| CappedAccount { name: name.to_owned(), caps })
}

impl Scope {
    /// The same scope, charged to the account of a token of this name.
    #[must_use]
    pub fn charged_to(self, name: &str, caps: Caps) -> Scope {
        Scope { account: capped(name, caps), ..self }
    }

    /// This order as one of this tenant and account; refused if the account can't pay for a voice
    /// of it.
    pub(super) fn owned(&self, spec: Spec) -> Result<Spec, Error> {
        let spec = self.as_own(spec);
        let refusals = match &spec.account {
            Some(_) => self.quorum.0.engine.refusals(&spec),
            None => Vec::new(),
        };
        if refusals.is_empty() {
            return Ok(spec);
        }
        Err(Error::Refused(refusals.into_iter().map(Into::into).collect()))
    }

    pub(super) fn as_own(&self, spec: Spec) -> Spec {
        Spec { tenant: self.tenant.clone(), account: self.account.clone(), ..spec }
    }

    /// The spending caps of this scope's account; none if nothing is limited.
    pub async fn spending(&self) -> Result<Vec<CapEntry>, Error> {
        let Some(CappedAccount { name, caps }) = &self.account else { return Ok(Vec::new()) };
        let account = Account { tenant: self.tenant.clone(), name: name.clone() };
        self.quorum.spending_of(account, *caps).await
    }

    /// Adds to a plan what is left of the caps, unless its voices cost nothing.
    pub(super) async fn with_caps(&self, plan: Plan) -> Result<Plan, Error> {
        if plan.simulated {
            return Ok(plan);
        }
        let caps = self.spending().await?;
        let left = caps.iter().map(|it| it.left_usd).min_by(f64::total_cmp);
        let cap_fit = left.map(|left| match () {
            () if plan.most.cost_usd <= left => CapFit::Fits,
            () if plan.usual.cost_usd <= left => CapFit::MayNotFit,
            () => CapFit::DoesNotFit,
        });
        Ok(Plan { caps, cap_fit, ..plan })
    }
}

impl crate::Quorum {
    async fn spending_of(&self, account: Account, caps: Caps) -> Result<Vec<CapEntry>, Error> {
        let store = &self.0.engine.services().store;
        let statuses = store.spending(account, caps, self.now()).await?;
        Ok(statuses.iter().map(CapEntry::from).collect())
    }
}
