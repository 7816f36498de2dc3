//! Takes over discussions that another process left behind: for servers, across tenants; for one
//! tenant, a single one.

use std::sync::Arc;

use futures::stream::BoxStream;
use quorum_core::{
    engine::{NodeHealth, handle::Handle},
    model::{
        id::{DiscussionId, Tenant},
        lifecycle::Lifecycle,
        piece::Piece,
        state::State,
    },
    seams::{Backlog, NodeStatus, Release, StoreError, StoreFigures, Taken, Wake},
};

use crate::{Discussion, Error, Quorum, Started};

/// The server's name in the audit log when it takes over a discussion.
const SERVER: &str = "the server";

impl Quorum {
    /// Makes this process a node of the store, so that other nodes see that it is alive.
    pub async fn join(&self) -> Result<(), Error> {
        self.0.engine.join().await?;
        Ok(())
    }

    /// The names of other nodes whose configuration differs from this one's, so that the same order
    /// may have another result there.
    pub async fn configured_otherwise(&self) -> Result<Vec<String>, Error> {
        let own = self.config().digest();
        let nodes = self.0.engine.services().store.nodes().await?;
        Ok(nodes.into_iter().filter(|it| it.node.config != own).map(|it| it.node.name).collect())
    }

    /// Claims up to `max` discussions of any tenant that wait for a node and that this one is able
    /// to run. Each must be given to [`Quorum::go_on_with`] or [`Quorum::hand_back`].
    pub async fn claim_work(&self, max: usize) -> Result<Vec<Taken>, Error> {
        Ok(self.0.engine.claim_any(max).await?)
    }

    /// Lets this process run no further discussion of a tenant that has this many on all nodes
    /// together, except for what people resume by their turns and decisions.
    pub fn limit_tenants(&self, most: u64) {
        self.0.engine.limit_tenants(most);
    }

    /// Whether this tenant may run one more discussion.
    pub async fn has_room(&self, tenant: &Tenant) -> Result<bool, Error> {
        let Some(most) = self.0.engine.most_of_tenant() else { return Ok(true) };
        Ok(self.backlog(Some(tenant.clone())).await?.running < most)
    }

    /// One of these, as the server reaches it for its tenant.
    #[must_use]
    pub fn taken(&self, taken: &Taken) -> Discussion {
        self.scope(taken.tenant.clone(), SERVER).named(taken.claim.id)
    }

    /// Leaves one of these to other nodes, or to a claim by its id for this long.
    pub async fn hand_back(&self, taken: Taken, how: Release) {
        self.0.engine.give_up(taken.claim, how).await;
    }

    /// Runs one of these; `None` if this process runs it already, or can't.
    pub async fn go_on_with(&self, taken: Taken) -> Result<Option<Started>, Error> {
        let (id, discussion) = (taken.claim.id, self.taken(&taken));
        let _locked = self.0.locks.lock(id).await;
        if self.0.engine.is_running(id) {
            return Ok(None);
        }
        let able = match discussion.state().await {
            Ok(state) => self.everyone_has_a_voice(&state),
            Err(error) => Err(error),
        };
        if let Err(error) = able {
            self.0.engine.give_up(taken.claim, Release::Failed).await;
            return Err(error);
        }
        let handle = Some(self.0.engine.run_claimed(taken.claim));
        Ok(Some(Started { discussion, handle }))
    }

    /// The epoch of the log; see [`Store::epoch`].
    ///
    /// [`Store::epoch`]: quorum_core::seams::Store::epoch
    #[must_use]
    pub fn log_epoch(&self) -> Option<u64> {
        self.0.engine.services().store.epoch()
    }

    /// News of the store: hints to look for work, facts and text.
    #[must_use]
    pub fn news(&self) -> BoxStream<'static, Wake> {
        self.0.engine.services().store.watch()
    }

    /// Asks for news of a discussion that another process runs; see [`Wake::Facts`].
    pub fn follow(&self, id: DiscussionId) {
        self.0.engine.services().store.follow(id);
    }

    /// Passes text of a turn under way on to other processes, if the store carries it.
    pub fn delta(&self, piece: &Arc<Piece>) {
        self.0.engine.services().store.delta(piece);
    }

    /// How this process is doing as a node.
    #[must_use]
    pub fn node_health(&self) -> NodeHealth {
        self.0.engine.health()
    }

    /// The outages of the store: the reason when one begins, and `None` when it is over. No reason
    /// contains a password.
    #[must_use]
    pub fn outages(&self) -> BoxStream<'static, Option<String>> {
        self.0.engine.outages()
    }

    /// What this process did with its store, if that counts it.
    #[must_use]
    pub fn store_figures(&self) -> Option<StoreFigures> {
        self.0.engine.services().store.figures()
    }

    /// All nodes that share the store.
    pub async fn nodes(&self) -> Result<Vec<NodeStatus>, Error> {
        Ok(self.0.engine.services().store.nodes().await?)
    }

    /// What waits, runs and is stuck, of this tenant or of all.
    pub async fn backlog(&self, tenant: Option<Tenant>) -> Result<Backlog, Error> {
        Ok(self.0.archive.backlog(tenant).await?)
    }

    /// Hands every discussion that this process runs over to another one: no new calls are made,
    /// and the calls under way are recorded as they end. Returns when no run is left.
    pub async fn leave(&self) {
        self.0.engine.leave().await;
    }

    /// Ends this node; what it still holds can be claimed by others at once.
    pub async fn deregister(&self) {
        // If the store is unavailable, the other nodes notice that this one is dead.
        let _ = self.0.engine.deregister().await;
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
        let claim = match quorum.claim(self.id).await {
            Ok(claim) => claim,
            Err(StoreError::Held { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let able = match self.state().await {
            Ok(state) => quorum.everyone_has_a_voice(&state),
            Err(error) => Err(error),
        };
        let run = quorum.run_if(claim, able).await;
        self.logged("resume", run).await.map(Some)
    }
}

/// Whether a process could go on with it without anything being said or decided first.
pub(super) fn is_unfinished(state: &State) -> bool {
    let waits = state.lifecycle == Lifecycle::Paused || !state.awaiting.is_empty() || state.ruling.is_some();
    !state.lifecycle.is_terminal() && !waits
}
