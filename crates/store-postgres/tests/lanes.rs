//! Lanes of several nodes on one database: together they keep to a provider's limits.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use quorum_core::{
    call::lane::{Lane, Width},
    seams::{Duty, Nodes, Store},
};
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{conformance::store::fixture::node, postgres::Database};

fn opened(database: &Database) -> PostgresStore {
    PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap()
}

fn lane(store: &PostgresStore, width: Width) -> Arc<Lane> {
    let lane = Lane::new(width);
    lane.share("claude", store.grants().unwrap());
    Arc::new(lane)
}

#[tokio::test]
async fn ten_calls_a_second_over_three_nodes_are_never_exceeded_by_more_than_5_percent() {
    let database = Database::fresh();
    let stores = [opened(&database), opened(&database), opened(&database)];
    let width = Width { per_minute: Some(600), ..Width::at_once(60) };
    let began = Instant::now();
    let calls = stores.iter().flat_map(|store| {
        let lane = lane(store, width);
        (0..12).map(move |_| {
            let lane = lane.clone();
            async move {
                let _place = lane.enter(0).await.unwrap();
                began.elapsed()
            }
        })
    });
    let mut entered = futures::future::join_all(calls).await;
    entered.sort();
    // The first slot is free at once, and each further one a tenth of a second later.
    for (number, at) in entered.iter().enumerate() {
        let earliest = Duration::from_millis(100) * number as u32;
        assert!(earliest.div_f64(1.05) <= *at, "call {number} came after {at:?}: {entered:?}");
    }
}

#[tokio::test]
async fn a_rate_limit_at_one_node_closes_the_lane_of_the_others() {
    let database = Database::fresh();
    let (one, two) = (opened(&database), opened(&database));
    let (here, there) = (lane(&one, Width::at_once(9)), lane(&two, Width::at_once(9)));
    let grants = two.grants().unwrap();
    here.close_for(Duration::from_secs(600));
    let began = Instant::now();
    while grants.closed_for("claude").is_zero() {
        assert!(began.elapsed() < Duration::from_secs(20), "it was not heard");
        tokio::task::yield_now().await;
    }
    assert!(there.enter(0).await.is_err(), "so long is not waited for");
    // A node that has not heard of it is granted nothing before that time.
    let granted = opened(&database).grants().unwrap().take("claude", Duration::from_millis(1)).await.unwrap();
    assert!(Duration::from_secs(500) < granted.wait, "{granted:?}");
}

#[tokio::test]
async fn returned_time_is_granted_again_unless_more_was_granted_after_it() {
    let database = Database::fresh();
    let store = opened(&database);
    let grants = store.grants().unwrap();
    let second = Duration::from_secs(1);
    let first = grants.take("claude", 100 * second).await.unwrap();
    let last = grants.take("claude", 10 * second).await.unwrap();
    grants.give_back("claude", first, 50 * second);
    grants.give_back("claude", last, 9 * second);
    let began = Instant::now();
    let is_back = || database.run("SELECT free_at FROM lanes") == (last.until - 9_000_000).to_string();
    while !is_back() {
        assert!(began.elapsed() < Duration::from_secs(20), "it was not given back");
    }
    let next = grants.take("claude", second).await.unwrap();
    assert_eq!(next.until, last.until - 8_000_000);
}

#[tokio::test]
async fn concurrent_calls_are_divided_by_the_living_nodes() {
    let database = Database::fresh();
    let (one, two) = (opened(&database), opened(&database));
    let (first, second) = (node(&one, "one").await, node(&two, "two").await);
    assert_eq!(one.grants().unwrap().sharers(), 1, "until it has looked");
    for (store, node) in [(&one, first), (&two, second)] {
        store.beat(node, Duty::Serving).await.unwrap();
        assert_eq!(store.grants().unwrap().sharers(), 2);
    }
    two.deregister(second).await.unwrap();
    one.beat(first, Duty::Serving).await.unwrap();
    assert_eq!(one.grants().unwrap().sharers(), 1);
}
