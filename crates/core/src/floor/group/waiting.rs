//! The events that a group waits for while calls are under way: commands, arrivals, the deadline.

use std::sync::Arc;

use tokio::{sync::watch, time::sleep_until};

use super::{Group, calls::Arrival};
use crate::{
    floor::{Floor, halt::Halt, seat::outcome::News},
    model::command::Command,
    record::control::Control,
};

/// The event that ended a wait.
pub(super) enum Happened {
    /// There may be a new command.
    Command,
    Arrival(Arrival<News>),
    /// The time for talking, or for deciding, is over.
    Deadline,
}

/// Listens for commands: the root to its inbox, and a sub-discussion to the commands that the root
/// passes on.
pub(crate) struct Listener {
    control: Arc<Control>,
    /// The commands that the root passes on; `None` in the root.
    pending_changes: Option<watch::Receiver<Option<Command>>>,
}

impl Listener {
    pub(crate) fn of(floor: &Floor) -> Self {
        let control = floor.control.clone();
        let pending_changes = floor.record.state.lineage.is_some().then(|| control.subscribe_pending());
        Listener { control, pending_changes }
    }

    /// Waits until there may be a new command.
    pub(crate) async fn spoken_to(&mut self) {
        match &mut self.pending_changes {
            // This fails only if the root is gone, and then no command can come.
            Some(pending_changes) => drop(pending_changes.changed().await),
            None => self.control.woken().await,
        }
    }
}

impl Group<'_, '_> {
    /// Waits for the next event.
    pub(super) async fn wait(&mut self, listener: &mut Listener) -> Result<Happened, Halt> {
        if self.floor.record.is_owing() && self.calls.has_arrived() {
            // News that has already arrived is recorded together with the facts that the last group
            // left unwritten.
            return Ok(tokio::select! {
                biased;
                () = listener.spoken_to() => Happened::Command,
                Some(arrival) = async { self.calls.arrived() } => Happened::Arrival(arrival),
            });
        }
        // Computed each time: a sub-discussion extends the deadline by the time it takes.
        let deadline = self.floor.deadline();
        let paid = self.floor.record.pay_up().await?;
        Ok(tokio::select! {
            biased;
            () = listener.spoken_to() => Happened::Command,
            Some(arrival) = self.calls.next(&paid) => Happened::Arrival(arrival),
            () = sleep_until(deadline) => Happened::Deadline,
        })
    }
}
