//! Retries for a store that is unavailable: nothing that was paid for is given up because a disk is
//! full or a database is locked.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::sleep;

use crate::{record::feed::Feed, seams::StoreError};

const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Tries again while the store is unavailable, and tells subscribers. Also says whether it had to:
/// then an earlier try may have been stored although its acknowledgement was lost.
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

/// Whether something had to be tried more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Yes,
    No,
}
