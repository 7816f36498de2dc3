//! Takes over discussions that another process left behind: for servers, across tenants; for one
//! tenant, a single one.

use quorum_core::{
    engine::handle::Handle,
    model::{id::DiscussionId, lifecycle::Lifecycle, state::State},
    seams::StoreError,
};

use crate::{Discussion, Error, Quorum, Started, facade::steering::GLANCE_MS};

/// The server's name in the audit log when it takes over a discussion.
const SERVER: &str = "the server";

impl Quorum {
    /// Unfinished discussions that no process runs, oldest first, without those that are paused or
    /// wait for a person. Other processes can't claim these for a moment.
    pub async fn orphaned(&self) -> Result<Vec<DiscussionId>, Error> {
        let store = &self.0.engine.services().store;
        // One pass only: a discussion that ends at once, such as one with a record of another
        // version, could be claimed again and again.
        let claims = store.claim_any(usize::MAX, &self.0.owner, GLANCE_MS).await?;
        Ok(claims.into_iter().map(|claim| claim.id).collect())
    }

    /// One of these, as the server reaches it for its tenant.
    pub async fn left_behind(&self, id: DiscussionId) -> Result<Discussion, Error> {
        let tenant = self.state(id).await?.spec.tenant.clone();
        Ok(self.scope(tenant, SERVER).named(id))
    }

    /// Hands every discussion that this process runs over to another one: no new calls are made,
    /// and the calls under way are recorded as they end. Returns when no run is left.
    pub async fn leave(&self) {
        self.0.engine.leave().await;
    }

    /// Resumes one of these, at any later time; `None` if this process runs it already, or it can't
    /// be resumed.
    pub async fn go_on_with(&self, id: DiscussionId) -> Result<Option<Started>, Error> {
        let _locked = self.0.locks.lock(id).await;
        if self.0.engine.is_running(id) {
            return Ok(None);
        }
        let Ok(handle) = self.0.engine.run(id).await else { return Ok(None) };
        let scope = self.scope(self.state(id).await?.spec.tenant.clone(), SERVER);
        Ok(Some(Started { discussion: scope.named(id), handle: Some(handle) }))
    }
}

impl Discussion {
    /// Goes on with it here if no process runs it. `None` if a process does, or if there is nothing
    /// to go on with: it is over, paused, or waits for people. Never resumes what was paused.
    pub async fn take_over(&self) -> Result<Option<Handle>, Error> {
        let _locked = self.locked().await;
        let quorum = &self.scope.quorum;
        if quorum.0.engine.is_running(self.id) || !is_unfinished(&*self.state().await?) {
            return Ok(None);
        }
        match quorum.claim(self.id).await {
            Ok(_) => {}
            Err(StoreError::Held { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        match self.run_here().await {
            Err(Error::Store(StoreError::Held { .. })) => Ok(None),
            run => self.logged("resume", run).await.map(Some),
        }
    }

    async fn run_here(&self) -> Result<Handle, Error> {
        let quorum = &self.scope.quorum;
        quorum.everyone_has_a_voice(&*self.state().await?)?;
        Ok(quorum.0.engine.run(self.id).await?)
    }
}

/// Whether a process could go on with it without anything being said or decided first.
fn is_unfinished(state: &State) -> bool {
    let waits = state.lifecycle == Lifecycle::Paused || !state.awaiting.is_empty() || state.ruling.is_some();
    !state.lifecycle.is_terminal() && !waits
}
