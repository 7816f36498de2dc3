//! Models that spend all their tokens on thoughts, on every wire.

use std::sync::Arc;

use quorum::model::{event::Event, id::Seq};
use quorum_core::memory::MemoryStore;
use quorum_providers::wire::Quirks;
use quorum_testkit::server::server;

use crate::providers::{NAMES, WIRES, request, scope, sources, start};

/// The room for thoughts of every model.
const THINKING: u32 = 4_096;

/// Bob's model thinks longer than any limit with the usual room for thoughts, but not longer than
/// one with twice as much.
const NEEDED: u64 = 7_500;

#[tokio::test]
async fn a_model_that_spent_its_room_on_thoughts_gets_twice_as_much_once_on_every_wire() {
    for on in WIRES {
        for pattern in ["round-robin", "voting", "critique"] {
            let server = server().thinks_long("bob-1", NEEDED).start();
            let mut sources = sources(&server.url(), on);
            sources
                .iter_mut()
                .for_each(|it| it.usual.quirks = Quirks { thinking: THINKING, ..it.usual.quirks });
            let scope = scope(Arc::new(MemoryStore::new()), sources);
            let (discussion, handle) = start(&scope, &request(pattern, &NAMES[..3])).await;
            let outcome = handle.finished().await.unwrap().outcome();
            let what = format!("{pattern} over {}: {:?}", on.0, outcome.error);
            assert!(outcome.success && !outcome.integrity.degraded, "{what}");
            assert_eq!(outcome.failed_providers, [""; 0], "{what}");
            let facts = discussion.facts(Seq::START).await.unwrap();
            let thought =
                facts.iter().filter(|it| matches!(it.event, Event::CallFailed { only_thoughts: true, .. }));
            let requests = server.requests();
            let limits: Vec<u64> = requests
                .iter()
                .filter(|it| it.model == "bob-1")
                .filter_map(|it| it.asked()?.max_tokens)
                .collect();
            let pairs: Vec<u64> = limits.chunks(2).map(|it| it[1] - it[0]).collect();
            assert!(
                !pairs.is_empty() && pairs.iter().all(|more| *more == u64::from(THINKING)),
                "{what}: {limits:?}"
            );
            assert_eq!(thought.count(), pairs.len(), "{what}: {limits:?}");
        }
    }
}
