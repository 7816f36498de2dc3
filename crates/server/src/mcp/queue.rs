//! Begins what calls have queued as run slots become free, in a process without a claimer: the one
//! that serves a single client over standard input. Discussions left behind by other processes are
//! not begun: this client has not asked for them.

use std::time::Duration;

use quorum::{
    Discussion, Error, Handle, StoreError,
    model::{id::Seq, state::State},
};
use tokio::{sync::mpsc::UnboundedReceiver, time::sleep};

use crate::{app::App, live::hub::RunSlot};

/// How often to look whether the tenant may run one more discussion.
const LOOK: Duration = Duration::from_secs(1);

/// What waits for a run slot.
pub(crate) struct Queued {
    discussion: Discussion,
    /// The last fact when a person resumed it; `None` for an order.
    resumed_at: Option<Seq>,
}

impl Queued {
    pub(crate) fn order(discussion: &Discussion) -> Self {
        Queued { discussion: discussion.clone(), resumed_at: None }
    }

    /// A discussion that was resumed in this state.
    pub(crate) fn resume(discussion: &Discussion, state: &State) -> Self {
        Queued { discussion: discussion.clone(), resumed_at: Some(state.seq) }
    }

    /// Runs it here; `None` if there is nothing to run: another process does, it is over, or it was
    /// paused meanwhile.
    async fn begin(&self) -> Result<Option<Handle>, Error> {
        let begun = match self.resumed_at {
            // If anything has happened since, its resume has had its effect elsewhere.
            Some(seq) if self.discussion.state().await?.seq == seq => {
                self.discussion.go_on_here().await.map(Some)
            }
            Some(_) | None => self.discussion.take_over().await,
        };
        match begun {
            Err(Error::Store(StoreError::Held { .. } | StoreError::Over(_) | StoreError::Unknown(_))) => {
                Ok(None)
            }
            begun => begun,
        }
    }
}

/// Begins what is queued in its order, until the server closes.
pub(super) async fn begin_queued(app: App, mut queue: UnboundedReceiver<Queued>) {
    while let Some(Some(queued)) = app.hub.until_closing(queue.recv()).await {
        let discussion = &queued.discussion;
        let Some(slot) = app.hub.until_closing(slot_for(&app, discussion)).await else { return };
        match queued.begin().await {
            Ok(Some(handle)) => app.hub.listen_to(discussion, &handle, slot),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, id = %discussion.id(), "can't begin a queued discussion"),
        }
    }
}

/// Waits for a run slot until the tenant may use it. While the store can't tell, it waits as well.
async fn slot_for(app: &App, discussion: &Discussion) -> Option<RunSlot> {
    loop {
        let slot = app.hub.next_run_slot().await?;
        if let Ok(true) = app.quorum().has_room(discussion.tenant()).await {
            return Some(slot);
        }
        drop(slot);
        sleep(LOOK).await;
    }
}
