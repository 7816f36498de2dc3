//! Tokens and costs: the reported ones are those that the vendors counted.

use quorum_testkit::server::{Used, server};
use serde_json::{Value, json};

use super::{calls, config, question, with};
use crate::harness::TestServer;

/// What a call of each model uses, and its price per million tokens read and written.
const MODELS: [(&str, u64, u64, f64); 3] =
    [("alpha-1", 101, 11, 3.0), ("beta-1", 1_003, 17, 1.0), ("gamma-1", 7, 1_009, 2.0)];

#[track_caller]
fn near(value: &Value, expected: f64) {
    assert!(value.as_f64().is_some_and(|it| (it - expected).abs() < 1e-9), "{value} instead of {expected}");
}

#[tokio::test]
async fn a7_usage_is_what_the_vendors_counted_and_cost_is_its_price_in_every_format() {
    let script = MODELS.iter().fold(server(), |script, (name, prompt, completion, _)| {
        script.uses(name, Used { prompt: *prompt, completion: *completion, ..Used::default() })
    });
    let vendor = script.start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for model in ["quorum", "quorum/debate", "quorum/critique", "gamma"] {
        for (path, names, parts) in [
            ("/v1/chat/completions", ["prompt_tokens", "completion_tokens"], ["prompt", "completions"]),
            ("/v1/responses", ["input_tokens", "output_tokens"], ["input", "output"]),
            ("/v1/messages", ["input_tokens", "output_tokens"], ["input", "output"]),
        ] {
            let before = calls(&vendor).len();
            let answer =
                server.post(path, &with(question(model), json!({ "input": "Tabs or spaces?" }))).await;
            let usage = &answer.json()["usage"];
            let made = calls(&vendor).split_off(before);
            let used = |it: &String| MODELS.iter().find(|(name, ..)| name == it).unwrap();
            let prompt: u64 = made.iter().map(|it| used(it).1).sum();
            let completion: u64 = made.iter().map(|it| used(it).2).sum();
            let told = names.map(|it| usage[it].as_u64());
            assert_eq!(told, [Some(prompt), Some(completion)], "{model} {path}: {}", answer.text);
            let read: f64 = made.iter().map(used).map(|it| it.1 as f64 * it.3 / 1e6).sum();
            let written: f64 = made.iter().map(used).map(|it| it.2 as f64 * it.3 * 2.0 / 1e6).sum();
            near(&usage["cost"], read + written);
            for (part, cost) in parts.into_iter().zip([read, written]) {
                near(&usage["cost_details"][format!("upstream_inference_{part}_cost")], cost);
            }
        }
    }
}
