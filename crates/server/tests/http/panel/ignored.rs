//! Fields without effect are listed, or refused.

use serde_json::{Value, json};

use super::{config, question, vendor, with};
use crate::harness::{FAST, TestServer};

/// What the answer lists as ignored.
async fn ignored(server: &TestServer, path: &str, body: &Value) -> Value {
    let answer = server.post(path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["quorum"]["ignored"].clone()
}

#[tokio::test]
async fn i19_options_that_apply_elsewhere_are_refused_with_where() {
    let server = TestServer::open(FAST).await;
    for (model, options, param) in [
        ("quorum", json!({ "judge": "claude" }), "quorum.judge"),
        (
            "quorum/round-robin",
            json!({ "min_rounds_before_consensus": 2 }),
            "quorum.min_rounds_before_consensus",
        ),
    ] {
        let body = with(question(model), json!({ "quorum": options, "input": "Tabs or spaces?" }));
        for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
            let answer = server.post(path, &body).await;
            let told = (answer.status.as_u16(), &answer.json()["error"]["param"]);
            assert_eq!(told, (400, &json!(param)), "{path}: {}", answer.text);
            assert!(answer.text.contains("applies only to the pattern"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn i19_options_have_first_answers_where_nobody_votes() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let panel = json!({ "rounds": 1, "options": ["tabs", "spaces"] });
    let body = with(question("quorum"), json!({ "quorum": panel, "input": "Tabs or spaces?" }));
    for (path, expected) in
        [("/v1/chat/completions", ["input"]), ("/v1/messages", ["input"]), ("/v1/responses", ["messages"])]
    {
        assert_eq!(ignored(&server, path, &body).await, json!(expected), "{path}");
    }
    let vote = with(question("quorum/voting"), json!({ "quorum": { "options": ["tabs", "spaces"] } }));
    assert_eq!(ignored(&server, "/v1/chat/completions", &vote).await, json!([]));
}

#[tokio::test]
async fn i19_ignored_fields_of_inner_objects_are_listed() {
    let server = TestServer::open(FAST).await;
    for (path, more, expected) in [
        (
            "/v1/chat/completions",
            json!({ "stream_options": { "include_obfuscation": true }, "reasoning": { "max_tokens": 9 } }),
            json!(["input", "reasoning.max_tokens", "stream_options.include_obfuscation"]),
        ),
        (
            "/v1/responses",
            json!({ "text": { "verbosity": "low" }, "reasoning": { "effort": "high", "summary": "auto" } }),
            json!(["messages", "reasoning.effort", "reasoning.summary", "text.verbosity"]),
        ),
        (
            "/v1/messages",
            json!({ "thinking": { "type": "enabled", "budget_tokens": 1_024 }, "output_config": { "effort": "low" } }),
            json!(["input", "output_config.effort", "thinking.budget_tokens"]),
        ),
    ] {
        let body = with(with(question("quorum"), json!({ "input": "Tabs or spaces?" })), more);
        assert_eq!(ignored(&server, path, &body).await, expected, "{path}");
    }
}

#[tokio::test]
async fn i19_a_panel_for_one_voice_is_listed_as_ignored() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let panel = json!({ "rounds": 3, "providers": ["alpha", "beta"], "judge": "beta", "max_calls": 5 });
    let body = with(question("alpha"), json!({ "quorum": panel }));
    let expected = json!(["quorum.judge", "quorum.providers", "quorum.rounds"]);
    assert_eq!(ignored(&server, "/v1/chat/completions", &body).await, expected);
}

#[tokio::test]
async fn i19_fields_of_fusion_without_effect_are_listed() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let fusion = json!({ "id": "fusion", "enabled": true, "analysis_models": ["alpha", "beta"], "model": "gamma",
        "max_tool_calls": 3, "preset": "fast" });
    let plugin = with(question("fusion"), json!({ "plugins": [fusion] }));
    let expected = json!(["plugins.max_tool_calls", "plugins.model", "plugins.preset"]);
    assert_eq!(ignored(&server, "/v1/chat/completions", &plugin).await, expected);
    let fusion = json!({ "analysis_models": ["alpha", "beta"], "model": "beta", "tools": [] });
    let tool = with(
        question("fusion"),
        json!({ "tools": [{ "type": "openrouter:fusion", "parameters": fusion }], "tool_choice": "required" }),
    );
    for path in ["/v1/chat/completions", "/v1/messages"] {
        assert_eq!(ignored(&server, path, &tool).await, json!(["tools.tools"]), "{path}");
    }
}

#[tokio::test]
async fn i19_values_of_another_kind_are_refused_by_name() {
    let server = TestServer::open(FAST).await;
    for (path, more, param) in [
        ("/v1/chat/completions", json!({ "seed": "seven" }), "seed"),
        ("/v1/chat/completions", json!({ "metadata": "trip" }), "metadata"),
        ("/v1/chat/completions", json!({ "metadata": { "session_id": 7 } }), "metadata.session_id"),
        ("/v1/responses", json!({ "input": "Tabs?", "top_logprobs": 3 }), "top_logprobs"),
        ("/v1/messages", json!({ "output_config": { "format": 7 } }), "output_config.format"),
    ] {
        let answer = server.post(path, &with(question("quorum"), more.clone())).await;
        let told = (answer.status.as_u16(), &answer.json()["error"]["param"]);
        assert_eq!(told, (400, &json!(param)), "{more}: {}", answer.text);
    }
    let allowed = json!({ "type": "allowed_tools", "mode": "auto", "tools": [] });
    let body = with(question("quorum"), json!({ "seed": -7, "tool_choice": allowed, "top_logprobs": 0 }));
    assert_eq!(ignored(&server, "/v1/chat/completions", &body).await, json!([]));
}

#[tokio::test]
async fn i19_metadata_without_effect_is_listed() {
    let server = TestServer::open(FAST).await;
    let metadata = json!({ "session_id": "trip", "user_id": "ann" });
    let body = with(question("quorum"), json!({ "metadata": metadata }));
    for path in ["/v1/chat/completions", "/v1/messages"] {
        assert_eq!(ignored(&server, path, &body).await, json!(["metadata.user_id"]), "{path}");
    }
}

#[tokio::test]
async fn i19_a_seed_that_reaches_no_vendor_is_listed() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for model in ["quorum", "alpha"] {
        let body = with(question(model), json!({ "seed": 7 }));
        assert_eq!(ignored(&server, "/v1/chat/completions", &body).await, json!(["seed"]), "{model}");
    }
    let sent = vendor.requests();
    assert!(sent.iter().all(|it| it.body.get("seed").is_none()));
    let simulated = TestServer::open(FAST).await;
    let body = with(question("quorum"), json!({ "seed": 7 }));
    assert_eq!(ignored(&simulated, "/v1/chat/completions", &body).await, json!([]));
}

#[tokio::test]
async fn i19_an_effort_without_effect_is_listed() {
    let server = TestServer::open(FAST).await;
    for (more, expected) in [
        (json!({ "reasoning_effort": "high" }), json!(["input", "reasoning_effort"])),
        (json!({ "reasoning_effort": "none" }), json!(["input"])),
        (json!({ "reasoning": { "effort": "low" } }), json!(["input", "reasoning.effort"])),
        (json!({ "reasoning": { "effort": "none" } }), json!(["input"])),
    ] {
        let body = with(with(question("quorum"), json!({ "input": "Tabs or spaces?" })), more.clone());
        assert_eq!(ignored(&server, "/v1/chat/completions", &body).await, expected, "{more}");
    }
}

#[tokio::test]
async fn i19_stop_sequences_without_effect_on_a_json_value_are_listed() {
    let server = TestServer::open(FAST).await;
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let format =
        json!({ "type": "json_schema", "schema": schema, "json_schema": { "name": "x", "schema": schema } });
    for (path, name, form) in [
        ("/v1/chat/completions", "stop", json!({ "response_format": format })),
        ("/v1/messages", "stop_sequences", json!({ "output_config": { "format": format } })),
    ] {
        let plain = with(question("quorum"), json!({ name: ["}"] }));
        assert_eq!(ignored(&server, path, &plain).await, json!([]), "{path}");
        let all = ignored(&server, path, &with(plain, form)).await;
        assert!(all.as_array().unwrap().contains(&json!(name)), "{path}: {all}");
    }
}
