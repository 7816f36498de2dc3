//! Tasks: only for clients that have them, folded from the record.

use std::{sync::Arc, time::Duration};

use quorum::memory::MemoryStore;
use serde_json::{Value, json};

use crate::{
    Limits,
    mcp::tests::{
        client::{Client, pass, process, simulated},
        people::with_a_person,
    },
};

fn takes_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn order(latency_ms: u64) -> Value {
    json!({
        "name": "ax_discuss",
        "arguments": { "topic": "Tabs or spaces?", "rounds": 1, "simulate": { "latencyMs": latency_ms } },
    })
}

#[tokio::test(start_paused = true)]
async fn b10_a_task_is_the_discussion_and_outlives_its_connection() {
    let store = Arc::new(MemoryStore::new());
    let mut client = Client::modern(process(&store), takes_tasks()).await;
    let created = client.request("tools/call", order(3_000)).await;
    let task = &created["result"];
    assert_eq!([&task["resultType"], &task["status"]], [&json!("task"), &json!("working")], "{created}");
    assert_eq!([&task["ttlMs"], &task["pollIntervalMs"]], [&Value::Null, &json!(2_000)], "{created}");
    let id = task["taskId"].clone();
    client.hang_up().await;
    let mut other = Client::modern(process(&store), takes_tasks()).await;
    let mut got = other.request("tasks/get", json!({ "taskId": id })).await;
    while got["result"]["status"] == "working" {
        pass(Duration::from_secs(2)).await;
        got = other.request("tasks/get", json!({ "taskId": id })).await;
    }
    let result = &got["result"];
    assert_eq!(result["status"], "completed", "{got}");
    assert_eq!(result["result"]["structuredContent"]["discussionId"], id, "{got}");
    assert_eq!(result["result"]["structuredContent"]["status"], "completed");
    let unknown = other.request("tasks/get", json!({ "taskId": "nope" })).await;
    assert_eq!(unknown["error"]["code"], -32_602, "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_client_without_the_extension_or_of_an_older_era_gets_no_task() {
    let mut modern = Client::modern(simulated(), json!({})).await;
    let answer = modern.request("tools/call", order(0)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "completed", "{answer}");
    // Tasks of the old form, and the name of the extension: neither means tasks in this version.
    let old = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    let mut declared = takes_tasks();
    declared["tasks"] = old;
    let mut legacy = Client::legacy_with(declared).await;
    let answer = legacy.request("tools/call", order(0)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "completed", "{answer}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_task_of_the_quick_tool_had_json_as_its_text() {
    let mut client = Client::modern(simulated(), takes_tasks()).await;
    let params = json!({ "name": "ax_discuss_quick", "arguments": { "topic": "Tabs or spaces?" } });
    let answer = client.request("tools/call", params).await["result"].clone();
    assert_eq!(answer["structuredContent"]["status"], "completed", "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with(answer["structuredContent"]["synthesis"].as_str().unwrap()), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn b10_polling_queued_tasks_starts_no_more_than_may_run() {
    let limits = Limits { running: 1, queued: 10, ..Limits::default() };
    let mut client = Client::modern_of(simulated(), limits, takes_tasks()).await;
    let mut ids = Vec::new();
    for number in 0..3 {
        let mut order = order(3_000);
        order["arguments"]["topic"] = json!(format!("Question {number}?"));
        ids.push(client.request("tools/call", order).await["result"]["taskId"].clone());
    }
    loop {
        let (mut running, mut done) = (0, 0);
        for id in &ids {
            let got = client.request("tasks/get", json!({ "taskId": id })).await["result"].clone();
            let told = client.call("ax_status", json!({ "id": id })).await["status"].clone();
            running += usize::from(told == "running");
            done += usize::from(got["status"] == "completed");
        }
        assert!(running <= 1, "{running} run at once");
        if done == ids.len() {
            break;
        }
        pass(Duration::from_millis(500)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn b10_a_task_asks_for_a_person_s_words_and_takes_them() {
    let mut client = Client::modern(simulated(), takes_tasks()).await;
    let params = json!({ "name": "ax_discuss", "arguments": with_a_person() });
    let id = client.request("tools/call", params).await["result"]["taskId"].clone();
    let mut got = client.request("tasks/get", json!({ "taskId": id })).await;
    while got["result"]["status"] == "working" {
        pass(Duration::from_millis(100)).await;
        got = client.request("tasks/get", json!({ "taskId": id })).await;
    }
    assert_eq!(got["result"]["status"], "input_required", "{got}");
    let (step, _) = got["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let blank = json!({ step: { "action": "accept", "content": { "text": " " } } });
    let told = client.request("tasks/update", json!({ "taskId": id, "inputResponses": blank })).await;
    assert_eq!(told["error"]["message"], "text: is empty", "{told}");
    let words = json!({ step: { "action": "accept", "content": { "text": "A bridge." } } });
    let told = client.request("tasks/update", json!({ "taskId": id, "inputResponses": words })).await;
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    let done = client.until(&id, "completed").await;
    assert_eq!(done["discussionId"], id);
}

#[tokio::test(start_paused = true)]
async fn b10_a_cancelled_task_is_stopped_and_concluded() {
    let mut client = Client::modern(simulated(), takes_tasks()).await;
    let id = client.request("tools/call", order(3_000)).await["result"]["taskId"].clone();
    pass(Duration::from_secs(1)).await;
    let told = client.request("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    let mut got = client.request("tasks/get", json!({ "taskId": id })).await;
    while got["result"]["status"] == "working" {
        pass(Duration::from_secs(2)).await;
        got = client.request("tasks/get", json!({ "taskId": id })).await;
    }
    assert_eq!(got["result"]["status"], "completed", "{got}");
    assert!(!got["result"]["result"]["structuredContent"]["synthesis"].as_str().unwrap().is_empty());
    let again = client.request("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(again["result"]["resultType"], "complete", "nothing is left to cancel: {again}");
    let after = client.request("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(after["result"], got["result"], "nothing was changed");
}
