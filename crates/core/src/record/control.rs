//! Delivers people's commands to a running discussion.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Notify, watch};

use crate::model::command::Command;

/// Notifies a running discussion of new commands in its inbox, and its sub-discussions of the
/// pending command.
#[derive(Debug, Default)]
pub(crate) struct Control {
    woken: AtomicBool,
    /// Whether this process is to leave it to another one.
    leaving: AtomicBool,
    wake: Notify,
    pending: watch::Sender<Option<Command>>,
}

impl Control {
    /// For a discussion whose inbox has not been read yet and may have commands.
    pub(crate) fn unread() -> Self {
        Control { woken: AtomicBool::new(true), ..Control::default() }
    }

    /// Signals that there may be a new command.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Begins nothing new from now on, here and below; what is under way is still recorded.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
        self.wake.notify_one();
        self.pending.send_modify(|_| {});
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire)
    }

    /// Whether there may be a new command; resets the flag.
    pub(crate) fn take_wake(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }

    /// Waits for such a signal. For the root only: `notify_one` wakes a single task, and only the
    /// root has an inbox.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Publishes the pending command, also to sub-discussions.
    pub(crate) fn publish(&self, pending: Option<Command>) {
        self.pending.send_if_modified(|current| {
            let is_new = *current != pending;
            *current = pending;
            is_new
        });
    }

    pub(crate) fn pending(&self) -> Option<Command> {
        self.pending.borrow().clone()
    }

    /// A receiver for a sub-discussion, notified when the pending command changes.
    pub(crate) fn subscribe_pending(&self) -> watch::Receiver<Option<Command>> {
        self.pending.subscribe()
    }
}
