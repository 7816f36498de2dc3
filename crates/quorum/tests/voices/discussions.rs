//! Every pattern on every wire, from the request to the result.

use std::sync::Arc;

use quorum::model::id::Seq;
use quorum_core::memory::MemoryStore;
use quorum_testkit::server::{End, server};

use crate::providers::{NAMES, Tally, WIRES, request, scope, sources, start};

#[tokio::test]
async fn d10_every_pattern_is_held_over_every_wire() {
    for on in WIRES {
        let server =
            server().models(NAMES.map(|name| format!("{name}-1")).iter().map(String::as_str)).start();
        let scope = scope(Arc::new(MemoryStore::new()), sources(&server.url(), on));
        let mut all = Tally::default();
        for pattern in quorum::built_in().patterns() {
            let (discussion, handle) = start(&scope, &request(pattern.name, &NAMES)).await;
            let outcome = handle.finished().await.unwrap().outcome();
            let what = format!("{} over {}: {:?}", pattern.name, on.0, outcome.error);
            assert!(outcome.success && !outcome.simulated && !outcome.integrity.degraded, "{what}");
            assert_eq!(outcome.failed_providers, [""; 0], "{what}");
            assert!(!outcome.synthesis.trim().is_empty(), "{what}");
            all.add(&discussion.facts(Seq::START).await.unwrap());
        }
        let requests = server.requests();
        let (answers, probes): (Vec<_>, Vec<_>) = requests.iter().partition(|it| it.asked().is_some());
        assert!(answers.iter().all(|it| it.wire == on.0 && it.asked().unwrap().is_streamed), "{}", on.0);
        assert_eq!(
            (answers.len() as u64, all.answers, all.failures),
            (all.placed, all.placed, 0),
            "{}",
            on.0
        );
        assert_eq!(probes.len(), NAMES.len(), "what was found is remembered from one discussion to the next");
        assert!(requests.iter().all(|it| it.end() == End::Complete), "{}", on.0);
    }
}
