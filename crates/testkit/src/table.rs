//! An engine with a store and a scripted panel, all accessible to a test.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    engine::{Engine, OpenError, RunError, handle::Finished, services::Services},
    model::{
        event::Fact,
        id::{DiscussionId, NodeId, Seq},
        outcome::Outcome,
        spec::Spec,
    },
    registry::Registry,
    seams::{NoTools, Node, Store, Telemetry, Tools},
};

use crate::{clock::VirtualClock, panel::Panel};

const MONTH_MS: u64 = 30 * 86_400_000;

/// An engine with a scripted panel.
#[derive(Clone)]
pub struct Table {
    /// The engine.
    pub engine: Engine,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// Its panel.
    pub panel: Panel,
    registry: Registry,
    tools: Arc<dyn Tools>,
}

impl Table {
    /// A table over this store.
    #[must_use]
    pub fn over(store: Arc<dyn Store>, panel: &Panel, registry: Registry) -> Self {
        Table::owned_by("test", store, panel, registry)
    }

    /// The same with another owner, like another process.
    #[must_use]
    pub fn owned_by(owner: &str, store: Arc<dyn Store>, panel: &Panel, registry: Registry) -> Self {
        Table::equipped(owner, store, panel, registry, Arc::new(NoTools))
    }

    fn equipped(
        owner: &str,
        store: Arc<dyn Store>,
        panel: &Panel,
        registry: Registry,
        tools: Arc<dyn Tools>,
    ) -> Self {
        let services = services(&store, panel, &registry, &tools);
        Table { engine: Engine::new(services, node(owner)), store, panel: panel.clone(), registry, tools }
    }

    /// The same table for this owner, which reports to this telemetry.
    #[must_use]
    pub fn reported_to(self, owner: &str, telemetry: Arc<dyn Telemetry>) -> Self {
        let services = services(&self.store, &self.panel, &self.registry, &self.tools);
        let services = Services { telemetry: Some(telemetry), ..services };
        Table { engine: Engine::new(services, node(owner)), ..self }
    }

    /// The same with this lease, in ms. With the default, a month, a node hardly ever beats.
    #[must_use]
    pub fn with_lease(self, lease_ms: u64) -> Self {
        let services = services(&self.store, &self.panel, &self.registry, &self.tools);
        Table { engine: Engine::new(services, Node { lease_ms, ..node("test") }), ..self }
    }

    /// The same with tools.
    #[must_use]
    pub fn using(self, tools: Arc<dyn Tools>) -> Self {
        Table::equipped("test", self.store, &self.panel, self.registry, tools)
    }

    /// The same in a new process: same script, same tools, this store, no calls yet.
    #[must_use]
    pub fn restarted(&self, store: Arc<dyn Store>) -> Self {
        Table::equipped("test", store, &self.panel.anew(), self.registry.clone(), self.tools.clone())
    }

    /// Opens a discussion and runs it to its end.
    pub async fn hold(&self, spec: Spec) -> (Outcome, Vec<Fact>) {
        let id = self.open(spec).await.expect("the order is acceptable");
        let finished = self.run(id).await.expect("the store is there");
        (finished.outcome(), self.facts(id).await)
    }

    /// Opens a discussion.
    pub async fn open(&self, spec: Spec) -> Result<DiscussionId, OpenError> {
        self.engine.open(spec).await
    }

    /// Runs a discussion until it ends or waits.
    pub async fn run(&self, id: DiscussionId) -> Result<Finished, RunError> {
        self.engine.run(id).await?.finished().await
    }

    /// All facts of a discussion.
    pub async fn facts(&self, id: DiscussionId) -> Vec<Fact> {
        self.store.read(id, Seq::START, usize::MAX).await.unwrap_or_default()
    }
}

/// A node whose id follows from its owner's name, so that a new table of the same owner may claim
/// what the old one had. It beats so rarely that two tables of one owner don't notice each other.
fn node(owner: &str) -> Node {
    Node { id: NodeId::named(owner), lease_ms: MONTH_MS, ..Node::fresh(owner) }
}

fn services(store: &Arc<dyn Store>, panel: &Panel, registry: &Registry, tools: &Arc<dyn Tools>) -> Services {
    Services {
        store: store.clone(),
        voices: Arc::new(panel.clone()),
        tools: tools.clone(),
        clock: Arc::new(VirtualClock::start()),
        registry: registry.clone(),
        caps: BTreeMap::new(),
        telemetry: None,
    }
}
