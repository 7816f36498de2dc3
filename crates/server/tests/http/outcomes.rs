//! Outcomes and calibration over HTTP.

use serde_json::json;

use crate::harness::{FAST, TestServer, order};

#[tokio::test]
async fn the_right_answer_is_recorded_beside_a_finished_discussion() {
    let server = TestServer::open(FAST).await;
    let mut asked = order();
    asked["pattern"] = json!("settle");
    asked["votingOptions"] = json!(["tabs", "spaces"]);
    let id = server.held(&asked).await;
    let path = format!("/api/discussions/{id}/outcome");
    let recorded = server.post(&path, &json!({ "answer": "Tabs", "by": "the review" })).await;
    assert_eq!(recorded.status, 200, "{}", recorded.text);
    let recorded = recorded.json();
    assert_eq!((&recorded["answer"], &recorded["by"]), (&json!("tabs"), &json!("the review")));
    assert!(
        recorded["firstAnswers"].as_u64() >= Some(2) && recorded["resultRight"].is_boolean(),
        "{recorded}"
    );
    let corrected = server.post(&path, &json!({ "answer": "spaces" })).await.json();
    assert_eq!(corrected["corrected"], json!(1));
    assert_ne!(corrected["resultRight"], recorded["resultRight"]);
    let refused = server.post(&path, &json!({ "answer": "both" })).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!("answer")));
    let unknown = format!("/api/discussions/{}/outcome", "0197f6a0-0000-7000-8000-000000000000");
    assert_eq!(server.post(&unknown, &json!({ "answer": "tabs" })).await.status, 404);
    // The voices are simulated, so their outcomes are kept apart.
    assert_eq!(server.get("/api/calibration").await.json()["outcomes"], json!(0));
    let simulated = server.get("/api/calibration?simulated=true").await.json();
    assert_eq!((&simulated["outcomes"], &simulated["needed"]), (&json!(1), &json!(30)));
}

#[tokio::test]
async fn a_discussion_that_is_running_has_no_outcome_yet() {
    let server = TestServer::open("").await;
    let mut asked = order();
    asked["simulate"] = json!({ "latencyMs": 5_000 });
    let id = server.post("/api/discussions", &asked).await.id();
    let refused = server.post(&format!("/api/discussions/{id}/outcome"), &json!({ "answer": "tabs" })).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["code"]), (409, &json!("STATE_INVALID")));
    server.post(&format!("/api/discussions/{id}/abort"), &json!({})).await;
}
