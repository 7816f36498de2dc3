//! The leases of a process's claims: one task for all its discussions prolongs them, and wakes the
//! discussions that have new commands.

use std::{sync::Weak, time::Duration};

use futures::{FutureExt, StreamExt, stream::BoxStream};
use tokio::time::sleep;

use crate::{
    engine::{Inner, LEASE_MS},
    model::id::DiscussionId,
    seams::Claim,
};

/// Three chances before a claim runs out.
const ROUND: Duration = Duration::from_millis(LEASE_MS / 3);

/// Passes the store's news on until the engine is gone.
pub(crate) async fn keep(engine: Weak<Inner>, mut news: BoxStream<'static, DiscussionId>) {
    let mut next_round = sleep(ROUND).boxed();
    loop {
        tokio::select! {
            id = news.next() => match (id, engine.upgrade()) {
                (Some(id), Some(inner)) => poke(&inner, id),
                (_, None) | (None, _) => return,
            },
            () = &mut next_round => {
                let Some(inner) = engine.upgrade() else { return };
                prolong(&inner).await;
                next_round = sleep(ROUND).boxed();
            }
        }
    }
}

fn poke(inner: &Inner, id: DiscussionId) {
    let running = inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(discussion) = running.get(&id) {
        discussion.control.poke();
    }
}

/// A claim that can't be prolonged is fenced at its next append, so an error needs nothing more
/// here.
async fn prolong(inner: &Inner) {
    let claims: Vec<Claim> = {
        let running = inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        running.values().filter_map(|it| it.claim.clone()).collect()
    };
    if !claims.is_empty() {
        let _ = inner.shared.store.extend(claims, LEASE_MS).await;
    }
}
