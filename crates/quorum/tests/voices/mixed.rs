//! Many discussions while a small share of all answers fails.

use std::sync::Arc;

use futures::future::join_all;
use quorum::{Finished, model::id::Seq};
use quorum_core::memory::MemoryStore;
use quorum_testkit::server::{At, Break, Fault, RetryAfter, Script, server};
use tokio::time::Instant;

use crate::providers::{NAMES, Tally, WIRES, request, scope, source, start};

/// 5 % of 429, 2 % of 500, 1 % of cut streams.
fn faulty() -> Script {
    let shares = [
        (0.05, Fault::RateLimited(RetryAfter::Millis(50))),
        (0.02, Fault::Status(500)),
        (0.01, Fault::Cut(At::Anywhere(3), Break::Fin)),
    ];
    server().mix(7, shares)
}

/// The results: each discussion's tally and whether it kept all participants, and the requests the
/// server saw.
struct Held {
    each: Vec<(Tally, bool)>,
    asked: u64,
    spoilt: u64,
}

impl Held {
    fn all(&self) -> Tally {
        self.each.iter().fold(Tally::default(), |sum, (one, _)| Tally {
            placed: sum.placed + one.placed,
            answers: sum.answers + one.answers,
            failures: sum.failures + one.failures,
        })
    }
}

/// Runs this many discussions concurrently, with all patterns and wires in turn.
async fn hold(count: usize, script: Script) -> Held {
    let server = script.on_thread();
    let sources = NAMES.iter().zip(WIRES).map(|(name, on)| source(name, &server.url(), on, "a-key"));
    let scope = scope(Arc::new(MemoryStore::new()), sources.collect());
    let registry = quorum::built_in();
    let patterns = registry.patterns().iter().cycle().take(count);
    let held = join_all(patterns.map(async |pattern| {
        let (discussion, handle) = start(&scope, &request(pattern.name, &NAMES)).await;
        let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("nobody is awaited") };
        let is_whole = state.failures.is_empty();
        let outcome = state.outcome();
        assert!(outcome.success || !is_whole, "{}: {:?}", pattern.name, outcome.error);
        let mut tally = Tally::default();
        tally.add(&discussion.facts(Seq::START).await.unwrap());
        (tally, is_whole)
    }));
    let each = held.await;
    let asked = server.requests().iter().filter(|it| it.asked().is_some()).count() as u64;
    Held { each, asked, spoilt: server.counts().spoilt }
}

#[tokio::test]
async fn f6_the_calls_are_those_needed_plus_the_failures() {
    let count = if std::env::var_os("QUORUM_LONG").is_some() { 1_000 } else { 100 };
    let smooth = hold(count, server()).await;
    let needed = smooth.all();
    assert_eq!(needed, Tally { placed: smooth.asked, answers: smooth.asked, failures: 0 });
    let began = Instant::now();
    let rough = hold(count, faulty()).await;
    let (all, took) = (rough.all(), began.elapsed());
    assert_eq!((all.placed, all.failures), (rough.asked, rough.spoilt), "each failure met is one call more");
    assert_eq!(all.placed, all.answers + all.failures);
    assert!(rough.spoilt > needed.placed / 50, "{} of {}", rough.spoilt, needed.placed);
    // A dialogue's votes are tried twice, its turns three times: by chance a step may fail.
    let whole: Vec<_> = rough.each.iter().zip(&smooth.each).filter(|(rough, _)| rough.1).collect();
    assert!(whole.iter().all(|((rough, _), (smooth, _))| rough.answers == smooth.answers));
    assert!(whole.len() * 20 >= count * 19, "{} of {count} lost nobody", whole.len());
    println!(
        "{count} discussions in {took:?}: {} calls needed, {} failures met, {} calls made, {} discussions lost nobody",
        needed.placed,
        rough.spoilt,
        rough.asked,
        whole.len()
    );
}
