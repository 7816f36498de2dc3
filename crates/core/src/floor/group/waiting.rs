//! What a group waits for while calls are under way: a command, an arrival, the deadline.

use std::sync::Arc;

use tokio::{sync::watch, time::sleep_until};

use super::{Group, calls::Arrival};
use crate::{
    floor::{Floor, halt::Halt},
    model::command::Command,
    record::control::Control,
};

/// What a group waits for.
pub(super) enum Happened {
    /// There may be a new command.
    Command,
    Arrival(Arrival),
    /// The time for talking, or for deciding, is over.
    Deadline,
}

/// Hears of commands: the root listens for its inbox, and a sub-discussion for what the root took
/// from it.
pub(super) struct Listener {
    control: Arc<Control>,
    /// `None` in the root.
    wishes: Option<watch::Receiver<Option<Command>>>,
}

impl Listener {
    pub(super) fn of(floor: &Floor) -> Self {
        let control = floor.control.clone();
        let wishes = floor.record.state.lineage.is_some().then(|| control.wishes());
        Listener { control, wishes }
    }

    /// Waits until there may be a new command.
    async fn spoken_to(&mut self) {
        match &mut self.wishes {
            // It fails only when the root is gone, and nothing can be wished any more.
            Some(wishes) => drop(wishes.changed().await),
            None => self.control.woken().await,
        }
    }
}

impl Group<'_, '_> {
    /// Waits for the next thing that happens.
    pub(super) async fn wait(&mut self, listener: &mut Listener) -> Result<Happened, Halt> {
        if self.floor.record.is_owing() && self.calls.has_arrived() {
            // What has arrived needs no waiting, and is recorded together with what the last group
            // owes.
            return Ok(tokio::select! {
                biased;
                () = listener.spoken_to() => Happened::Command,
                Some(arrival) = async { self.calls.arrived() } => Happened::Arrival(arrival),
            });
        }
        // Looked at anew each time: a sub-discussion that has ended gives its time back.
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
