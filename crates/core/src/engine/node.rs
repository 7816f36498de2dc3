//! The engine as a node: claims work that other nodes left, and reports its own state.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use futures::stream::BoxStream;
use uuid::Uuid;

use crate::{
    engine::Engine,
    model::id::{DiscussionId, NodeId},
    record::retry_store::briefly,
    seams::{Abilities, ClaimRequest, StoreError, Taken},
};

/// How this process is doing as a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeHealth {
    /// Its id.
    pub id: NodeId,
    /// Its name for people.
    pub name: String,
    /// Its lease.
    pub lease: Duration,
    /// How long ago it last beat in the store; `None` if it has not joined.
    pub beat_age: Option<Duration>,
    /// How many nodes there were at that time.
    pub nodes: usize,
    /// How many discussions it runs.
    pub held: usize,
    /// Whether it is ending.
    pub draining: bool,
    /// Whether its store can't be written at the moment.
    pub outage: bool,
    /// How far the store's clock is ahead of its own, in ms.
    pub skew_ms: Option<i64>,
    /// Claims since its start.
    pub claims: u64,
    /// Claims of discussions whose node had died.
    pub takeovers: u64,
    /// Runs that ended because another node had taken over.
    pub fenced: u64,
    /// Runs that were dropped with their calls because their claims were lost.
    pub cancelled: u64,
    /// Other nodes that it took for dead.
    pub reaped: u64,
}

impl NodeHealth {
    /// Whether it can be relied on: it beat in the store within a lease, can write to it, and is
    /// not ending.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.draining && !self.outage && self.beat_age.is_some_and(|age| age < self.lease)
    }

    /// Whether its clock differs from the store's by more than 2 s.
    #[must_use]
    pub fn has_wrong_clock(&self) -> bool {
        self.skew_ms.is_some_and(|it| 2_000 < it.abs())
    }
}

impl Engine {
    /// Makes this process a node now, not only with its first claim.
    pub async fn join(&self) -> Result<NodeId, StoreError> {
        self.as_node(|node| Box::pin(std::future::ready(Ok(node)))).await
    }

    /// Begins no discussion of a tenant that has this many on all nodes together, and claims none
    /// for it from the queue. The first call counts.
    pub fn limit_tenants(&self, most: u64) {
        self.0.most_of_tenant.get_or_init(|| most);
    }

    /// How many discussions of one tenant may run on all nodes together; `None` means any number.
    #[must_use]
    pub fn most_of_tenant(&self) -> Option<u64> {
        self.0.most_of_tenant.get().copied()
    }

    /// Claims up to `max` discussions that this process is able to run and no node runs.
    pub async fn claim_any(&self, max: usize) -> Result<Vec<Taken>, StoreError> {
        let (store, able, most_of_tenant) = (&self.services().store, self.abilities(), self.most_of_tenant());
        let request = |node| ClaimRequest { node, max, able: able.clone(), most_of_tenant };
        let taken = self.as_node(|node| store.claim_any(request(node))).await?;
        let counts = &self.0.member.counts;
        counts.claims.fetch_add(taken.len() as u64, Ordering::Relaxed);
        let takeovers = taken.iter().filter(|it| it.is_takeover).count() as u64;
        counts.takeovers.fetch_add(takeovers, Ordering::Relaxed);
        Ok(taken)
    }

    /// Notes that a client of this process waits for a discussion, which is aborted when the last
    /// of its clients leaves.
    pub async fn attach(&self, id: DiscussionId, client: Uuid) -> Result<(), StoreError> {
        let store = &self.services().store;
        self.as_node(|node| store.attach(id, client, node)).await
    }

    /// Ends the note of this client. Returns whether no other client of any process waits.
    pub async fn detach(&self, id: DiscussionId, client: Uuid) -> Result<bool, StoreError> {
        let store = &self.services().store;
        briefly(|| store.detach(id, client)).await
    }

    fn abilities(&self) -> Abilities {
        let services = self.services();
        let patterns = services.registry.patterns().iter().map(|it| (it.name.to_owned(), it.flow));
        Abilities { patterns: Some(patterns.collect()), providers: services.voices.providers() }
    }

    /// Writes to the store, and retries while it is briefly unavailable.
    pub(super) async fn write_briefly<T, A: Future<Output = Result<T, StoreError>>>(
        &self,
        write: impl Fn() -> A,
    ) -> Result<T, StoreError> {
        let noted = || async {
            let done = write().await;
            self.0.member.note(&done);
            done
        };
        briefly(noted).await
    }

    /// The outages of the store, as the heartbeat of this process notices them: the reason when one
    /// begins, and `None` when it is over.
    #[must_use]
    pub fn outages(&self) -> BoxStream<'static, Option<String>> {
        self.0.member.outages()
    }

    /// How this process is doing as a node.
    #[must_use]
    pub fn health(&self) -> NodeHealth {
        let (member, now) = (&self.0.member, self.services().clock.now());
        let node = member.node();
        let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
        NodeHealth {
            id: node.id,
            name: node.name,
            lease: Duration::from_millis(node.lease_ms),
            beat_age: member.beat_age(),
            nodes: member.nodes(),
            held: self.running().len(),
            draining: self.0.leaving.load(Ordering::SeqCst),
            outage: member.has_outage(),
            skew_ms: member.skew_ms(now),
            claims: count(&member.counts.claims),
            takeovers: count(&member.counts.takeovers),
            fenced: count(&member.counts.fenced),
            cancelled: count(&member.counts.cancelled),
            reaped: count(&member.counts.reaped),
        }
    }
}
