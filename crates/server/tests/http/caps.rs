//! S14: spending caps of tokens.

use quorum_testkit::server::{Server, Used, server};
use serde_json::{Value, json};

use crate::harness::{ANN, Answer, BOB, TestServer, answered};

/// A vendor whose two models each use as many tokens for every answer.
pub(crate) fn vendor(completion: u64) -> Server {
    let used = || Used { prompt: 1_000, completion, ..Used::default() };
    server()
        .replies("alpha-0", |_| "Tabs, because they can be set.".to_owned())
        .uses("alpha-0", used())
        .replies("beta-0", |_| "Spaces, because they look the same.".to_owned())
        .uses("beta-0", used())
        .start()
}

/// A server for ann, who has these caps, and bob, who has none.
pub(crate) async fn opened(vendor: &Server, caps: &str, price: &str) -> TestServer {
    let url = vendor.url();
    let provider = |name: &str| {
        format!(
            "[providers.{name}]\nwire = \"openai-chat\"\nbase_url = \"{url}/v1\"\nmodel = \"{name}-0\"\n{price}\n"
        )
    };
    TestServer::voiced(&format!(
        "{}{}[server]\ntokens = [{{ name = \"ann\", tenant = \"acme\", token = \"{ANN}\", {caps} }}, \
         {{ name = \"bob\", tenant = \"acme\", token = \"{BOB}\" }}]",
        provider("alpha"),
        provider("beta")
    ))
    .await
}

pub(crate) const PRICE: &str = "price = { input = 1.0, output = 2.0 }";

pub(crate) fn order() -> Value {
    json!({
        "topic": "Tabs or spaces?", "providers": ["alpha", "beta"], "pattern": "round-robin", "rounds": 1,
    })
}

async fn sent(server: &TestServer, path: &str, token: &str, body: &Value) -> Answer {
    answered(server.posting(path, body).bearer_auth(token)).await
}

async fn got(server: &TestServer, path: &str, token: &str) -> Value {
    answered(server.request("GET", path).bearer_auth(token)).await.json()
}

/// Starts a discussion of this token and returns its result.
async fn held(server: &TestServer, token: &str) -> Value {
    let started = sent(server, "/api/discussions", token, &order()).await;
    assert_eq!(started.status, 202, "{}", started.text);
    let id = started.id();
    answered(server.request("GET", &format!("/api/discussions/{id}/events")).bearer_auth(token)).await;
    got(server, &format!("/api/discussions/{id}/result"), token).await
}

#[tokio::test]
async fn s14_an_order_beyond_the_cap_is_a_429_that_says_when_it_renews() {
    // Each answer costs 201 dollars, far beyond what the model was allowed to write.
    let vendor = vendor(100_000_000);
    let server = opened(&vendor, "max_cost_per_day = 5, max_cost_per_month = 300", PRICE).await;
    let fresh = got(&server, "/api/spending", ANN).await;
    let figures =
        |it: &Value| json!([it["period"], it["capUsd"], it["spentUsd"], it["reservedUsd"], it["leftUsd"]]);
    let all: Vec<Value> = fresh.as_array().unwrap().iter().map(figures).collect();
    assert_eq!(all, [json!(["day", 5.0, 0.0, 0.0, 5.0]), json!(["month", 300.0, 0.0, 0.0, 300.0])]);

    let result = held(&server, ANN).await;
    assert_eq!(result["error"]["code"], "DISCUSSION_COST_BUDGET_EXCEEDED", "{result}");
    assert_eq!(result["outcome"]["degraded"], true);
    for path in ["/api/discussions", "/api/discussion"] {
        let dialogue = json!({
            "prompt": "Tabs or spaces?", "modelA": { "modelId": "alpha-0", "providerId": "alpha" },
            "modelB": { "modelId": "beta-0", "providerId": "beta" },
        });
        let body = if path == "/api/discussion" { dialogue } else { order() };
        let refused = sent(&server, path, ANN, &body).await;
        assert_eq!(refused.status, 429, "{}", refused.text);
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=86_400).contains(&wait), "{wait}");
        let problem = refused.json();
        assert_eq!(problem["code"], "DISCUSSION_SPENDING_CAP_REACHED");
        let cap = &problem["cap"];
        assert_eq!(figures(cap), json!(["day", 5.0, 200.001, 0.0, 0.0]));
        assert!(cap["renewsAt"].as_str().unwrap().ends_with("T00:00:00Z"), "{cap}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("$0.0000 is left, and up to $"), "{detail}");
    }
    assert_eq!(
        got(&server, "/api/discussions", ANN).await.as_array().unwrap().len(),
        1,
        "nothing is recorded"
    );
    let plan = sent(&server, "/api/plan", ANN, &order()).await.json();
    assert_eq!((&plan["capFit"], plan["caps"].as_array().unwrap().len()), (&json!("doesNotFit"), 2));

    // Another token of the same tenant has no cap.
    assert_eq!(got(&server, "/api/spending", BOB).await, json!([]));
    assert_eq!(held(&server, BOB).await["success"], true);
    assert_eq!(sent(&server, "/api/plan", BOB, &order()).await.json().get("caps"), None);
    // Simulated voices cost nothing.
    let offline = json!({ "topic": "Tabs or spaces?", "offline": true, "rounds": 1 });
    assert_eq!(sent(&server, "/api/discussions", ANN, &offline).await.status, 202);
}

#[tokio::test]
async fn s14_a_token_with_a_cap_uses_no_unpriced_voice_unless_its_operator_says_so() {
    let vendor = vendor(10);
    let server = opened(&vendor, "max_cost_per_day = 5", "").await;
    let allowing = json!({
        "topic": "Tabs or spaces?", "providers": ["alpha", "beta"], "allowUnpriced": true, "rounds": 1,
    });
    let refused = sent(&server, "/api/discussions", ANN, &allowing).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (409, &json!("providers")));
    assert_eq!(held(&server, BOB).await["success"], true);
    let server = opened(&vendor, "max_cost_per_day = 5, allow_unpriced = true", "").await;
    assert_eq!(held(&server, ANN).await["success"], true);
}
