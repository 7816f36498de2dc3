//! Earlier discussions over HTTP: recalled, and followed.

use serde_json::json;

use crate::harness::{ANN, FAST, TestServer, answered, tenants};

const TOPIC: &str = "Which database should hold our billing events?";

#[tokio::test]
async fn inv_disc_630_an_order_recalls_and_follows_earlier_discussions() {
    let server = TestServer::open(FAST).await;
    let source = server.held(&json!({ "topic": TOPIC, "providers": ["claude", "gemini"] })).await;
    let order = json!({ "topic": "What database for the billing events?", "recall": 2 });
    let plan = server.post("/api/plan", &order).await.json();
    assert_eq!(plan["recalled"][0]["discussionId"], source.as_str(), "{plan}");
    let id = server.held(&order).await;
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    assert_eq!(result["metadata"]["recalled"], plan["recalled"]);

    let id = server.held(&json!({ "topic": "And what would it cost?", "follows": source })).await;
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    assert_eq!(result["metadata"]["follows"], source.as_str(), "{result}");
    assert_eq!(result["metadata"]["recalled"][0]["number"], "F1");
    assert_eq!(result["participatingProviders"], json!(["claude", "gemini"]));
}

#[tokio::test]
async fn an_order_that_recalls_or_follows_what_is_not_there_is_refused() {
    let server = TestServer::open(FAST).await;
    for (wrong, status, field) in [
        (json!({ "recall": 0 }), 400, "recall"),
        (json!({ "recall": 11 }), 400, "recall"),
        (json!({ "recall": { "most": 1, "least": 1 } }), 400, "recall.least"),
        (json!({ "recall": { "from": ["the first"] } }), 400, "recall.from"),
        (json!({ "follows": "the first" }), 400, "follows"),
        (json!({ "recall": { "from": ["last"] } }), 409, "recall.from"),
        (json!({ "follows": "01890000-0000-7000-8000-000000000000" }), 409, "follows"),
    ] {
        let mut order = json!({ "topic": TOPIC });
        order.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        for path in ["/api/discussions", "/api/plan"] {
            let answer = server.post(path, &order).await;
            assert_eq!(answer.status, status, "{order}: {}", answer.text);
            assert_eq!(answer.json()["fields"][0]["field"], field, "{order}: {}", answer.text);
        }
    }
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn an_order_that_recalls_or_follows_a_discussion_too_far_back_is_refused_with_its_field() {
    let server = TestServer::open(FAST).await;
    server.held(&json!({ "topic": TOPIC, "providers": ["claude", "gemini"] })).await;
    for (order, field) in [
        (json!({ "topic": TOPIC, "recall": { "from": ["last~99"] } }), "recall.from"),
        (json!({ "topic": TOPIC, "follows": "last~99" }), "follows"),
    ] {
        for path in ["/api/discussions", "/api/plan"] {
            let answer = server.post(path, &order).await;
            assert_eq!(answer.status, 409, "{order}: {}", answer.text);
            assert_eq!(answer.json()["fields"][0]["field"], field, "{order}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn f12_a_follow_up_of_the_last_discussion_can_be_sent_again_while_it_runs() {
    let server = TestServer::open(FAST).await;
    server.held(&json!({ "topic": TOPIC, "providers": ["claude", "gemini"] })).await;
    let slow = json!({ "topic": "And the cost?", "follows": "last", "simulate": { "latencyMs": 60_000 } });
    let send = || async {
        let answer = answered(server.posting("/api/discussions", &slow).header("idempotency-key", "k")).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.json()["discussionId"].clone()
    };
    assert_eq!(send().await, send().await);
    let without_key = server.post("/api/discussions", &slow).await;
    assert_eq!(without_key.status, 409, "the last discussion is not over: {}", without_key.text);
}

#[tokio::test]
async fn s12_a_discussion_of_another_tenant_is_neither_recalled_nor_followed() {
    let server = TestServer::open(&tenants()).await;
    let started =
        answered(server.posting("/api/discussions", &json!({ "topic": TOPIC })).bearer_auth(ANN)).await;
    let id = started.json()["discussionId"].as_str().unwrap().to_owned();
    answered(server.request("GET", &format!("/api/discussions/{id}/events")).bearer_auth(ANN)).await;
    let bob = crate::harness::BOB;
    let follows = json!({ "topic": "Why?", "follows": id });
    assert_eq!(answered(server.posting("/api/discussions", &follows).bearer_auth(bob)).await.status, 409);
    let recalls = json!({ "topic": TOPIC, "recall": 3 });
    let plan = answered(server.posting("/api/plan", &recalls).bearer_auth(bob)).await.json();
    assert_eq!(plan["recalled"], json!([]), "{plan}");
    let plan = answered(server.posting("/api/plan", &recalls).bearer_auth(ANN)).await.json();
    assert_eq!(plan["recalled"][0]["discussionId"], id.as_str(), "{plan}");
}
