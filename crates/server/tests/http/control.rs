//! Actions on a running discussion, and their audit entries.

use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, answered, order, slow};

async fn wait_for(server: &TestServer, id: &str, name: &str, value: &str) -> Value {
    loop {
        let state = server.state(id).await;
        if state[name] == value {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn d01_pause_resume_stop_and_abort_reach_a_running_discussion() {
    let server = TestServer::open(FAST).await;
    let mut order = slow();
    order["simulate"] = json!({ "latencyMs": 100 });
    order["rounds"] = json!(10);
    let id = server.ordered(&order).await;
    let act = async |action: &str| {
        server.post(&format!("/api/discussions/{id}/{action}"), &json!({})).await.status.as_u16()
    };
    wait_for(&server, &id, "lifecycle", "running").await;
    assert_eq!(act("pause").await, 202);
    wait_for(&server, &id, "lifecycle", "paused").await;
    assert_eq!(act("pause").await, 202);
    assert_eq!(server.get(&format!("/api/discussions/{id}")).await.json()["project"]["status"], "paused");
    assert_eq!(act("resume").await, 202);
    wait_for(&server, &id, "lifecycle", "running").await;
    let removed = answered(server.request("DELETE", &format!("/api/discussions/{id}"))).await;
    assert_eq!((removed.status.as_u16(), &removed.json()["code"]), (409, &json!("DISCUSSION_RUNNING")));
    assert_eq!(act("stop").await, 202);
    let state = wait_for(&server, &id, "lifecycle", "completed").await;
    assert_eq!(state["stoppingReason"], "user_stop");
    for action in ["pause", "resume", "stop", "abort"] {
        assert_eq!(act(action).await, 409, "{action}");
    }

    let id = server.ordered(&order).await;
    let path = format!("/api/discussions/{id}/abort");
    assert_eq!(server.post(&path, &json!({})).await.status, 202);
    wait_for(&server, &id, "lifecycle", "aborted").await;
}

#[tokio::test]
async fn a_note_is_shown_to_everyone_asked_afterwards() {
    let server = TestServer::open(FAST).await;
    let mut order = slow();
    order["simulate"] = json!({ "latencyMs": 100 });
    let id = server.ordered(&order).await;
    let path = format!("/api/discussions/{id}/note");
    wait_for(&server, &id, "lifecycle", "running").await;
    assert_eq!(server.post(&path, &json!({ "text": "Mind the budget." })).await.status, 202);
    for text in ["", " ", &"x".repeat(100_001)] {
        let refused = server.post(&path, &json!({ "text": text })).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!("text")));
    }
    server.get(&format!("/api/discussions/{id}/events")).await;
    assert_eq!(server.state(&id).await["notes"], json!(["Mind the budget."]));
    assert_eq!(server.post(&path, &json!({ "text": "Too late." })).await.status, 409);
}

#[tokio::test]
async fn s12_actions_are_audited_without_tokens() {
    let server = TestServer::open(&crate::harness::tenants()).await;
    let ann = |request: reqwest::RequestBuilder| answered(request.bearer_auth(crate::harness::ANN));
    let id = ann(server.posting("/api/discussions", &order())).await.id();
    ann(server.request("GET", &format!("/api/discussions/{id}/events"))).await;
    ann(server.posting(&format!("/api/discussions/{id}/stop"), &json!({}))).await;
    ann(server.posting(&format!("/api/discussions/{id}/rating"), &json!({ "rating": 4 }))).await;
    assert_eq!(
        ann(server.posting(&format!("/api/discussions/{id}/rating"), &json!({ "rating": 6 }))).await.status,
        400
    );
    ann(server.request("DELETE", &format!("/api/discussions/{id}"))).await;
    let audit_entries = ann(server.request("GET", "/api/audit")).await;
    assert!(!audit_entries.text.contains(crate::harness::ANN));
    let shown: Vec<String> = audit_entries
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!(
                "{} {} {}",
                it["who"].as_str().unwrap(),
                it["action"].as_str().unwrap(),
                it["result"].as_str().unwrap()
            )
        })
        .collect();
    let refused =
        format!("ann's laptop stop refused: discussion {id} is over; nothing more can happen in it");
    assert_eq!(
        shown,
        ["ann's laptop delete done", "ann's laptop rate 4", &refused, "ann's laptop start done"]
    );
    let bobs = answered(server.request("GET", "/api/audit").bearer_auth(crate::harness::BOB)).await;
    assert_eq!(bobs.json(), json!([]));
    let counted = ann(server.request("GET", "/metrics")).await.text;
    assert!(counted.contains("ax_ratings_total{rating=\"4\",pattern=\"synthesis\"} 1"), "{counted}");
}
