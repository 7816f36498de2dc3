//! Many discussions while a few of all answers go wrong.

use std::sync::Arc;

use futures::future::join_all;
use quorum::{Quorum, model::id::Seq};
use quorum_core::memory::MemoryStore;
use quorum_testkit::server::{At, Break, Fault, RetryAfter, Script, server};

use crate::house::{NAMES, Tally, WIRES, door, request, source};

/// 5 % of 429, 2 % of 500, 1 % of cut streams.
fn faulty() -> Script {
    let shares = [
        (0.05, Fault::RateLimited(RetryAfter::Millis(50))),
        (0.02, Fault::Status(500)),
        (0.01, Fault::Cut(At::Anywhere(3), Break::Fin)),
    ];
    server().mix(7, shares)
}

/// Holds so many discussions at once, all patterns and wires in turn. Gives back what they tell and what the server saw.
async fn hold(count: usize, script: Script) -> (Tally, u64, u64) {
    let server = script.on_thread();
    let sources = NAMES.iter().zip(WIRES).map(|(name, on)| source(name, &server.url(), on, "a-key"));
    let door = door(Arc::new(MemoryStore::new()), sources.collect());
    let patterns = Quorum::patterns().iter().cycle().take(count);
    let held = join_all(patterns.map(async |pattern| {
        let handle = door.start(&request(pattern.name, &NAMES)).await.unwrap();
        let outcome = handle.finished().await.unwrap().outcome();
        assert!(outcome.success, "{}: {:?}", pattern.name, outcome.error);
        assert!(outcome.failed_providers.is_empty(), "{:?}", outcome.failed_providers);
        door.facts(handle.id(), Seq::START).await.unwrap()
    }));
    let mut all = Tally::default();
    held.await.iter().for_each(|facts| all.add(facts));
    let asked = server.requests().iter().filter(|it| it.asked().is_some()).count() as u64;
    (all, asked, server.counts().spoilt)
}

#[tokio::test]
async fn f6_calls_made_are_those_needed_and_the_failures_met() {
    let count = if std::env::var_os("QUORUM_LONG").is_some() { 1_000 } else { 100 };
    let (smooth, needed, _) = hold(count, server()).await;
    assert_eq!(smooth, Tally { placed: needed, answers: needed, failures: 0 });
    let (rough, asked, spoilt) = hold(count, faulty()).await;
    println!("{count} discussions: {needed} calls needed, {spoilt} failures met, {asked} calls made");
    assert!(spoilt > needed / 50, "{spoilt} of {needed}");
    assert_eq!(rough, Tally { placed: needed + spoilt, answers: needed, failures: spoilt });
    assert_eq!(asked, rough.placed);
}
