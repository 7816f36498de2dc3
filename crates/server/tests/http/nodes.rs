//! Two servers over one store: a watcher of either sees the same, as it happens.

use std::sync::Arc;

use quorum::memory::MemoryStore;
use quorum_server::Limits;
use serde_json::json;

use crate::harness::{TestServer, order};

const SLOW: &str = "[defaults]\nsimulate = \"latency=400ms\"\nseed = 7\n";

/// The ids of the events of a stream, and its pieces of text.
fn told(stream: &str) -> (Vec<&str>, Vec<&str>) {
    let ids = stream.lines().filter_map(|it| it.strip_prefix("id: ")).collect();
    let chunks = stream.lines().zip(stream.lines().skip(1));
    let chunks = chunks.filter(|(event, _)| event.starts_with("event: ") && event.contains("chunk"));
    (ids, chunks.map(|(_, data)| data).collect())
}

#[tokio::test]
async fn facts_and_live_text_reach_the_watchers_of_another_node() {
    let store = Arc::new(MemoryStore::new());
    let one = TestServer::sharing(store.clone(), SLOW, Limits::default()).await;
    let two = TestServer::sharing(store, SLOW, Limits::default()).await;
    let id = one.ordered(&order()).await;
    let path = format!("/api/discussions/{id}/events");
    let (here, there) = tokio::join!(one.get(&path), two.get(&path));
    let ((ids, chunks), (other_ids, other_chunks)) = (told(&here.text), told(&there.text));
    assert_eq!(other_ids, ids);
    assert!(!chunks.is_empty(), "{}", here.text);
    // Text before the first look of the other node comes as a whole.
    assert!(chunks.len() <= 2 * other_chunks.len(), "{} of {}", other_chunks.len(), chunks.len());
}

#[tokio::test]
async fn a_node_runs_what_another_has_no_room_for() {
    let store = Arc::new(MemoryStore::new());
    let full = Limits { running: 1, ..Limits::default() };
    let one = TestServer::sharing(store.clone(), "[defaults]\nsimulate = \"latency=60s\"\n", full).await;
    one.ordered(&order()).await;
    let queued =
        one.post("/api/discussions", &json!({ "topic": "And then?", "simulate": { "latencyMs": 0 } })).await;
    assert_eq!(queued.json()["status"], "queued", "{}", queued.text);
    let two = TestServer::sharing(store, SLOW, Limits::default()).await;
    let told = one.get(&format!("/api/discussions/{}/events", queued.id())).await;
    assert!(told.text.contains("event: discussion-completed"), "{}", told.text);
    assert_eq!(two.get("/readyz").await.json()["nodes"], 2);
}
