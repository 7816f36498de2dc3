//! Opening and running in one write: what most discussions begin with.

use std::{collections::hash_map::Entry, sync::Arc};

use crate::{
    engine::{
        Engine, LEASE_MS, OpenError, RunError, Running,
        conduct::{Ended, conduct},
        control::Control,
        feed::Feed,
        handle::Handle,
        record::Record,
        shared::Shared,
    },
    model::{event::Fact, id::DiscussionId, spec::Spec},
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
        self.start_warden();
        let Some(expected) = Expected::new(self, id) else { return Ok(self.run(id).await?) };
        let begun = self.0.shared.store.begin(id, facts.clone(), &self.0.owner, LEASE_MS).await;
        let Some(claim) = begun.map_err(OpenError::Store)? else {
            drop(expected);
            return Ok(self.run(id).await?);
        };
        let (feed, control) = (Feed::new(), expected.control.clone());
        self.running().insert(id, Running { control: control.clone(), claim: Some(claim.clone()) });
        let ear = feed.ear();
        let held = hold(self.0.shared.clone(), claim.clone(), feed, control, facts);
        Ok(self.launch(claim, ear, held))
    }
}

/// A discussion that is about to be there. It is known before it is, so that the first command finds it: nobody looks into
/// its inbox unasked.
struct Expected<'e> {
    engine: &'e Engine,
    id: DiscussionId,
    control: Arc<Control>,
}

impl<'e> Expected<'e> {
    /// `None` where one of that id is running.
    fn new(engine: &'e Engine, id: DiscussionId) -> Option<Self> {
        match engine.running().entry(id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                let control = Arc::new(Control::default());
                place.insert(Running { control: control.clone(), claim: None });
                Some(Expected { engine, id, control })
            }
        }
    }
}

impl Drop for Expected<'_> {
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
    let record = Record::begun(shared.clone(), id, claim, feed, &facts).ok_or(StoreError::Unknown(id))?;
    Ok(conduct(shared, record, control, None).await?)
}
