//! The in-memory store passes the checks for every store.

use std::{sync::Arc, time::Duration};

use quorum_core::memory::MemoryStore;
use quorum_testkit::conformance::store::{Subject, Time};

async fn memory() -> Subject<MemoryStore> {
    let pass = |time: Duration| -> futures::future::BoxFuture<'static, ()> {
        Box::pin(async move {
            tokio::time::pause();
            tokio::time::advance(time).await;
            tokio::time::resume();
        })
    };
    Subject { store: Arc::new(MemoryStore::new()), time: Time::Passes(Box::new(pass)), keep: Box::new(()) }
}

quorum_testkit::store_conformance!(crate::memory);
