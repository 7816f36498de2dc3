//! Every row of the table of bad input, in both forms of errors.

use quorum_server::Limits;
use quorum_testkit::server::Fault;
use serde_json::{Value, json};

use super::{calls, chat, chunks, config, keyed, only_discussion, question, vendor, with};
use crate::harness::{ANN, Answer, FAST, TestServer, answered, tenants};

/// Compares an error in OpenAI's form.
#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str, param: Option<&str>) {
    assert_eq!(answer.headers["content-type"], "application/json", "{}", answer.text);
    let error = &answer.json()["error"];
    let told = (answer.status.as_u16(), error["code"].as_str(), error["param"].as_str());
    assert_eq!(told, (status, Some(code), param), "{}", answer.text);
    let message = error["message"].as_str().unwrap();
    assert!(error["type"].is_string() && message.starts_with(param.unwrap_or_default()), "{}", answer.text);
}

/// The same in Anthropic's form.
#[track_caller]
fn refused_message(answer: &Answer, status: u16, kind: &str) {
    let told = answer.json();
    assert_eq!(
        (answer.status.as_u16(), &told["type"], &told["error"]["type"]),
        (status, &json!("error"), &json!(kind)),
        "{told}"
    );
    assert!(told["error"]["message"].is_string(), "{told}");
}

fn said(messages: Value) -> Value {
    let mut body = json!({ "model": "quorum" });
    body["messages"] = messages;
    body
}

#[tokio::test]
async fn a9_messages_that_ask_nothing_are_refused() {
    let server = TestServer::open(FAST).await;
    let user = json!({ "role": "user", "content": "Tabs?" });
    for messages in [
        json!([]),
        json!([{ "role": "system", "content": "Be brief." }]),
        json!([user, { "role": "assistant", "content": "Tabs, be" }]),
        json!([{ "role": "user", "content": "" }]),
        json!([{ "role": "user", "content": [] }]),
        json!([{ "role": "user", "content": " \n" }]),
        json!([user, { "role": "tool", "content": "12" }]),
    ] {
        let body = said(messages.clone());
        refused(&chat(&server, &body).await, 400, "invalid_request_error", Some("messages"));
        let message = with(body, json!({ "max_tokens": 9 }));
        let answer = server.post("/v1/messages", &message).await;
        if messages[1]["role"] != "tool" {
            refused_message(&answer, 400, "invalid_request_error");
        }
    }
    refused(
        &chat(&server, &json!({ "model": "quorum" })).await,
        400,
        "invalid_request_error",
        Some("messages"),
    );
    let role = said(json!([{ "role": "robot", "content": "x" }]));
    refused(&chat(&server, &role).await, 400, "invalid_value", Some("messages[0].role"));
    for (message, place, expected) in [
        (json!("hi"), "[0]", "must be an object with a role and content"),
        (json!({ "content": "hi" }), "[0].role", "is missing"),
        (json!({ "role": null, "content": "hi" }), "[0].role", "is missing"),
        (json!({ "role": 7, "content": "hi" }), "[0].role", "must be a text"),
        (json!({ "role": "robot", "content": "hi" }), "[0].role", "there is no role \"robot\""),
    ] {
        for (path, name) in
            [("/v1/chat/completions", "messages"), ("/v1/responses", "input"), ("/v1/messages", "messages")]
        {
            let answer = server.post(path, &json!({ "model": "quorum", name: [message] })).await;
            let expected = format!("{name}{place}: {expected}");
            assert_eq!(answer.json()["error"]["message"], expected, "{path}");
        }
    }
    refused(&chat(&server, &json!({ "messages": [user] })).await, 400, "invalid_value", Some("model"));
    let many: Vec<Value> = (0..1_001).map(|_| user.clone()).collect();
    refused(&chat(&server, &said(json!(many))).await, 400, "invalid_value", Some("messages"));
}

#[tokio::test]
async fn a9_models_that_are_not_there_are_refused_with_the_nearest() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let answer = chat(&server, &question("quorum/debat")).await;
    refused(&answer, 404, "model_not_found", Some("model"));
    assert!(answer.text.contains("quorum/debate"), "{}", answer.text);
    refused(&chat(&server, &question("quorum/roundtable")).await, 404, "model_not_found", Some("model"));
    refused(&chat(&server, &question("quorum/prompt")).await, 404, "model_not_found", Some("model"));
    refused(&chat(&server, &question("nothing-like-it")).await, 404, "model_not_found", Some("model"));
    refused(&chat(&server, &question("claude")).await, 400, "model_not_available", Some("model"));
    refused_message(&server.post("/v1/messages", &question("quorum/debat")).await, 404, "not_found_error");
    assert_eq!(calls(&vendor), Vec::<String>::new());
}

#[tokio::test]
async fn a9_bodies_that_are_no_requests_are_refused() {
    let server = TestServer::open(FAST).await;
    let post = |path: &str, kind: &str, body: String| {
        answered(server.request("POST", path).header("content-type", kind).body(body))
    };
    let json_type = "application/json";
    for body in ["{", "[]", "null", "\"x\"", ""] {
        refused(&post("/v1/chat/completions", json_type, body.into()).await, 400, "invalid_json", None);
        refused_message(&post("/v1/messages", json_type, body.into()).await, 400, "invalid_request_error");
    }
    let large = question("quorum").to_string().replace("Tabs", &"a".repeat(2 << 20));
    refused(&post("/v1/chat/completions", json_type, large.clone()).await, 413, "request_too_large", None);
    refused_message(&post("/v1/messages", json_type, large).await, 413, "request_too_large");
    let text = question("quorum").to_string();
    refused(
        &post("/v1/chat/completions", "text/plain", text.clone()).await,
        415,
        "unsupported_media_type",
        None,
    );
    refused_message(&post("/v1/messages", "text/plain", text.clone()).await, 415, "invalid_request_error");
    let untyped = answered(server.request("POST", "/v1/chat/completions").body(text)).await;
    refused(&untyped, 415, "unsupported_media_type", None);
    let long = said(json!([{ "role": "user", "content": "a".repeat(400_001) }]));
    refused(&chat(&server, &long).await, 400, "context_length_exceeded", Some("messages"));
    refused(&server.get("/v1/nothing").await, 404, "not_found", None);
    refused(&server.get("/v1/chat/completions").await, 405, "method_not_allowed", None);
    refused_message(&server.get("/v1/messages").await, 405, "invalid_request_error");
}

#[tokio::test]
async fn a9_values_that_are_out_of_bounds_are_refused_by_name() {
    let server = TestServer::open(FAST).await;
    let function = json!({ "type": "function", "function": { "name": "f" } });
    let image = said(json!([
        { "role": "user", "content": "one" },
        { "role": "assistant", "content": "two" },
        { "role": "user", "content": [{ "type": "text", "text": "x" }, { "type": "image_url", "image_url": {} }] },
    ]));
    refused(&chat(&server, &image).await, 400, "unsupported_content", Some("messages[2].content[1]"));
    for (more, code, param) in [
        (json!({ "temperature": 3 }), "invalid_value", "temperature"),
        (json!({ "temperature": "hot" }), "invalid_value", "temperature"),
        (json!({ "max_tokens": 0 }), "invalid_value", "max_tokens"),
        (json!({ "max_completion_tokens": -1 }), "invalid_value", "max_completion_tokens"),
        (json!({ "n": 2 }), "unsupported_parameter", "n"),
        (json!({ "logprobs": true }), "unsupported_parameter", "logprobs"),
        (json!({ "modalities": ["text", "audio"] }), "unsupported_parameter", "modalities"),
        (json!({ "tools": [function], "tool_choice": "required" }), "unsupported_parameter", "tool_choice"),
        (json!({ "tools": [function], "tool_choice": function }), "unsupported_parameter", "tool_choice"),
        (json!({ "stream": "yes" }), "invalid_value", "stream"),
        (json!({ "stop": [""] }), "invalid_value", "stop"),
        (json!({ "quorum": { "rounds": 99 } }), "invalid_value", "quorum.rounds"),
        (json!({ "quorum": { "thinking": "loud" } }), "invalid_value", "quorum.thinking"),
        (json!({ "quorum": 7 }), "invalid_value", "quorum"),
        (json!({ "response_format": { "type": "xml" } }), "invalid_value", "response_format.type"),
    ] {
        refused(&chat(&server, &with(question("quorum"), more)).await, 400, code, Some(param));
    }
    let block = json!([{ "role": "user", "content": [{ "type": "image", "source": {} }] }]);
    refused_message(&server.post("/v1/messages", &said(block)).await, 400, "invalid_request_error");
    for more in
        [json!({ "max_tokens": 0 }), json!({ "temperature": 3 }), json!({ "tool_choice": { "type": "any" } })]
    {
        let answer = server.post("/v1/messages", &with(question("quorum"), more)).await;
        refused_message(&answer, 400, "invalid_request_error");
    }
    // Tools that need not be called are ignored, and said to be.
    let told =
        chat(&server, &with(question("quorum"), json!({ "tools": [function], "tool_choice": "auto" }))).await;
    assert_eq!(told.json()["quorum"]["ignored"], json!(["tools"]), "{}", told.text);
}

#[tokio::test]
async fn a10_objects_with_more_fields_than_the_document_allows_are_refused() {
    let server = TestServer::open(FAST).await;
    let many = |object: &Value| {
        let fields: serde_json::Map<String, Value> =
            (0..100).map(|it| (format!("x{it}"), json!(it))).collect();
        with(object.clone(), Value::Object(fields))
    };
    let said = question("quorum")["messages"][0].clone();
    let part = json!({ "type": "text", "text": "Tabs or spaces?" });
    let schema =
        json!({ "type": "json_schema", "json_schema": { "schema": many(&json!({ "type": "object" })) } });
    for (body, param) in [
        (many(&question("quorum")), "body"),
        (
            with(question("quorum"), json!({ "stream_options": many(&json!({ "include_usage": true })) })),
            "stream_options",
        ),
        (with(question("quorum"), json!({ "quorum": many(&json!({ "rounds": 1 })) })), "quorum"),
        (with(question("quorum"), json!({ "messages": [many(&said)] })), "messages[0]"),
        (
            with(question("quorum"), json!({ "messages": [{ "role": "user", "content": [many(&part)] }] })),
            "messages[0].content[0]",
        ),
        (
            with(question("quorum"), json!({ "response_format": schema })),
            "response_format.json_schema.schema",
        ),
    ] {
        refused(&chat(&server, &body).await, 400, "invalid_value", Some(param));
    }
}

#[tokio::test]
async fn i19_messages_of_errors_named_the_fields_of_our_own_orders() {
    let server = TestServer::open(FAST).await;
    for (model, options, expected) in [
        (
            "quorum/voting",
            json!({ "options": ["tabs"] }),
            "quorum.options: takes 2 to 10 options; there are 1",
        ),
        (
            "quorum",
            json!({ "providers": ["claude"] }),
            "quorum.providers: a discussion of this kind takes 2 to 6 providers; 1 is named",
        ),
        ("quorum", json!({ "rounds": 0 }), "quorum.rounds: must be a whole number from 1 to 10"),
    ] {
        let body = with(question(model), json!({ "quorum": options }));
        for path in ["/v1/chat/completions", "/v1/messages"] {
            let answer = server.post(path, &body).await;
            assert_eq!(answer.json()["error"]["message"], expected, "{path}");
        }
    }
}

#[tokio::test]
async fn a9_invalid_schemas_are_refused() {
    let server = TestServer::open(FAST).await;
    let recursive =
        json!({ "$defs": { "a": { "properties": { "a": { "$ref": "#/$defs/a" } } } }, "$ref": "#/$defs/a" });
    for schema in [
        json!("object"),
        json!(false),
        json!({ "type": "thing" }),
        recursive,
        json!({ "description": "a".repeat(65 << 10) }),
        json!({ "type": "string", "pattern": "a+" }),
    ] {
        let format = json!({ "type": "json_schema", "json_schema": { "name": "x", "strict": true, "schema": schema } });
        let body = with(question("quorum"), json!({ "response_format": format }));
        refused(
            &chat(&server, &body).await,
            400,
            "invalid_schema",
            Some("response_format.json_schema.schema"),
        );
    }
}

#[tokio::test]
async fn a9_strangers_are_refused_in_the_vendors_form() {
    let server = TestServer::open(&tenants()).await;
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let post = || server.posting(path, &question("quorum"));
        let answers = [
            answered(post()).await,
            answered(post().bearer_auth("wrong-token-0123456789")).await,
            answered(post().header("x-api-key", "wrong-token-0123456789")).await,
            answered(post().bearer_auth(ANN).header("origin", "https://evil.example")).await,
            answered(post().bearer_auth(ANN).header("host", "evil.example")).await,
        ];
        let openai = [
            (401, "invalid_api_key"),
            (401, "invalid_api_key"),
            (401, "invalid_api_key"),
            (403, "origin_not_allowed"),
            (421, "host_not_allowed"),
        ];
        let anthropic = [
            "authentication_error",
            "authentication_error",
            "authentication_error",
            "permission_error",
            "invalid_request_error",
        ];
        for ((answer, (status, code)), kind) in answers.iter().zip(openai).zip(anthropic) {
            if path == "/v1/messages" {
                refused_message(answer, status, kind);
            } else {
                refused(answer, status, code, None);
            }
        }
        assert_eq!(answered(post().header("x-api-key", ANN)).await.status, 200);
    }
}

#[tokio::test]
async fn a9_a_path_that_is_not_utf8_is_refused_in_json() {
    let server = TestServer::open(FAST).await;
    for path in ["/v1/models/%FF", "/v1/responses/%FF"] {
        refused(&server.get(path).await, 400, "invalid_request_error", None);
    }
}

#[tokio::test]
async fn a9_a_budget_that_is_too_small_is_refused_with_the_least_figure() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let calls_left = with(question("quorum"), json!({ "quorum": { "max_calls": 2 } }));
    let answer = chat(&server, &calls_left).await;
    refused(&answer, 400, "budget_too_small", Some("quorum.max_calls"));
    assert!(answer.text.contains("take 4"), "{}", answer.text);
    // A single voice with too little money was answered with a 503.
    for model in ["quorum", "alpha"] {
        let money = with(question(model), json!({ "quorum": { "max_cost": 0.000_001 } }));
        refused(&chat(&server, &money).await, 400, "budget_too_small", Some("quorum.max_cost"));
    }
    assert_eq!(calls(&vendor).len(), 0);
    // Reached on the way: an answer that says so.
    let enough = with(question("quorum"), json!({ "quorum": { "max_calls": 5 } }));
    let told = chat(&server, &enough).await;
    assert_eq!(
        (told.status.as_u16(), &told.json()["quorum"]["degraded"]),
        (200, &json!(true)),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn a9_a_panel_that_fails_is_a_503_that_is_not_to_be_repeated_and_an_error_on_a_stream() {
    let vendor = vendor().fault("*", Fault::Status(400)).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let answer = chat(&server, &question("quorum")).await;
    refused(&answer, 503, "all_providers_failed", None);
    assert_eq!(answer.headers["x-should-retry"], "false");
    let failed = only_discussion(&server).await;
    assert_eq!(answer.headers["x-quorum-discussion"], failed["discussionId"].as_str().unwrap());
    refused_message(&server.post("/v1/messages", &question("quorum")).await, 503, "overloaded_error");
    let stream = chat(&server, &with(question("quorum"), json!({ "stream": true }))).await;
    let (chunks, _) = chunks(&stream.text);
    assert_eq!(chunks.last().unwrap()["error"]["code"], "all_providers_failed", "{}", stream.text);
    assert!(chunks.iter().rev().skip(1).all(|it| it.get("error").is_none()), "{}", stream.text);
}

#[tokio::test]
async fn a9_too_many_discussions_are_a_429() {
    let limits = Limits { running: 1, ..Limits::default() };
    let server = TestServer::with("[defaults]\nsimulate = \"latency=60s\"\n", limits).await;
    server.ordered(&crate::harness::order()).await;
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        let body = with(question("quorum"), json!({ "input": "Tabs?" }));
        let answer = server.post(path, &body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["retry-after"]),
            (429, &"5".parse().unwrap()),
            "{}",
            answer.text
        );
    }
    // What goes on without its client is accepted and queued.
    let background = json!({ "model": "quorum", "input": "Tabs?", "background": true });
    let queued = server.post("/v1/responses", &background).await;
    assert_eq!(
        (queued.status.as_u16(), &queued.json()["status"]),
        (200, &json!("queued")),
        "{}",
        queued.text
    );
}

#[tokio::test]
async fn a9_odd_characters_are_stored_as_replacements() {
    let server = TestServer::open(FAST).await;
    let body =
        r#"{"model": "quorum", "messages": [{"role": "user", "content": "Tabs\ud83d or\u0000 spaces?"}]}"#;
    let answer = answered(
        server.request("POST", "/v1/chat/completions").header("content-type", "application/json").body(body),
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let listed = server.get("/api/discussions").await.json();
    assert_eq!(listed[0]["topic"], "Tabs\u{fffd} or\u{fffd} spaces?");
}

#[tokio::test]
async fn a9_the_other_rows_in_anthropics_form() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let user = json!({ "role": "user", "content": "Tabs?" });
    let panel = |options: Value| with(question("quorum"), json!({ "quorum": options }));
    let many: Vec<Value> = (0..10_000).map(|_| user.clone()).collect();
    let bad = json!({ "type": "json_schema", "schema": { "type": "thing" } });
    for (body, status, kind) in [
        (question("claude"), 400, "invalid_request_error"),
        (panel(json!({ "max_calls": 2 })), 400, "invalid_request_error"),
        (panel(json!({ "max_cost": 0.000_001 })), 400, "invalid_request_error"),
        (panel(json!({ "providers": ["claude", "alpha"] })), 400, "invalid_request_error"),
        (said(json!(many)), 400, "invalid_request_error"),
        (said(json!([{ "role": "user", "content": "a".repeat(400_001) }])), 400, "invalid_request_error"),
        (said(json!([{ "role": "robot", "content": "x" }])), 400, "invalid_request_error"),
        (
            with(question("quorum"), json!({ "output_config": { "format": bad } })),
            400,
            "invalid_request_error",
        ),
        (with(question("quorum"), json!({ "stop_sequences": [""] })), 400, "invalid_request_error"),
    ] {
        refused_message(&server.post("/v1/messages", &body).await, status, kind);
    }
    let keyed = |body: &Value| server.posting("/v1/messages", body).header("idempotency-key", "k");
    assert_eq!(answered(keyed(&question("alpha"))).await.status, 200);
    refused_message(&answered(keyed(&question("beta"))).await, 422, "invalid_request_error");
    assert_eq!(calls(&vendor), ["alpha-1"], "nothing else was asked");
}

#[tokio::test]
async fn a9_two_hundred_speakers_and_a_thousand_messages_are_taken() {
    let server = TestServer::open(FAST).await;
    let speaker = |number: usize| {
        let role = ["user", "assistant", "system", "tool", "developer"][number % 5];
        json!({ "role": role, "name": format!("speaker-{number}"), "content": "Tabs." })
    };
    let mut messages: Vec<Value> = (0..999).map(speaker).collect();
    messages.push(json!({ "role": "user", "content": "Tabs or spaces?" }));
    let answer = chat(&server, &said(json!(messages))).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test]
async fn a12_a_panel_on_a_panel_is_refused() {
    let server = TestServer::open(FAST).await;
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let answer = answered(server.posting(path, &question("quorum")).header("x-quorum-depth", "1")).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (400, &json!("recursion_refused"))
        );
    }
    let itself = |name: &str| {
        format!(
            "[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{}/v1'\nmodel = 'quorum'\n",
            server.base
        )
    };
    let outer = TestServer::voiced(&(itself("one") + &itself("two"))).await;
    let answer = chat(&outer, &question("quorum")).await;
    refused(&answer, 503, "all_providers_failed", None);
    assert_eq!(server.get("/api/discussions").await.json(), json!([]), "no discussion was started inside");
}

#[tokio::test]
async fn a9_a_key_is_checked_before_anything_is_started() {
    let server = TestServer::open(FAST).await;
    let answer = keyed(&server, &"k".repeat(256), &question("quorum")).await;
    refused(&answer, 400, "invalid_request", Some("Idempotency-Key"));
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn i19_refusals_name_the_field_that_was_sent_and_a_forced_function_is_refused() {
    let server = TestServer::open(FAST).await;
    for (more, param) in [
        (json!({ "top_logprobs": 3 }), "top_logprobs"),
        (json!({ "audio": { "voice": "alloy", "format": "wav" } }), "audio"),
        (json!({ "functions": [{ "name": "f" }], "function_call": { "name": "f" } }), "function_call"),
    ] {
        let answer = chat(&server, &with(question("quorum"), more)).await;
        refused(&answer, 400, "unsupported_parameter", Some(param));
    }
    let free = json!({ "functions": [{ "name": "f" }], "function_call": "auto" });
    let told = chat(&server, &with(question("quorum"), free)).await;
    assert_eq!(told.json()["quorum"]["ignored"], json!(["function_call", "functions"]), "{}", told.text);
}
