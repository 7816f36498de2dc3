//! Waits for a discussion within the time of a call, whichever process runs it, and goes on with
//! one that no process runs.

use std::time::Duration;

use quorum::Discussion;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::{
    app::App,
    live::listener::Listener,
    mcp::{
        answer::{self, Extent},
        call::Call,
        failure::Failure,
        progress::{Progress, Since},
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
    /// The steps that the client is told of.
    pub(crate) since: Since,
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
        let mut progress = Progress::of(call, discussion, &listener, self.since);
        let mut look_at = Instant::now();
        let mut stale_until = (self.start == Start::Resumed).then(|| Instant::now() + EFFECT);
        loop {
            let is_over = listener.is_over();
            let Some((seq, is_settled)) = listener.look(|it| (it.seq, answer::is_settled(it))) else {
                return Err(Failure::no_such_discussion());
            };
            progress.tell(seq).await;
            stale_until = stale_until.filter(|until| is_settled && Instant::now() < *until);
            if is_over || (is_settled && stale_until.is_none()) {
                return Ok((Waited::Settled, listener));
            }
            tokio::select! {
                // In this order: at shutdown calls are answered, not taken for cancelled.
                biased;
                () = closing(call) => return Ok((Waited::Going, listener)),
                () = call.cancelled() => return Ok((Waited::Cancelled, listener)),
                // Even if nothing is to be waited for.
                () = sleep_until(look_at) => {
                    take_over(&call.app, discussion).await?;
                    look_at = Instant::now() + LOOK;
                }
                () = listener.changed() => {}
                () = sleep_until(self.until) => return Ok((Waited::Going, listener)),
                () = progress.due() => {}
                () = sleep_until(stale_until.unwrap_or(self.until)), if stale_until.is_some() => {}
            }
        }
    }
}

/// Goes on with a discussion that no process runs, or that is queued, if a run slot is free.
/// Without one, a later look may find one.
pub(crate) async fn take_over(app: &App, discussion: &Discussion) -> Result<(), quorum::Error> {
    let Some(slot) = app.run_slot(discussion.tenant()).await? else { return Ok(()) };
    if let Some(handle) = discussion.take_over().await? {
        app.hub.listen_to(discussion, &handle, Some(slot));
    }
    Ok(())
}

async fn closing(call: &Call) {
    call.app.hub.until_closing(std::future::pending::<()>()).await;
}

/// What this call answers with about a discussion as it stands.
pub(crate) fn told(call: &Call, listener: &Listener, extent: Extent) -> Result<Value, Failure> {
    let told = listener.look(|state| call.writer().discussion(state, extent));
    told.ok_or_else(Failure::no_such_discussion)
}
