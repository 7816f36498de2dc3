//! Delivers people's commands to a running discussion.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Notify, watch};

use crate::{model::command::Command, seams::Release};

/// Notifies a running discussion of new commands in its inbox, and its sub-discussions of the
/// pending command.
#[derive(Debug, Default)]
pub(crate) struct Control {
    woken: AtomicBool,
    /// Whether this process is to leave it to another one, and when that may begin.
    leaving: Mutex<Option<Release>>,
    wake: Notify,
    pending: watch::Sender<Option<Command>>,
    /// Whether new calls have to wait, and whether the run is to end at once.
    standing: watch::Sender<Standing>,
}

/// What this process may do with the discussion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Running,
    /// It can't tell others that it lives, so they may take over at any moment.
    HeldBack,
    /// Another node has taken over.
    Cancelled,
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

    /// Begins nothing new from now on, here and below; what is under way is still recorded. Then
    /// the claim is given up in this way.
    pub(crate) fn leave(&self, how: Release) {
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        // Once the claim is to be open to every node at once, a later call must not delay that.
        if *leaving != Some(Release::Now) {
            *leaving = Some(how);
        }
        drop(leaving);
        self.wake.notify_one();
        self.pending.send_modify(|_| {});
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaves_how().is_some()
    }

    pub(crate) fn leaves_how(&self) -> Option<Release> {
        *self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets new calls wait, or go on.
    pub(crate) fn hold_back(&self, holds: bool) {
        let wanted = if holds { Standing::HeldBack } else { Standing::Running };
        self.standing.send_if_modified(|standing| {
            let changes = *standing != Standing::Cancelled && *standing != wanted;
            if changes {
                *standing = wanted;
            }
            changes
        });
    }

    /// Ends the run at once, with its calls.
    pub(crate) fn cancel(&self) {
        self.standing.send_replace(Standing::Cancelled);
    }

    pub(crate) async fn cancelled(&self) {
        self.reaches(|it| *it == Standing::Cancelled).await;
    }

    /// Waits while new calls have to wait.
    pub(crate) async fn may_call(&self) {
        self.reaches(|it| *it == Standing::Running).await;
    }

    async fn reaches(&self, is_it: impl FnMut(&Standing) -> bool) {
        // Fails only without a sender, which this is.
        let _ = self.standing.subscribe().wait_for(is_it).await;
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
