//! Taking over discussions that another process left behind; for servers, across tenants.

use quorum_core::model::id::DiscussionId;

use crate::{Error, Quorum, Started, facade::steering::GLANCE_MS};

/// Under which name the audit knows a server that takes a discussion over.
const SERVER: &str = "the server";

impl Quorum {
    /// What could go on and what nobody runs, oldest first: not what is paused or waits for a person.
    /// Other processes don't take these for a moment.
    pub async fn left_behind(&self) -> Result<Vec<DiscussionId>, Error> {
        let store = &self.0.engine.shared().store;
        // One pass: what ends at once, a record of another version for instance, could be claimed
        // again and again.
        let claims = store.claim_any(usize::MAX, &self.0.owner, GLANCE_MS).await?;
        Ok(claims.into_iter().map(|claim| claim.id).collect())
    }

    /// Leaves every discussion that this process runs to another one: nothing new is begun, and the
    /// calls under way are recorded as they end. Returns when no run is left.
    pub async fn leave(&self) {
        self.0.engine.leave().await;
    }

    /// Goes on with one of these, be it much later; `None` where that is done already, or can't be.
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
