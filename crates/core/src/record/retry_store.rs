//! Retries for a store that is unavailable, so that a full disk or a locked database loses nothing
//! that was paid for.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::{record::feed::Feed, seams::StoreError};

const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Retries while the store is unavailable, and notifies subscribers. Also returns whether there was
/// a retry: if so, an earlier attempt may have been stored although its acknowledgement was lost.
pub(crate) async fn patiently<'s, T>(
    feed: &Feed,
    try_once: impl Fn() -> BoxFuture<'s, Result<T, StoreError>>,
) -> (Result<T, StoreError>, Waited) {
    let mut waited = Waited::No;
    let mut wait = FIRST_WAIT;
    loop {
        match try_once().await {
            Err(StoreError::Unavailable(message)) => {
                feed.trouble(&message);
                waited = Waited::Yes;
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            done => return (done, waited),
        }
    }
}

/// How long an operation is retried while its caller waits.
const BRIEFLY: Duration = Duration::from_secs(10);

/// Retries for some seconds, so that an operation doesn't fail because the store is restarting.
/// Only for idempotent operations.
pub(crate) async fn briefly<T, A: Future<Output = Result<T, StoreError>>>(
    try_once: impl Fn() -> A,
) -> Result<T, StoreError> {
    let (began, mut wait) = (Instant::now(), FIRST_WAIT);
    loop {
        match try_once().await {
            Err(StoreError::Unavailable(_)) if began.elapsed() + wait < BRIEFLY => {
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            done => return done,
        }
    }
}

/// Whether there was more than one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Yes,
    No,
}
