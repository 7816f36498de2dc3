//! Begins what calls have queued as run slots become free, where no claimer does: in a process of
//! one client. What other processes left behind is not begun, because nobody asked for it here.

use std::time::Duration;

use quorum::{Discussion, Error, StoreError};
use tokio::{sync::mpsc::UnboundedReceiver, time::sleep};

use crate::{app::App, live::hub::RunSlot};

/// How often to look whether the tenant may run one more discussion.
const LOOK: Duration = Duration::from_secs(1);

/// Begins queued discussions in their order, until the server closes.
pub(super) async fn begin_queued(app: App, mut queue: UnboundedReceiver<Discussion>) {
    while let Some(Some(discussion)) = app.hub.until_closing(queue.recv()).await {
        let Some(slot) = app.hub.until_closing(slot_for(&app, &discussion)).await else { return };
        if let Err(error) = begin(&app, &discussion, slot).await {
            tracing::warn!(%error, id = %discussion.id(), "can't begin a queued discussion");
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

/// Runs it here, unless another process does or it is over by now. A pause stays.
async fn begin(app: &App, discussion: &Discussion, slot: Option<RunSlot>) -> Result<(), Error> {
    match discussion.go_on_here().await {
        Ok(handle) => app.hub.listen_to(discussion, &handle, slot),
        Err(Error::Store(StoreError::Held { .. } | StoreError::Over(_) | StoreError::Unknown(_))) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
