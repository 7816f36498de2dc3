//! Takes over discussions that another process left behind; for servers, across tenants.

use quorum_core::model::id::DiscussionId;

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
