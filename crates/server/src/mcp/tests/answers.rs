//! Answers as a model reads them: where its discussion is, what to call now, and lists in full.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use quorum::{
    Config, Quorum,
    memory::MemoryStore,
    model::error::ErrorClass,
    setup::{self, Machine},
};
use quorum_testkit::panel::{Panel, panel};
use serde_json::{Value, json};

use crate::{
    Limits,
    mcp::tests::client::{Client, pass, simulated},
};

const ANN: &str = "scripted-ann";
const BOB: &str = "scripted-bob";

/// A server whose two voices are these.
async fn asking(panel: Panel) -> Client {
    let voices = Arc::new(panel);
    Client::asking(Quorum::builder().voices(voices).assigning_roles().build().unwrap()).await
}

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("config.toml"), PathBuf::new()).unwrap()
}

/// A server whose voices take less than the time limit of an answer, and too long for an answer and
/// a synthesis.
async fn slow() -> Client {
    let config = config("[defaults]\nsimulate = \"latency=28000ms\"\n");
    let quorum = Quorum::builder().store(Arc::new(MemoryStore::new())).config(config).simulated();
    Client::of(quorum.build().unwrap(), Limits::default()).await
}

/// The text of a result, and whether it is an error.
async fn read(client: &mut Client, tool: &str, arguments: Value) -> (String, bool) {
    let id = client.calling(tool, arguments).await;
    let result = client.result(tool, id).await;
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["isError"] == true)
}

#[tokio::test(start_paused = true)]
async fn b10_the_text_of_a_quick_answer_that_goes_on_names_its_discussion() {
    let mut client = slow().await;
    let (text, is_error) = read(&mut client, "ax_discuss_quick", json!({ "topic": "Tabs?" })).await;
    let listed = client.call("ax_status", json!({})).await;
    let id = listed["discussions"][0]["discussionId"].as_str().unwrap_or_else(|| panic!("{text}"));
    let expected = format!("No answer yet (running). Discussion {id}: call ax_result with this id");
    assert_eq!((text, is_error), (expected, false));
}

#[tokio::test(start_paused = true)]
async fn b10_a_discussion_that_failed_is_a_failed_call_and_no_longer_listed() {
    let lost = panel().fails(ANN, ErrorClass::Authentication).fails(BOB, ErrorClass::Authentication);
    let mut client = asking(lost).await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "providers": [ANN, BOB] });
    let id = client.calling("ax_discuss", order).await;
    let result = client.result("ax_discuss", id).await;
    let told = &result["structuredContent"];
    assert_eq!([&result["isError"], &told["status"]], [&json!(true), &json!("failed")], "{told}");
    assert!(told["error"]["code"].is_string() && told["success"] == false, "{told}");
    assert_eq!(told["next"], "it failed: call ax_control with action resume to try again");
    let (text, is_error) = read(&mut client, "ax_discuss_quick", json!({ "topic": "Spaces?" })).await;
    assert!(text.starts_with("Error: ") && is_error, "{text}");
    assert_eq!(client.call("ax_status", json!({})).await, json!({ "discussions": [] }));
}

#[tokio::test(start_paused = true)]
async fn b10_an_aborted_quick_answer_was_not_reported_as_a_failure() {
    let mut client = slow().await;
    let id = client.calling("ax_discuss_quick", json!({ "topic": "Tabs?" })).await;
    pass(Duration::from_secs(1)).await;
    let listed = client.call("ax_status", json!({})).await;
    let discussion = &listed["discussions"][0]["discussionId"];
    client.call("ax_control", json!({ "id": discussion, "action": "abort" })).await;
    let result = client.result("ax_discuss_quick", id).await;
    let told = &result["structuredContent"];
    assert_eq!([&told["status"], &told["synthesis"]], [&json!("aborted"), &json!("")], "{told}");
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"][0]["text"], "Error: a person aborted the discussion", "{result}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_discussion_without_an_answer_was_called_answered() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "maxTokens": 1, "simulate": { "latencyMs": 0 } });
    let told = client.call("ax_discuss", order).await;
    assert_eq!([&told["success"], &told["synthesis"]], [&json!(false), &json!("")], "{told}");
    assert!(told["error"]["code"].is_string(), "{told}");
    assert_eq!(told["outcome"], Value::Null, "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_quick_answer_without_models_was_advised_a_field_that_the_tool_lacks() {
    let config = config("");
    let setup = setup::load(&config, &Machine::bare()).unwrap();
    let quorum = Quorum::builder().store(Arc::new(MemoryStore::new())).config(config).set_up(setup);
    let mut client = Client::asking(quorum.build().unwrap()).await;
    let (text, is_error) = read(&mut client, "ax_discuss_quick", json!({ "topic": "Tabs?" })).await;
    let expected = "Error: providers: no provider is available; \
                    ax_discuss with \"offline\": true uses simulated voices";
    assert_eq!((text.as_str(), is_error), (expected, true));
    let told = client.call("ax_discuss", json!({ "topic": "Tabs?" })).await;
    let expected = "providers: no provider is available; \
                    \"offline\": true uses simulated voices";
    assert_eq!(told["message"], expected);
}

#[tokio::test(start_paused = true)]
async fn b10_the_status_of_a_discussion_that_is_over_says_how_to_get_its_result() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "simulate": { "latencyMs": 0 } });
    let done = client.call("ax_discuss", order).await;
    assert_eq!(done["next"], "it is over; ax_result with section or fullOutput gives more");
    let told = client.call("ax_status", json!({ "id": done["discussionId"] })).await;
    assert_eq!([&told["status"], &told["synthesis"]], [&json!("completed"), &Value::Null], "{told}");
    assert_eq!(told["next"], "it is over: call ax_result with this id");
}

#[tokio::test(start_paused = true)]
async fn b10_fifty_discussions_with_long_topics_are_all_listed() {
    let mut client = Client::modern(simulated(), json!({})).await;
    let topic = |at: usize| format!("{at} {}?", "Tabs or spaces in a compiler ".repeat(15));
    for at in 0..50 {
        let order = json!({ "topic": topic(at), "rounds": 1, "simulate": { "latencyMs": 0 } });
        assert_eq!(client.call("ax_discuss", order).await["status"], "completed");
    }
    let told = client.call("ax_history", json!({ "limit": 50 })).await;
    let listed = told["discussions"].as_array().unwrap();
    assert_eq!((listed.len(), &told["leftOut"]), (50, &Value::Null));
    let first = listed[0]["topic"].as_str().unwrap();
    assert!(first.starts_with("49 Tabs or spaces") && first.ends_with('…'), "{first}");
}
