//! What all requests share. The door itself is private here: requests get the scope of whoever sent them, and nothing wider.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use quorum::{
    Quorum, Scope,
    config::server::Token,
    model::id::{DiscussionId, Tenant},
};
use tokio::sync::Semaphore;

use crate::{
    guard::{Names, rate::Buckets},
    live::hub::Hub,
    metrics::Metrics,
    settings::{Limits, Settings, Voices},
};

/// What handlers are given.
pub(crate) type App = Arc<House>;

/// Who they are to the records where no tokens are set.
const LOCAL: &str = "local";

pub(crate) struct House {
    quorum: Arc<Quorum>,
    settings: Settings,
    pub(crate) names: Names,
    pub(crate) hub: Arc<Hub>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) buckets: Buckets,
    pub(crate) streams: Arc<Semaphore>,
    /// Plans that may be made at the same time; each keeps a thread busy.
    pub(crate) planners: Arc<Semaphore>,
    /// Keys of orders that are being taken.
    in_flight: Mutex<HashSet<String>>,
    openapi: String,
}

impl House {
    pub(crate) fn new(quorum: Arc<Quorum>, settings: Settings, openapi: String) -> App {
        let metrics = Arc::new(Metrics::new());
        Arc::new(House {
            quorum,
            names: Names::of(&settings),
            hub: Hub::new(metrics.clone()),
            metrics,
            buckets: Buckets::new(settings.limits),
            streams: Arc::new(Semaphore::new(settings.limits.streams)),
            planners: Arc::new(Semaphore::new(settings.limits.plans)),
            in_flight: Mutex::default(),
            settings,
            openapi,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.settings.tokens
    }

    pub(crate) fn are_voices_simulated(&self) -> bool {
        self.settings.voices == Voices::Simulated
    }

    pub(crate) fn openapi(&self) -> &str {
        &self.openapi
    }

    pub(crate) fn providers(&self) -> Vec<quorum::ProviderEntry> {
        self.quorum.providers()
    }

    pub(crate) fn presets(&self) -> Vec<quorum::PresetEntry> {
        self.quorum.presets()
    }

    /// Those that answer here: the real ones where there are any, else everyone, simulated.
    pub(crate) fn usable_providers(&self) -> Vec<quorum::ProviderEntry> {
        let mut all = self.quorum.providers();
        if !self.are_voices_simulated() && all.iter().any(|it| it.available) {
            all.retain(|it| it.available);
        }
        all
    }

    /// What a caller may reach; only the guard knows who it is.
    pub(crate) fn scope(&self, token: Option<&Token>) -> Scope {
        let (tenant, who) =
            token.map_or((Tenant::default(), LOCAL), |it| (it.tenant.clone(), it.name.as_str()));
        Scope::new(self.quorum.clone(), tenant, who)
    }

    /// Goes on with what an earlier process left behind.
    pub(crate) async fn go_on(&self) -> Result<Vec<DiscussionId>, quorum::Error> {
        let started = self.quorum.go_on_with_all().await?;
        let ids = started.iter().map(|it| it.discussion.id()).collect();
        for it in started {
            self.hub.take(it);
        }
        Ok(ids)
    }

    /// Keeps a key for as long as its order is being taken; `None` while somebody else does so.
    pub(crate) fn take_order(self: &Arc<Self>, key: String) -> Option<InFlight> {
        let is_free = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_free.then(|| InFlight { house: self.clone(), key })
    }
}

/// An order that is being taken.
pub(crate) struct InFlight {
    house: App,
    key: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.house.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
