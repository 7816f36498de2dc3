//! State shared by all requests. [`Quorum`] itself is private here: a request gets the scope of its
//! caller, and nothing wider.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quorum::{
    Quorum, Scope,
    config::server::{Tasks, Token},
    model::id::Tenant,
    request::Voicing,
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    guard::{Names, rate::Buckets},
    live::hub::{Hub, RunSlot},
    mcp::Mcp,
    metrics::Metrics,
    settings::{Limits, Settings, Voices},
    sizes::Sizes,
    unknown::KnownFields,
    v1::attendance::Desk,
    wire::listing::DetailsCache,
};

/// The state passed to handlers.
pub(crate) type App = Arc<AppState>;

/// How long this process tries to notify the others that it ends.
const LAST_WORD: Duration = Duration::from_secs(2);

/// The caller's name in records if no tokens are configured.
const LOCAL: &str = "local";

pub(crate) struct AppState {
    quorum: Quorum,
    settings: Settings,
    pub(crate) names: Names,
    pub(crate) hub: Arc<Hub>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) buckets: Buckets,
    pub(crate) streams: StreamSlots,
    /// Limits concurrent plans; each keeps a thread busy.
    pub(crate) planners: Arc<Semaphore>,
    pub(crate) list_details: DetailsCache,
    /// The discussions that clients of the panel as one model wait for.
    pub(crate) desk: Desk,
    /// Idempotency keys of orders in progress.
    in_flight: Mutex<HashSet<String>>,
    /// The tools of the Model Context Protocol, and what their calls share.
    pub(crate) mcp: Mcp,
    openapi: String,
    /// The body size limits of each route.
    pub(crate) sizes: Sizes,
    pub(crate) known_fields: KnownFields,
}

impl AppState {
    pub(crate) fn new(quorum: Quorum, settings: Settings, openapi: &Value) -> App {
        let metrics = Arc::new(Metrics::default());
        let hub = Hub::new(metrics.clone(), quorum.registry().clone(), settings.limits.running);
        let mcp = Mcp::new(quorum.registry(), &settings.tool_prefix);
        if let Some(most) = settings.limits.running_of_tenant {
            quorum.limit_tenants(most);
        }
        Arc::new(AppState {
            quorum,
            names: Names::of(&settings),
            hub,
            metrics,
            buckets: Buckets::new(settings.limits),
            streams: StreamSlots::new(settings.limits.streams),
            planners: Arc::new(Semaphore::new(settings.limits.plans)),
            list_details: DetailsCache::default(),
            desk: Desk::default(),
            in_flight: Mutex::default(),
            mcp,
            settings,
            openapi: openapi.to_string(),
            sizes: Sizes::of(openapi),
            known_fields: KnownFields::of(openapi),
        })
    }

    /// A run slot, if one is free and the tenant may run one more discussion.
    pub(crate) async fn run_slot(&self, tenant: &Tenant) -> Result<Option<RunSlot>, quorum::Error> {
        let Some(slot) = self.hub.run_slot() else { return Ok(None) };
        Ok(self.quorum.has_room(tenant).await?.then_some(slot))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.settings.tokens
    }

    pub(crate) fn origins(&self) -> &[String] {
        &self.settings.origins
    }

    pub(crate) fn registry(&self) -> &quorum::Registry {
        self.quorum.registry()
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.settings.tasks
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

    pub(crate) fn agents(&self) -> Vec<quorum::agents::AgentEntry> {
        if self.are_voices_simulated() {
            return self.quorum.agents_with(Voicing::Simulated).0;
        }
        self.quorum.agents().0
    }

    pub(crate) fn patterns(&self) -> Vec<quorum::PatternEntry> {
        self.quorum.patterns()
    }

    pub(crate) fn methods(&self) -> Vec<quorum::MethodEntry> {
        self.quorum.methods()
    }

    pub(crate) fn window_strategies(&self) -> Vec<quorum::StrategyEntry> {
        self.quorum.window_strategies()
    }

    pub(crate) fn detectors(&self) -> Vec<quorum::NamedEntry> {
        self.quorum.detectors()
    }

    pub(crate) fn presets(&self) -> Vec<quorum::PresetEntry> {
        self.quorum.presets()
    }

    /// The providers that answer here: the real ones if there are any, otherwise all, simulated.
    pub(crate) fn usable_providers(&self) -> Vec<quorum::ProviderEntry> {
        usable(self.quorum.providers(), self.settings.voices)
    }

    /// The scope of a caller; only the guard knows who it is.
    pub(crate) fn scope(&self, token: Option<&Token>) -> Scope {
        match token {
            Some(Token { name, tenant, caps, .. }) => {
                self.quorum.scope(tenant.clone(), name).charged_to(name, *caps)
            }
            None => self.quorum.scope(Tenant::default(), LOCAL),
        }
    }

    /// Everything that this process can reach; only for what concerns all tenants.
    pub(crate) fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    /// Takes over what waits for a node, as far as there is room. Returns how many it runs.
    pub(crate) async fn go_on(self: &Arc<Self>) -> Result<usize, quorum::Error> {
        self.quorum.join().await?;
        let mut all = 0;
        loop {
            let round = self.claim_once().await?;
            if round.claimed == 0 {
                return Ok(all);
            }
            all += round.begun;
        }
    }

    /// Whether the server is ending.
    pub(crate) fn is_draining(&self) -> bool {
        self.quorum.node_health().draining
    }

    /// Hands the discussions running here over to other nodes, once the calls under way are
    /// recorded, or this time is over.
    pub(crate) async fn leave(&self, within: Duration) {
        let _ = tokio::time::timeout(within, self.quorum.leave()).await;
        let last = async {
            for discussion in self.desk.kept() {
                discussion.hand_over().await;
            }
            self.quorum.deregister().await;
        };
        let _ = tokio::time::timeout(LAST_WORD, last).await;
    }

    /// Locks an idempotency key while its order is handled; `None` if another request has it.
    pub(crate) fn take_order(self: &Arc<Self>, key: String) -> Option<InFlight> {
        let is_free = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_free.then(|| InFlight { app: self.clone(), key })
    }
}

/// The providers that answer here: the real ones if there are any, otherwise all, simulated.
pub(crate) fn usable(mut all: Vec<quorum::ProviderEntry>, voices: Voices) -> Vec<quorum::ProviderEntry> {
    if voices == Voices::Available && all.iter().any(|it| it.available) {
        all.retain(|it| it.available);
    }
    all
}

/// Limits event streams. One tenant gets at most three quarters, so that some are left for others.
pub(crate) struct StreamSlots {
    all: Arc<Semaphore>,
    share: usize,
    taken: Mutex<BTreeMap<Tenant, Arc<Semaphore>>>,
}

/// One stream slot, for as long as it is held.
pub(crate) struct StreamSlot {
    _of_all: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
}

impl StreamSlots {
    fn new(places: usize) -> Self {
        let share = (places / 4 * 3).max(1);
        StreamSlots { all: Arc::new(Semaphore::new(places)), share, taken: Mutex::default() }
    }

    /// A slot for this tenant, unless its share is used up.
    pub(crate) fn acquire(&self, tenant: &Tenant) -> Option<StreamSlot> {
        let own = {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            taken.entry(tenant.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.share))).clone()
        };
        let _of_tenant = own.try_acquire_owned().ok()?;
        let _of_all = self.all.clone().try_acquire_owned().ok()?;
        Some(StreamSlot { _of_all, _of_tenant })
    }
}

/// An order in progress.
pub(crate) struct InFlight {
    app: App,
    key: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.app.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
