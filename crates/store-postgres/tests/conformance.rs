//! Runs the conformance suite of stores on the PostgreSQL store.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::store::{Subject, Time},
    postgres::Database,
};

async fn postgres() -> Subject<PostgresStore> {
    let database = Arc::new(Database::fresh());
    let store = PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap();
    let kept = database.clone();
    // The database's clock can't be set, so what waits for a time waits for an earlier one.
    let pass = move |time: Duration| -> BoxFuture<'static, ()> {
        database.run(&format!("UPDATE discussions SET ready_at = ready_at - {}", time.as_micros()));
        Box::pin(std::future::ready(()))
    };
    Subject { store: Arc::new(store), time: Time::Passes(Box::new(pass)), keep: Box::new(kept) }
}

quorum_testkit::store_conformance!(crate::postgres);
