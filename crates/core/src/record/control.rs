//! How people's commands reach a running discussion.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Notify, watch};

use crate::model::command::Command;

/// Tells a running discussion that its inbox has something new, and its sub-discussions what is
/// wished.
#[derive(Debug, Default)]
pub(crate) struct Control {
    poked: AtomicBool,
    /// Whether this process is to leave it to another one.
    leaving: AtomicBool,
    wake: Notify,
    wish: watch::Sender<Option<Command>>,
}

impl Control {
    /// For a discussion whose inbox was not read yet: there may be a command.
    pub(crate) fn unread() -> Self {
        Control { poked: AtomicBool::new(true), ..Control::default() }
    }

    /// There may be a new command.
    pub(crate) fn poke(&self) {
        self.poked.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Begins nothing new from now on, here and below; what is under way is still recorded.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
        self.wake.notify_one();
        self.wish.send_modify(|_| {});
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire)
    }

    /// Whether there may be a new command; asks once.
    pub(crate) fn is_poked(&self) -> bool {
        self.poked.swap(false, Ordering::AcqRel)
    }

    /// Waits until there may be one. For the root alone: only one waiting task is woken, and only
    /// the root has an inbox.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Says what is wished, to everyone below too.
    pub(crate) fn wish(&self, wish: Option<Command>) {
        self.wish.send_if_modified(|wished| {
            let is_new = *wished != wish;
            *wished = wish;
            is_new
        });
    }

    pub(crate) fn wished(&self) -> Option<Command> {
        self.wish.borrow().clone()
    }

    /// A way for a sub-discussion to hear when something else is wished.
    pub(crate) fn wishes(&self) -> watch::Receiver<Option<Command>> {
        self.wish.subscribe()
    }
}
