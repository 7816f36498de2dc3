//! The leases of a process's claims: one task for all its discussions renews them, and wakes the
//! discussions that have new commands.

use std::{sync::Weak, time::Duration};

use futures::{FutureExt, StreamExt, stream::BoxStream};
use tokio::time::sleep;

use crate::{
    engine::{Inner, LEASE_MS},
    model::id::DiscussionId,
    seams::Claim,
};

/// The renewal interval: three attempts before a claim expires.
const RENEWAL: Duration = Duration::from_millis(LEASE_MS / 3);

/// Renews leases and passes the store's news on, until the engine is dropped.
pub(crate) async fn renew_leases(engine: Weak<Inner>, mut news: BoxStream<'static, DiscussionId>) {
    let mut next_renewal = sleep(RENEWAL).boxed();
    loop {
        tokio::select! {
            id = news.next() => match (id, engine.upgrade()) {
                (Some(id), Some(inner)) => wake(&inner, id),
                (_, None) | (None, _) => return,
            },
            () = &mut next_renewal => {
                let Some(inner) = engine.upgrade() else { return };
                renew_all(&inner).await;
                next_renewal = sleep(RENEWAL).boxed();
            }
        }
    }
}

fn wake(inner: &Inner, id: DiscussionId) {
    let running = inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(discussion) = running.get(&id) {
        discussion.control.wake();
    }
}

/// Renews all claims. A claim that can't be renewed is fenced at its next append, so an error needs
/// no handling here.
async fn renew_all(inner: &Inner) {
    let claims: Vec<Claim> = {
        let running = inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        running.values().filter_map(|it| it.claim.clone()).collect()
    };
    if !claims.is_empty() {
        let _ = inner.services.store.extend(claims, LEASE_MS).await;
    }
}
