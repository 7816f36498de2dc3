//! Opening and running a discussion in one write, which is how most discussions begin.

use std::sync::Arc;

use crate::{
    engine::{
        Engine, OpenError, Order, RunError, Running,
        conduct::{Ended, conduct},
        handle::Handle,
    },
    floor::services::Services,
    model::{
        event::{Fact, Fork},
        id::DiscussionId,
    },
    record::{Record, control::Control, feed::Feed},
    seams::{Claim, Runner, StoreError},
};

/// Why a discussion could not be begun.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BeginError {
    /// It could not be opened; nothing was spent.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It existed already, and could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Engine {
    /// Opens a discussion and runs it, as [`Engine::open`] and [`Engine::run`] would, in one write.
    pub async fn begin(&self, order: impl Into<Order>) -> Result<Handle, BeginError> {
        self.begin_as(DiscussionId::fresh(), order).await
    }

    /// Does the same under an id of the caller's; a discussion that was opened before is run.
    pub async fn begin_as(&self, id: DiscussionId, order: impl Into<Order>) -> Result<Handle, BeginError> {
        let order = order.into();
        let facts = self.ordered(&order)?;
        self.check_caps(&order.spec).await?;
        self.begin_with(id, facts).await
    }

    /// Forks a discussion as [`Engine::fork_as`] does, and runs the fork, in one write.
    pub async fn begin_fork(
        &self,
        id: DiscussionId,
        fork: Fork,
        order: impl Into<Order>,
    ) -> Result<Handle, BeginError> {
        let facts = self.forked(fork, order.into()).await?;
        self.begin_with(id, facts).await
    }

    async fn begin_with(&self, id: DiscussionId, facts: Vec<Fact>) -> Result<Handle, BeginError> {
        let Some(expected) = Expected::new(self, id) else { return Ok(self.run(id).await?) };
        // In a task of its own: a caller that stops waiting must not leave the discussion claimed
        // but not running.
        let begun = tokio::spawn(expected.begin(facts)).await;
        begun.unwrap_or_else(|panic| Err(RunError::Fault(panic.to_string()).into()))
    }
}

/// A discussion that is about to be recorded. It is registered before that, so that its first
/// command wakes it: the inbox is read only when a command is announced.
struct Expected {
    engine: Engine,
    id: DiscussionId,
    control: Arc<Control>,
}

impl Expected {
    /// `None` if a discussion with that id is running. Concurrent callers that begin the same one
    /// share its entry.
    fn new(engine: &Engine, id: DiscussionId) -> Option<Self> {
        let mut running = engine.running();
        let fresh = || Running { control: Arc::default(), claim: None };
        let Running { control, claim } = running.entry(id).or_insert_with(fresh);
        let control = control.clone();
        claim.is_none().then(|| Expected { engine: engine.clone(), id, control })
    }

    async fn begin(self, facts: Vec<Fact>) -> Result<Handle, BeginError> {
        let (engine, services) = (self.engine.clone(), self.engine.services().clone());
        let store = services.store.clone();
        let begun = engine
            .as_node(|node| {
                let runner = Runner { node, most_of_tenant: engine.most_of_tenant() };
                store.begin(self.id, facts.clone(), runner)
            })
            .await;
        let Some(claim) = begun.map_err(OpenError::Store)? else {
            return Ok(engine.run(self.id).await?);
        };
        let (feed, control) = (Feed::new(&engine.0.member.suspicion), self.control.clone());
        engine.register(&claim, &control);
        let feed_handle = feed.feed_handle();
        let run = run_begun(services, claim.clone(), feed, control.clone(), facts);
        Ok(engine.launch(claim, feed_handle, control, run))
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        // This leaves an entry that has its claim by now.
        self.engine.unregister(self.id, None);
    }
}

/// Runs the discussion from the facts at hand, without reading the store.
async fn run_begun(
    services: Arc<Services>,
    claim: Claim,
    feed: Feed,
    control: Arc<Control>,
    facts: Vec<Fact>,
) -> Result<Ended, RunError> {
    let id = claim.id;
    let record = Record::begun(services.backing(), id, claim, feed, &facts).ok_or(StoreError::Unknown(id))?;
    Ok(conduct(services, Box::new(record), control, None).await?)
}
