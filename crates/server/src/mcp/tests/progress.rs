//! Progress: one notification for each finished step, with its own round and what was really paid.

use std::{sync::Arc, time::Duration};

use quorum::{
    Quorum,
    memory::MemoryStore,
    model::money::{Price, Usd},
};
use quorum_testkit::panel::{Panel, panel};
use serde_json::{Value, json};

use crate::mcp::tests::{
    client::{Client, pass, simulated},
    runs::with_workflows,
};

const ANN: &str = "scripted-ann";
const BOB: &str = "scripted-bob";

/// Two voices of which each answer costs $0.0045.
fn paid() -> Panel {
    let price = Price::new(Usd::from_cents(300), Usd::from_cents(1_500));
    panel().takes(ANN, 1_000).takes(BOB, 3_000).uses("*", 1_000, 100).priced(price)
}

fn process(panel: Panel) -> Quorum {
    let store = Arc::new(MemoryStore::new());
    Quorum::builder().store(store).voices(Arc::new(panel)).assigning_roles().build().unwrap()
}

fn order() -> Value {
    json!({ "topic": "Tabs or spaces?", "rounds": 2, "providers": [ANN, BOB], "maxTokensPerTurn": 1_000 })
}

/// A call that asks for progress, and its answer.
async fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 7 } });
    let id = client.begin("tools/call", params).await;
    client.result(tool, id).await["structuredContent"].clone()
}

/// The messages of all notifications so far.
fn messages(client: &Client) -> Vec<String> {
    client.told.iter().map(|(_, it)| it["params"]["message"].as_str().unwrap().to_owned()).collect()
}

/// The progress of all notifications so far.
fn progress(client: &Client) -> Vec<f64> {
    client.told.iter().map(|(_, it)| it["params"]["progress"].as_f64().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn b10_a_turn_is_reported_with_its_own_round_and_with_money_that_was_spent() {
    let mut client = Client::asking(process(paid())).await;
    let told = call(&mut client, "ax_discuss", order()).await;
    let expected = [
        "round 1/2 · scripted-ann answered · $0.0045",
        "round 1/2 · scripted-bob answered · $0.0090",
        "round 2/2 · scripted-ann answered · $0.0135",
        "round 2/2 · scripted-bob answered · $0.0180",
        "round 2/2 · scripted-ann answered · $0.0225",
    ];
    assert_eq!(messages(&client), expected);
    assert_eq!(told["costSummary"]["estimatedCostUsd"], 0.0225, "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_the_message_of_a_task_shows_only_money_that_was_spent() {
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = Client::modern_asking(process(paid()), capabilities).await;
    let params = json!({ "name": "ax_discuss", "arguments": order() });
    let id = client.request("tools/call", params).await["result"]["taskId"].clone();
    let mut told = Vec::new();
    for wait_ms in [1_500, 2_000, 1_000] {
        pass(Duration::from_millis(wait_ms)).await;
        let got = client.request("tasks/get", json!({ "taskId": id })).await;
        told.push(got["result"]["statusMessage"].as_str().unwrap().to_owned());
    }
    let expected = [
        "round 1/2 · scripted-ann answered · $0.0045",
        // Nobody has answered in this round yet.
        "round 2/2 · $0.0090",
        "round 2/2 · scripted-ann answered · $0.0135",
    ];
    assert_eq!(told, expected);
}

#[tokio::test(start_paused = true)]
async fn b10_turns_that_end_together_have_one_notification_each() {
    let mut client = Client::legacy().await;
    let voices = ["claude", "gemini", "glm", "qwen", "mistral", "grok"];
    let order = json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": voices, "simulate": { "latencyMs": 1_000 },
    });
    let told = call(&mut client, "ax_discuss", order).await;
    assert_eq!(json!(client.told.len()), told["costSummary"]["totalCalls"], "{:?}", messages(&client));
    let mut answered: Vec<String> = messages(&client)[..voices.len()].to_vec();
    answered.sort();
    let mut expected: Vec<String> = voices.iter().map(|it| format!("round 1/1 · {it} answered")).collect();
    expected.sort();
    assert_eq!(answered, expected);
    let rising: Vec<f64> = (1..=client.told.len()).map(|it| it as f64).collect();
    assert_eq!(progress(&client), rising);
}

#[tokio::test(start_paused = true)]
async fn b10_each_step_of_a_workflow_has_a_notification() {
    let text = "workflowId: two-steps\nversion: 1.0.0\nsteps:\n\
        \x20 - { stepId: first, type: prompt, config: { prompt: \"List reasons.\" } }\n\
        \x20 - { stepId: second, type: prompt, config: { prompt: \"Weigh {{steps.first.output}}.\" } }\n";
    let (mut client, _folder) = with_workflows(&[("two-steps.yaml", text)]).await;
    let told = call(&mut client, "ax_workflow_run", json!({ "name": "two-steps" })).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!(messages(&client), ["step first done", "step second done"]);
    assert_eq!(progress(&client), [1.0, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn b10_the_end_of_a_sub_discussion_had_no_notification() {
    let panel = panel().takes(ANN, 500).takes(BOB, 500).convenes(ANN, "How wide is a tab?");
    let mut client = Client::asking(process(panel)).await;
    let mut order = order();
    order["rounds"] = json!(1);
    let told = call(&mut client, "ax_discuss_recursive", order).await;
    assert_eq!(told["status"], "completed", "{told}");
    let told = messages(&client);
    let ended: Vec<&String> = told.iter().filter(|it| it.contains("sub-discussion")).collect();
    assert_eq!(ended, ["round 1/1 · sub-discussion of scripted-ann ended"], "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_result_reports_only_turns_that_end_after_the_call() {
    let mut client = Client::asking(process(paid())).await;
    let mut at_once = order();
    at_once["maxWaitMs"] = json!(0);
    let handle = call(&mut client, "ax_discuss", at_once).await;
    pass(Duration::from_millis(3_500)).await;
    client.told.clear();
    let told = call(&mut client, "ax_result", json!({ "id": handle["discussionId"] })).await;
    assert_eq!(told["status"], "completed", "{told}");
    let expected = [
        "round 2/2 · scripted-ann answered · $0.0135",
        "round 2/2 · scripted-bob answered · $0.0180",
        "round 2/2 · scripted-ann answered · $0.0225",
    ];
    assert_eq!(messages(&client), expected);
    assert_eq!(progress(&client), [3.0, 4.0, 5.0]);
}

#[tokio::test(start_paused = true)]
async fn b10_a_participant_that_fails_for_good_is_told() {
    use quorum::model::error::ErrorClass;
    let panel = panel().takes(ANN, 500).takes(BOB, 500).fails(BOB, ErrorClass::Authentication);
    let mut client = Client::asking(process(panel)).await;
    let mut order = order();
    order["rounds"] = json!(1);
    call(&mut client, "ax_discuss", order).await;
    let told = messages(&client);
    assert!(told.iter().any(|it| it == "round 1/1 · scripted-bob failed"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_discussion_without_steps_is_told_that_it_goes_on() {
    let mut client = Client::modern(simulated(), json!({})).await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "simulate": { "latencyMs": 9_000 } });
    call(&mut client, "ax_discuss", order).await;
    assert_eq!(messages(&client)[0], "round 1/1");
}
