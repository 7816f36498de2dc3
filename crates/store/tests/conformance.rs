//! Runs the conformance suite of stores on the SQLite store.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use common::Folder;
use futures::future::BoxFuture;
use quorum_core::model::time::Timestamp;
use quorum_store::{Options, SqliteStore};
use quorum_testkit::conformance::store::{Subject, Time, fixture::second};

mod common;

async fn sqlite() -> Subject<SqliteStore> {
    let folder = Folder::new();
    let clock = Arc::new(AtomicI64::new(second(0).0));
    let read = clock.clone();
    let now = Arc::new(move || Timestamp(read.load(Ordering::SeqCst)));
    let store = SqliteStore::open_with(folder.database(), Options { now, ..Options::default() }).unwrap();
    let pass = move |time: Duration| -> BoxFuture<'static, ()> {
        clock.fetch_add(time.as_micros() as i64, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    };
    Subject { store: Arc::new(store), time: Time::Passes(Box::new(pass)), keep: Box::new(folder) }
}

quorum_testkit::store_conformance!(crate::sqlite);
