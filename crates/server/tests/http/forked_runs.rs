//! Forks of runs over HTTP, and a run without scripts.

use serde_json::{Value, json};

use crate::harness::{FAST, TestServer};

const RUNS: &str = "/api/workflows/runs";

const THREE: &str = "workflowId: three
version: 1.0.0
steps:
  - { stepId: gather, type: prompt, config: { prompt: 'Gather {{input.topic}}' } }
  - { stepId: keep, type: tool, tool: memory_store, config: { key: k, value: '{{input.kept}}' } }
  - { stepId: end, type: prompt, config: { prompt: 'End {{input.tone}} {{steps.gather.output}}' } }
";

async fn result(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/api/discussions/{id}/events")).await;
    server.get(&format!("/api/discussions/{id}/result")).await.json()
}

async fn past(server: &TestServer) -> String {
    let input = json!({ "topic": "tabs", "kept": 1, "tone": "sharp" });
    let answer = server.post(RUNS, &json!({ "workflow": THREE, "input": input })).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let id = answer.id();
    result(server, &id).await;
    id
}

fn step(result: &Value, id: &str) -> Value {
    result["stepResults"].as_array().unwrap().iter().find(|it| it["stepId"] == id).unwrap().clone()
}

#[tokio::test]
async fn b11_a_run_is_forked_over_http_and_keeps_what_is_equal() {
    let server = TestServer::open(FAST).await;
    let id = past(&server).await;
    let before = result(&server, &id).await;
    let input = json!({ "topic": "tabs", "kept": 1, "tone": "kind" });
    let fork = json!({ "at": "gather", "input": input });
    let answer = server.post(&format!("/api/discussions/{id}/fork"), &fork).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let after = result(&server, &answer.id()).await;
    for kept in ["gather", "keep"] {
        assert_eq!(step(&after, kept)["output"], step(&before, kept)["output"], "{kept}");
    }
    assert_ne!(step(&after, "end")["discussionId"], step(&before, "end")["discussionId"]);
    assert_eq!(step(&after, "gather")["discussionId"], step(&before, "gather")["discussionId"]);
}

#[tokio::test]
async fn b11_a_fork_of_a_run_over_http_that_can_not_be_is_refused() {
    let server = TestServer::open(FAST).await;
    let id = past(&server).await;
    let talk = server.held(&crate::harness::order()).await;
    // What does not fit the recorded run is a conflict, as it is with forks of discussions.
    for (of, fork, field) in
        [(&id, json!({ "at": "nowhere", "input": {} }), "at"), (&id, json!({ "at": "gather" }), "workflow")]
    {
        let refused = server.post(&format!("/api/discussions/{of}/fork"), &fork).await;
        let told = (refused.status.as_u16(), refused.json()["fields"][0]["field"].clone());
        assert_eq!(told, (409, json!(field)), "{fork}: {}", refused.text);
    }
    for (of, fork, field) in [
        (&id, json!({ "at": "gather", "without": ["claude"] }), "without"),
        (&id, json!({ "at": "gather", "changes": { "rounds": 2 } }), "changes"),
        (&id, json!({ "at": "gather", "workflow": THREE.replace("prompt", "promt") }), "workflow"),
        (&id, json!({ "at": "gather", "workflow": THREE.replace("memory_store", "shout") }), "workflow"),
        (&id, json!({ "at": "gather", "workflow": 5 }), "workflow"),
        (&talk, json!({ "at": "1/answering/claude", "input": {} }), "input"),
        (&talk, json!({ "at": "1/answering/claude", "rerunTools": true }), "rerunTools"),
    ] {
        let refused = server.post(&format!("/api/discussions/{of}/fork"), &fork).await;
        let told = (refused.status.as_u16(), refused.json()["fields"][0]["field"].clone());
        assert_eq!(told, (400, json!(field)), "{fork}: {}", refused.text);
    }
}

#[tokio::test]
async fn b11_the_events_of_a_run_are_its_steps() {
    let server = TestServer::open(FAST).await;
    let id = past(&server).await;
    let events = server.get(&format!("/api/discussions/{id}/events")).await.text;
    assert_eq!(events.matches("event: step-started").count(), 3, "{events}");
    assert_eq!(events.matches("event: step-completed").count(), 3, "{events}");
}

#[tokio::test]
async fn b11_a_run_is_readable_without_scripts_with_links_to_what_was_asked() {
    let server = TestServer::open(FAST).await;
    let id = past(&server).await;
    let gather = step(&result(&server, &id).await, "gather")["discussionId"].clone();
    let page = server.get(&format!("/d/{id}")).await.text;
    let picture = page.split("<svg class=\"steps\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(picture.contains(&format!("<a href=\"/d/{}\">", gather.as_str().unwrap())), "{picture}");
    assert_eq!((picture.matches("<rect").count(), picture.matches("class=\"edge\"").count()), (3, 2));
    assert!(!picture.contains("style="), "the page's policy allows no styles there: {picture}");
    assert!(page.contains("<td>tool</td>"), "{page}");
}
