//! Opening and running in one write: what most discussions begin with.

use std::sync::Arc;

use crate::{
    engine::{
        Engine, LEASE_MS, OpenError, RunError, Running,
        conduct::{Ended, conduct},
        handle::Handle,
    },
    floor::shared::Shared,
    model::{event::Fact, id::DiscussionId, spec::Spec},
    record::{Record, control::Control, feed::Feed},
    seams::{Claim, StoreError},
};

/// Why a discussion could not be begun.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BeginError {
    /// It could not be opened; nothing was spent.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It was there already, and could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Engine {
    /// Opens a discussion and runs it, as [`Engine::open`] and [`Engine::run`] would, in one write.
    pub async fn begin(&self, spec: Spec) -> Result<Handle, BeginError> {
        self.begin_as(DiscussionId::fresh(), spec).await
    }

    /// The same under an id of the caller's; one that was opened before is run.
    pub async fn begin_as(&self, id: DiscussionId, spec: Spec) -> Result<Handle, BeginError> {
        let facts = self.ordered(spec)?;
        self.keep_leases();
        let Some(expected) = Expected::new(self, id) else { return Ok(self.run(id).await?) };
        // In a task of its own: whoever stops waiting for it must not leave it claimed and run by
        // nobody.
        let begun = tokio::spawn(expected.begin(facts)).await;
        begun.unwrap_or_else(|panic| Err(RunError::Fault(panic.to_string()).into()))
    }
}

/// A discussion that is about to be there. It is known before it is, so that the first command
/// finds it: nobody looks into its inbox unasked.
struct Expected {
    engine: Engine,
    id: DiscussionId,
    control: Arc<Control>,
}

impl Expected {
    /// `None` where one of that id is running. What others are about to begin is expected with
    /// them.
    fn new(engine: &Engine, id: DiscussionId) -> Option<Self> {
        let mut running = engine.running();
        let fresh = || Running { control: Arc::default(), claim: None };
        let Running { control, claim } = running.entry(id).or_insert_with(fresh);
        let control = control.clone();
        claim.is_none().then(|| Expected { engine: engine.clone(), id, control })
    }

    async fn begin(self, facts: Vec<Fact>) -> Result<Handle, BeginError> {
        let (engine, shared) = (self.engine.clone(), self.engine.shared().clone());
        let begun = shared.store.begin(self.id, facts.clone(), &engine.0.owner, LEASE_MS).await;
        let Some(claim) = begun.map_err(OpenError::Store)? else {
            return Ok(engine.run(self.id).await?);
        };
        let (feed, control) = (Feed::new(), self.control.clone());
        engine.enlist(&claim, &control);
        let ear = feed.ear();
        let held = hold(shared, claim.clone(), feed, control, facts);
        Ok(engine.launch(claim, ear, held))
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        // One that has its claim by now stays.
        self.engine.forget(self.id, None);
    }
}

/// Holds it with what is at hand: nothing need be read.
async fn hold(
    shared: Arc<Shared>,
    claim: Claim,
    feed: Feed,
    control: Arc<Control>,
    facts: Vec<Fact>,
) -> Result<Ended, RunError> {
    let id = claim.id;
    let record = Record::begun(shared.backing(), id, claim, feed, &facts).ok_or(StoreError::Unknown(id))?;
    Ok(conduct(shared, record, control, None).await?)
}
