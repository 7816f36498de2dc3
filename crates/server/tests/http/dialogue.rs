//! `POST /api/discussion`, as its first clients use it (A12, A15).

use std::{collections::BTreeMap, sync::Arc};

use quorum::memory::MemoryStore;
use quorum_server::Limits;
use serde_json::{Value, json};

use crate::harness::{FAST, Stream, TestServer, events};

fn body() -> Value {
    json!({
        "prompt": "What is the best programming language for web development?",
        "modelA": { "modelId": "gpt-4o", "providerId": "openai" },
        "modelB": { "modelId": "claude-sonnet-4-20250514", "providerId": "anthropic" },
    })
}

/// Replaces ids, times and durations with fixed values.
fn steady(value: &mut Value, ids: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    "timestamp" | "durationMs" | "at" => *value = json!(0),
                    "discussionId" | "id" => {
                        let next = format!("id-{}", ids.len() + 1);
                        let id = value.as_str().unwrap_or_default().to_owned();
                        *value = json!(ids.entry(id).or_insert(next));
                    }
                    _ => steady(value, ids),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|it| steady(it, ids)),
        _ => {}
    }
}

#[tokio::test]
async fn a12_the_seeds_example_is_streamed_as_the_twelve_events() {
    let server = TestServer::open(FAST).await;
    let answer = server.post("/api/discussion", &body()).await;
    assert_eq!(answer.status, 200);
    let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-accel-buffering"), "no");
    assert!(answer.text.starts_with("retry: 2000\n\nid: "), "{}", answer.text);

    let mut ids = BTreeMap::new();
    let mut told = events(&answer.text);
    told.iter_mut().for_each(|(_, _, data)| steady(data, &mut ids));
    // Text is split into chunks of random size; together they are the turn.
    let turns: Vec<&Value> =
        told.iter().filter(|it| it.1 == "turn-completed").map(|it| &it.2["turn"]["content"]).collect();
    let mut spoken = Vec::new();
    for (number, name, data) in &told {
        assert_eq!(number.is_none(), name == "turn-chunk");
        match (name.as_str(), spoken.last_mut()) {
            ("turn-started", _) => spoken.push(String::new()),
            ("turn-chunk", Some(text)) => text.push_str(data["chunk"].as_str().unwrap()),
            _ => {}
        }
    }
    assert_eq!(turns, spoken.iter().collect::<Vec<_>>());
    let recorded = told.iter().filter(|it| it.0.is_some());
    let text: String = recorded
        .map(|(id, name, data)| format!("id: {}\nevent: {name}\ndata: {data}\n\n", id.unwrap()))
        .collect();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/dialogue.sse");
    if std::env::var_os("QUORUM_BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).unwrap();
        std::fs::write(golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden).unwrap());
}

#[tokio::test]
async fn a15_missing_fields_are_named() {
    let server = TestServer::open(FAST).await;
    let refused = async |status: u16, path: &[&str], value: Value, field: &str, error: &str| {
        let mut body = body();
        let mut place = &mut body;
        for name in path {
            place = &mut place[*name];
        }
        *place = value;
        let answer = server.post("/api/discussion", &body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["fields"][0]["field"], field, "{problem}");
        assert_eq!(problem["error"], problem["detail"]);
        assert!(problem["error"].as_str().unwrap().contains(error), "{problem}");
    };
    let check = async |path: &[&str], value: Value, field: &str, error: &str| {
        refused(400, path, value, field, error).await;
    };
    check(&["prompt"], json!(""), "prompt", "Prompt is required").await;
    check(&["prompt"], json!(" \n "), "prompt", "Prompt is required").await;
    check(&["prompt"], Value::Null, "prompt", "Prompt is required").await;
    check(&["prompt"], json!("x".repeat(5_001)), "prompt", "5000").await;
    check(&["prompt"], json!(7), "prompt", "invalid type").await;
    check(&["modelA"], Value::Null, "modelA", "Both models must be specified").await;
    check(&["modelB", "modelId"], json!(""), "modelB.modelId", "Both models must be specified").await;
    check(&["modelB", "modelId"], json!("a b"), "modelB.modelId", "is not a model's name").await;
    let long = json!("m".repeat(60));
    refused(409, &["modelB", "modelId"], long, "modelB.modelId", "has at most 54").await;
    check(&["modelA", "providerId"], json!("nobody"), "modelA.providerId", "Provider not available").await;
    check(&["modelA", "providerId"], Value::Null, "modelA.providerId", "Provider not available").await;
    check(&["options"], json!({ "maxIterations": 0 }), "options.maxIterations", "from 1 to 10").await;
    check(&["options"], json!({ "temperature": 3 }), "options.temperature", "from 0 to 2").await;
    check(&["options"], json!({ "turnTimeoutMs": 1 }), "options.turnTimeoutMs", "must be").await;
    check(&["options"], json!({ "loud": true }), "options.loud", "unknown field").await;
    check(&["extra"], json!(1), "extra", "unknown field").await;
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn a15_leaving_aborts_unless_detached() {
    let server = TestServer::open("[defaults]\nsimulate = \"latency=2000ms\"\n").await;
    for (detach, end) in [(false, "aborted"), (true, "running")] {
        let mut order = body();
        order["detach"] = json!(detach);
        let mut stream = Stream::open(server.posting("/api/discussion", &order)).await;
        let heard = stream.until(|it| it.contains("turn-started")).await;
        drop(stream);
        let id = events(&heard)[0].2["discussionId"].as_str().unwrap().to_owned();
        if detach {
            assert_eq!(server.state(&id).await["lifecycle"], end);
            server.post(&format!("/api/discussions/{id}/abort"), &json!({})).await;
        } else {
            let told = server.get(&format!("/api/discussions/{id}/events")).await.text;
            assert!(told.contains("event: discussion-aborted"), "{told}");
            assert_eq!(server.state(&id).await["lifecycle"], end);
        }
    }
}

/// Of two clients that sent the same order, only the last one to leave ends it, whichever server
/// each of them asked.
async fn check_that_the_last_to_leave_ends_it(key: &str, one: &TestServer, two: &TestServer) {
    let post =
        |server: &TestServer| server.posting("/api/discussion", &body()).header("idempotency-key", key);
    let mut first = Stream::open(post(one)).await;
    let heard = first.until(|it| it.contains("turn-started")).await;
    let id = events(&heard[..heard.rfind("\n\n").unwrap()])[0].2["discussionId"].as_str().unwrap().to_owned();
    let mut second = Stream::open(post(two)).await;
    second.until(|it| it.contains(&id) && it.contains("turn-started")).await;
    drop(first);
    let listening =
        second.until(|it| it.matches("event: turn-completed").count() > 1 || it.contains("aborted")).await;
    assert!(!listening.contains("discussion-aborted"), "{listening}");
    drop(second);
    while one.state(&id).await["lifecycle"] != "aborted" {}
}

const SLOW: &str = "[defaults]\nsimulate = \"latency=1500ms\"\n";

#[tokio::test]
async fn a15_the_last_client_of_a_shared_order_to_disconnect_ends_it() {
    let server = TestServer::open(SLOW).await;
    check_that_the_last_to_leave_ends_it("k", &server, &server).await;
}

#[tokio::test]
async fn a15_the_last_client_is_counted_over_all_nodes() {
    let store = Arc::new(MemoryStore::new());
    let one = TestServer::sharing(store.clone(), SLOW, Limits::default()).await;
    let two = TestServer::sharing(store, SLOW, Limits::default()).await;
    check_that_the_last_to_leave_ends_it("there", &one, &two).await;
    check_that_the_last_to_leave_ends_it("back", &two, &one).await;
}
