//! Runs of workflows: by name only, with a handle while they go on, and refused with every mistake.

use std::fs;

use quorum::{Config, Quorum};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Limits, mcp::tests::client::Client};

const TWO_STEPS: &str = "workflowId: two-steps\nversion: 1.2.0\nsteps:\n\
    \x20 - { stepId: first, type: prompt, config: { prompt: \"List reasons for {{input.what}}.\" } }\n\
    \x20 - { stepId: second, type: prompt, config: { prompt: \"Weigh {{steps.first.output}}.\" } }\n";

/// A client of a server with these workflows in its folder.
pub(super) async fn with_workflows(files: &[(&str, &str)]) -> (Client, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("workflows")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join("workflows").join(name), text).unwrap();
    }
    let mut config = Config::default();
    config.file = folder.path().join("config.toml");
    let quorum = Quorum::builder().config(config).simulated().assigning_roles().build().unwrap();
    (Client::of(quorum, Limits::default()).await, folder)
}

fn order() -> Value {
    json!({ "name": "two-steps", "input": { "what": "tabs" } })
}

#[tokio::test(start_paused = true)]
async fn b11_a_workflow_is_run_by_its_name() {
    let (mut client, _folder) = with_workflows(&[("two-steps.yaml", TWO_STEPS)]).await;
    let told = client.call("ax_workflow_run", order()).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!([&told["workflowId"], &told["version"]], [&json!("two-steps"), &json!("1.2.0")]);
    let steps: Vec<Value> =
        told["stepResults"].as_array().unwrap().iter().map(|it| it["stepId"].clone()).collect();
    assert_eq!(steps, ["first", "second"]);
    assert_eq!(told["output"]["content"], told["synthesis"], "{told}");
    assert_eq!([&told["success"], &told["unresolved"]], [&json!(true), &json!([])]);
    assert_eq!(told["costSummary"]["totalCalls"], 2, "{told}");
    let again = client.call("ax_result", json!({ "id": told["discussionId"] })).await;
    assert_eq!(again, told, "the result of a run is the same from every tool");
    let full = client.call("ax_result", json!({ "id": told["discussionId"], "fullOutput": true })).await;
    assert_eq!(full["stepResults"], told["stepResults"], "{full}");
}

#[tokio::test(start_paused = true)]
async fn b11_a_run_that_takes_longer_is_answered_with_a_handle() {
    let (mut client, _folder) = with_workflows(&[("two-steps.yaml", TWO_STEPS)]).await;
    let mut at_once = order();
    at_once["maxWaitMs"] = json!(0);
    let handle = client.call("ax_workflow_run", at_once.clone()).await;
    assert!(["queued", "running"].contains(&handle["status"].as_str().unwrap()), "{handle}");
    let joined = client.call("ax_workflow_run", at_once).await;
    assert_eq!([&joined["discussionId"], &joined["joined"]], [&handle["discussionId"], &json!(true)]);
    let told = client.call("ax_result", json!({ "id": handle["discussionId"] })).await;
    assert_eq!([&told["status"], &told["workflowId"]], [&json!("completed"), &json!("two-steps")], "{told}");
    assert_eq!(told["costSummary"]["totalCalls"], 2, "nothing is paid twice");
}

#[tokio::test(start_paused = true)]
async fn b11_a_key_stands_for_one_run() {
    let (mut client, _folder) = with_workflows(&[("two-steps.yaml", TWO_STEPS)]).await;
    let mut keyed = order();
    keyed["idempotencyKey"] = json!("k");
    let one = client.call("ax_workflow_run", keyed.clone()).await;
    let two = client.call("ax_workflow_run", keyed.clone()).await;
    assert_eq!(one["discussionId"], two["discussionId"]);
    keyed["input"] = json!({ "what": "spaces" });
    let other = client.call("ax_workflow_run", keyed).await;
    assert_eq!(other["code"], "KEY_REUSED", "{other}");
}

#[tokio::test(start_paused = true)]
async fn b11_a_workflow_that_cannot_be_run_is_refused_with_every_mistake() {
    let wrong = TWO_STEPS
        .replace("1.2.0", "one")
        .replace("type: prompt, config: { prompt: \"W", "type: promt, config: { prompt: \"W");
    let tool = TWO_STEPS
        .replace("type: prompt, config: { prompt: \"W", "type: tool, tool: rm, config: { prompt: \"W");
    let (mut client, folder) = with_workflows(&[("wrong.yaml", &wrong), ("tool.yaml", &tool)]).await;
    let mut refused = async |name: &str| {
        let told = client.call("ax_workflow_run", json!({ "name": name })).await;
        assert_eq!(told["code"], "INVALID_INPUT", "{told}");
        let listed = told["details"]["validationErrors"].as_array().unwrap().iter();
        listed.map(|it| it.as_str().unwrap().lines().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mistakes = refused("wrong").await;
    assert!(mistakes.len() == 2 && mistakes[0].starts_with("workflow: wrong:2:"), "{mistakes:?}");
    assert!(refused("tool").await[0].contains("rm is no tool here"));
    let path = folder.path().join("workflows/wrong.yaml");
    for name in ["nope", "", "../workflows/wrong", path.to_str().unwrap()] {
        let expected = format!("name: there is no workflow named \"{name}\"; all workflows: tool, wrong");
        assert_eq!(refused(name).await, [expected]);
    }
    let limited = json!({ "name": "wrong", "maxCost": -1, "workflow": {} });
    let told = client.call("ax_workflow_run", limited).await;
    assert_eq!(told["details"]["validationErrors"].as_array().map(Vec::len), Some(2), "{told}");
    assert_eq!(client.call("ax_history", json!({})).await["discussions"], json!([]), "nothing was started");
}
