//! Spending caps of tokens, which hold for the panel as a model too.

use quorum_testkit::server::{Used, server};
use serde_json::json;

use super::{calls, config, question, with};
use crate::harness::{ANN, BOB, TestServer, answered};

#[tokio::test]
async fn s14_a_cap_that_is_reached_is_a_429_in_each_vendors_form() {
    // Each answer costs hundreds of dollars, far beyond what the model was allowed to write.
    let used = Used { prompt: 1_000, completion: 100_000_000, ..Used::default() };
    let vendor = server().uses("*", used).start();
    let tokens = format!(
        "[server]\ntokens = [{{ name = \"ann\", tenant = \"acme\", token = \"{ANN}\", max_cost_per_day = 5 }}, \
         {{ name = \"bob\", tenant = \"acme\", token = \"{BOB}\" }}]\n"
    );
    let server = TestServer::voiced(&(config(&vendor) + &tokens)).await;
    let body = with(question("quorum"), json!({ "input": "Tabs?", "quorum": { "rounds": 1 } }));
    let sent = async |path: &str, token: &str| answered(server.posting(path, &body).bearer_auth(token)).await;
    sent("/v1/chat/completions", ANN).await;
    let placed = calls(&vendor).len();
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        let refused = sent(path, ANN).await;
        assert_eq!(refused.status, 429, "{}", refused.text);
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=86_400).contains(&wait), "{wait}");
        assert_eq!(refused.headers["x-should-retry"], "false", "clients would repeat it at once");
        let error = &refused.json()["error"];
        let expected = (&json!("insufficient_quota"), &json!("rate_limit_error"));
        assert_eq!((&error["code"], &error["type"]), expected, "{}", refused.text);
    }
    assert_eq!(calls(&vendor).len(), placed, "nothing is asked beyond the cap");
    assert_eq!(sent("/v1/chat/completions", BOB).await.status, 200, "another token has its own caps");
}
