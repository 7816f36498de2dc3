//! Time: a handle when it is up, progress meanwhile, a pause on cancellation, and an end in time.

use std::{sync::Arc, time::Duration};

use quorum::{Quorum, memory::MemoryStore};
use quorum_testkit::clock::VirtualClock;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    Limits,
    mcp::tests::client::{Client, pass, process},
};

/// Two voices that take this long for each answer.
fn slow(latency_ms: u64) -> Value {
    json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"], "timeout": 300_000,
        "simulate": { "latencyMs": latency_ms },
    })
}

#[tokio::test(start_paused = true)]
async fn b10_a_provider_of_70_s_gives_a_handle_in_time_and_then_the_result() {
    let quorum = Quorum::builder().store(Arc::new(MemoryStore::new())).clock(Arc::new(VirtualClock::start()));
    let quorum = quorum.simulated().assigning_roles().build().unwrap();
    let mut client = Client::of(quorum, Limits::default()).await;
    let began = Instant::now();
    let params =
        json!({ "name": "ax_discuss", "arguments": slow(70_000), "_meta": { "progressToken": "mine" } });
    let id = client.begin("tools/call", params).await;
    let handle = client.result("ax_discuss", id).await["structuredContent"].clone();
    let took = began.elapsed();
    assert!((Duration::from_secs(50)..=Duration::from_secs(51)).contains(&took), "{took:?}");
    assert_eq!(handle["status"], "running", "{handle}");
    assert_eq!(handle["next"], "call ax_result with this id");
    assert_eq!(handle["speakersMissing"], json!(["claude", "gemini"]));
    let elapsed_ms = handle["elapsedMs"].as_u64().unwrap();
    assert!((49_000..=51_000).contains(&elapsed_ms), "it stood still during a turn: {elapsed_ms}");
    let mut last = (began, 0.0);
    for (at, told) in &client.told {
        assert_eq!(told["params"]["progressToken"], "mine");
        assert!(at.duration_since(last.0) <= Duration::from_secs(10), "silent for too long: {told}");
        let progress = told["params"]["progress"].as_f64().unwrap();
        assert!(progress > last.1, "{told}");
        last = (*at, progress);
    }
    assert!(client.told.len() >= 5, "{:?}", client.told);
    let mut told = handle;
    while told["status"] == "running" {
        told = client.call("ax_result", json!({ "id": told["discussionId"] })).await;
    }
    assert_eq!(told["status"], "completed", "{told}");
    let calls = &told["costSummary"]["byProvider"];
    // One answer each, and the synthesis.
    assert_eq!(json!([calls["claude"]["calls"], calls["gemini"]["calls"]]), json!([2, 1]), "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_without_a_token_there_is_no_progress() {
    let mut client = Client::legacy().await;
    let told = client.call("ax_discuss", slow(20_000)).await;
    assert_eq!([&told["status"], &json!(client.told.len())], [&json!("completed"), &json!(0)], "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_wait_of_nothing_answers_at_once() {
    let mut client = Client::legacy().await;
    let mut order = slow(20_000);
    order["maxWaitMs"] = json!(0);
    let began = Instant::now();
    let handle = client.call("ax_discuss", order).await;
    assert!(began.elapsed() <= Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(["queued", "running"].contains(&handle["status"].as_str().unwrap()), "{handle}");
    let told = client.call("ax_result", json!({ "id": handle["discussionId"], "waitMs": 0 })).await;
    assert!(["queued", "running"].contains(&told["status"].as_str().unwrap()), "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_result_that_waits_for_nothing_never_went_on_with_what_no_process_runs() {
    let store = Arc::new(MemoryStore::new());
    let mut first = Client::of(process(&store), Limits::default()).await;
    let mut order = slow(5_000);
    order["maxWaitMs"] = json!(0);
    let id = first.call("ax_discuss", order).await["discussionId"].clone();
    first.hang_up().await;
    let mut next = Client::of(process(&store), Limits::default()).await;
    let mut told = json!({});
    for _ in 0..30 {
        told = next.call("ax_result", json!({ "id": id, "waitMs": 0 })).await;
        pass(Duration::from_secs(1)).await;
    }
    assert_eq!(told["status"], "completed", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_client_that_gives_up_pauses_its_discussion_and_nothing_is_paid_twice() {
    let mut client = Client::legacy().await;
    let call = client.calling("ax_discuss", slow(5_000)).await;
    pass(Duration::from_secs(1)).await;
    let running = client.call("ax_status", json!({})).await;
    let id = running["discussions"][0]["discussionId"].clone();
    client.cancel(call).await;
    let paused = client.until(&id, "paused").await;
    assert_eq!(paused["speakersDone"], json!(["claude", "gemini"]), "calls under way are kept");
    let told = client.call("ax_result", json!({ "id": id })).await;
    assert_eq!(told["status"], "paused", "a result never resumes what was paused");
    client.call("ax_control", json!({ "id": id, "action": "resume" })).await;
    let told = client.call("ax_result", json!({ "id": id })).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!(told["costSummary"]["totalCalls"], 3, "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_cancelled_result_changes_nothing() {
    let mut client = Client::legacy().await;
    let mut order = slow(5_000);
    order["maxWaitMs"] = json!(0);
    let id = client.call("ax_discuss", order).await["discussionId"].clone();
    let call = client.calling("ax_result", json!({ "id": id })).await;
    pass(Duration::from_secs(1)).await;
    client.cancel(call).await;
    let told = client.call("ax_result", json!({ "id": id })).await;
    assert_eq!(told["status"], "completed", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_the_end_of_the_input_aborts_nothing_and_another_process_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let mut client = Client::of(process(&store), Limits::default()).await;
    client.calling("ax_discuss", slow(70_000)).await;
    pass(Duration::from_secs(1)).await;
    let running = client.call("ax_status", json!({})).await;
    let id = running["discussions"][0]["discussionId"].clone();
    let began = Instant::now();
    client.hang_up().await;
    assert!(began.elapsed() <= Duration::from_secs(5), "{:?}", began.elapsed());
    let mut next = Client::of(process(&store), Limits::default()).await;
    let mut told = next.call("ax_result", json!({ "id": id })).await;
    while told["status"] == "running" {
        told = next.call("ax_result", json!({ "id": id })).await;
    }
    assert_eq!(told["status"], "completed", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_the_end_of_the_input_is_obeyed_even_if_no_answer_is_read() {
    let mut client = Client::legacy().await;
    for _ in 0..20 {
        client.begin("tools/list", json!({})).await;
    }
    pass(Duration::from_secs(1)).await;
    assert!(client.abandon().await, "it waits for somebody to read");
}

#[tokio::test(start_paused = true)]
async fn b10_a_server_that_is_told_to_close_answers_what_waits() {
    let mut client = Client::legacy().await;
    let call = client.calling("ax_discuss", slow(70_000)).await;
    pass(Duration::from_secs(1)).await;
    let began = Instant::now();
    client.close().await;
    assert!(began.elapsed() <= Duration::from_secs(5), "{:?}", began.elapsed());
    let handle = client.result("ax_discuss", call).await["structuredContent"].clone();
    assert_eq!(handle["status"], "running", "{handle}");
}
