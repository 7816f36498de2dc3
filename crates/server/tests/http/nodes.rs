//! Two servers over one store: a watcher of either sees the same, as it happens.

use std::sync::Arc;

use quorum::memory::MemoryStore;
use quorum_server::Limits;
use serde_json::{Value, json};

use crate::harness::{ANN, BOB, TestServer, answered, order, tenants};

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

/// The `run` column of a tenant's list, newest first.
async fn runs(server: &TestServer, token: &str) -> Vec<String> {
    let listed = answered(server.request("GET", "/api/discussions").bearer_auth(token)).await.json();
    let run = |it: &Value| it["run"].as_str().unwrap_or_default().to_owned();
    listed.as_array().unwrap().iter().map(run).collect()
}

async fn until_runs(server: &TestServer, token: &str, expected: &[&str]) {
    while runs(server, token).await != expected {
        // It sleeps because the claimer works in real time.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_tenant_runs_no_more_than_its_share_on_all_nodes_together() {
    let store = Arc::new(MemoryStore::new());
    let limits = Limits { running_of_tenant: Some(2), queued: 2, ..Limits::default() };
    let config = format!("{}\n", tenants().replace("latency=0ms", "latency=60s"));
    let one = TestServer::sharing(store.clone(), &config, limits).await;
    let two = TestServer::sharing(store, &config, limits).await;
    let place = async |server: &TestServer, token: &str| {
        answered(server.posting("/api/discussions", &order()).bearer_auth(token)).await
    };
    let first = place(&one, ANN).await;
    let statuses = [
        first.json()["status"].clone(),
        place(&two, ANN).await.json()["status"].clone(),
        place(&one, ANN).await.json()["status"].clone(),
        place(&two, BOB).await.json()["status"].clone(),
    ];
    assert_eq!(statuses, ["running", "running", "queued", "running"]);
    // A client that waits for its answer is told at once.
    let body = json!({ "model": "quorum", "messages": [{ "role": "user", "content": "Tabs or spaces?" }] });
    let chat = answered(two.posting("/v1/chat/completions", &body).bearer_auth(ANN)).await;
    assert_eq!(chat.status, 429, "{}", chat.text);
    assert!(chat.text.contains("2 of your discussions are running"), "{}", chat.text);
    assert_eq!(runs(&two, ANN).await, ["queued", "running", "running"]);
    // The next one has its turn when one is over.
    let abort = format!("/api/discussions/{}/abort", first.id());
    assert_eq!(answered(two.posting(&abort, &json!({})).bearer_auth(ANN)).await.status, 202);
    until_runs(&one, ANN, &["running", "running", "over"]).await;
    assert_eq!(place(&one, ANN).await.json()["status"], "queued");
    assert_eq!(runs(&one, ANN).await, ["queued", "running", "running", "over"]);
}

#[tokio::test]
async fn f12_equal_orders_at_two_nodes_at_once_are_one_discussion() {
    let store = Arc::new(MemoryStore::new());
    let one = TestServer::sharing(store.clone(), SLOW, Limits::default()).await;
    let two = TestServer::sharing(store, SLOW, Limits::default()).await;
    let send = async |server: &TestServer, key: String| {
        let answer =
            answered(server.posting("/api/discussions", &order()).header("idempotency-key", key)).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.id()
    };
    for number in 0..10 {
        let key = || format!("order {number}");
        let (here, there) = tokio::join!(send(&one, key()), send(&two, key()));
        assert_eq!(here, there);
    }
    assert_eq!(one.get("/api/discussions").await.json().as_array().unwrap().len(), 10);
}
