//! Waits for a discussion within the time of a call, whichever process runs it, and goes on with
//! one that no process runs.

use std::time::Duration;

use quorum::Discussion;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::{
    live::listener::Listener,
    mcp::{
        answer::{self, Extent},
        call::Call,
        failure::Failure,
        progress::{self, Progress},
    },
};

/// How often to look whether the process that ran it is gone.
const LOOK: Duration = Duration::from_secs(1);

/// How long a discussion that was resumed may look as before.
pub(crate) const EFFECT: Duration = Duration::from_secs(2);

/// A wait for a discussion.
pub(crate) struct Wait<'w> {
    pub(crate) call: &'w Call,
    pub(crate) discussion: &'w Discussion,
    pub(crate) until: Instant,
    /// Whether it was resumed for this call: then it may look paused for another moment.
    pub(crate) start: Start,
}

/// What went before a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The discussion is as it looks.
    AsItIs,
    /// It was just resumed, or spoken to.
    Resumed,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It is over, or waits for somebody.
    Settled,
    /// Time is up, and it goes on.
    Going,
    /// The client cancelled the call.
    Cancelled,
}

impl Wait<'_> {
    /// Waits until it is settled or time is up. Goes on with it here if no process runs it.
    pub(crate) async fn end(&self) -> Result<(Waited, Listener), Failure> {
        let Wait { call, discussion, .. } = self;
        let mut listener = call.app.hub.hear(discussion).await?;
        let spec = listener.look(|state| state.spec.clone());
        let mut progress = Progress::of(call, spec);
        let mut look_at = Instant::now();
        let mut stale_until = (self.start == Start::Resumed).then(|| Instant::now() + EFFECT);
        loop {
            let Some((steps, line)) = listener.look(|it| (progress::steps(it), progress::line(it))) else {
                return Err(Failure::no_such_discussion());
            };
            progress.tell(steps, line).await;
            let is_settled = listener.look(answer::is_settled) == Some(true);
            stale_until = stale_until.filter(|until| is_settled && Instant::now() < *until);
            if listener.is_over() || (is_settled && stale_until.is_none()) {
                return Ok((Waited::Settled, listener));
            }
            tokio::select! {
                // In this order: at shutdown calls are answered, not taken for cancelled.
                biased;
                () = closing(call) => return Ok((Waited::Going, listener)),
                () = call.cancelled() => return Ok((Waited::Cancelled, listener)),
                () = listener.changed() => {}
                () = sleep_until(self.until) => return Ok((Waited::Going, listener)),
                () = progress.due() => {}
                () = sleep_until(stale_until.unwrap_or(self.until)), if stale_until.is_some() => {}
                () = sleep_until(look_at) => {
                    self.take_over().await?;
                    look_at = Instant::now() + LOOK;
                }
            }
        }
    }

    async fn take_over(&self) -> Result<(), Failure> {
        let app = &self.call.app;
        // Without a slot the wait goes on, and the next look may find one.
        let Some(slot) = app.run_slot(self.call.scope.tenant()).await? else { return Ok(()) };
        if let Some(handle) = self.discussion.take_over().await? {
            app.hub.listen_to(self.discussion, &handle, Some(slot));
        }
        Ok(())
    }
}

async fn closing(call: &Call) {
    call.app.hub.until_closing(std::future::pending::<()>()).await;
}

/// What this call answers with about a discussion as it stands.
pub(crate) fn told(call: &Call, listener: &Listener, extent: Extent) -> Result<Value, Failure> {
    let told = listener.look(|state| call.writer().discussion(state, extent));
    told.ok_or_else(Failure::no_such_discussion)
}
