//! Each vendor's answers, compared whole.

use quorum_testkit::server::{Ending, Script, Used, server};
use serde_json::{Value, json};

use crate::client::{Ask, all, anthropic, chat, gemini, ollama, responses};

/// Compares with `golden/{name}.txt`, or writes it if `QUORUM_BLESS` is set.
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/server/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("QUORUM_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{name}");
}

fn script() -> Script {
    let used = Used { prompt: 30, completion: 12, cached: 8, reasoning: 4, ..Used::default() };
    server()
        .says("a-1", "Tabs, \"of course\".\nAnd grüße.")
        .thinks("a-1", "Hm.")
        .takes("a-1", 0, 0, 2)
        .uses("a-1", used)
}

/// The request with the discuss tool, in the vendor's format.
fn with_tool(name: &str, ask: Ask) -> Ask {
    let schema = json!({
        "type": "object", "properties": { "topic": { "type": "string" } }, "required": ["topic"], "additionalProperties": false
    });
    let tool = match name {
        "anthropic" => json!([{ "name": "discuss", "description": "d", "input_schema": schema }]),
        "openai-responses" => {
            json!([{ "type": "function", "name": "discuss", "description": "d", "parameters": schema, "strict": true }])
        }
        "gemini" => {
            json!([{ "functionDeclarations": [{ "name": "discuss", "parametersJsonSchema": schema }] }])
        }
        _ => {
            json!([{ "type": "function", "function": { "name": "discuss", "description": "d", "parameters": schema } }])
        }
    };
    ask.but(json!({ "tools": tool }))
}

fn unstreamed(name: &str, ask: Ask) -> Ask {
    match name {
        "gemini" => Ask { path: "/v1/models/a-1:generateContent".to_owned(), ..ask },
        _ => ask.but(json!({ "stream": false, "stream_options": null })),
    }
}

#[tokio::test]
async fn each_vendor_streams_in_its_own_words() {
    for (name, ask) in all("a-1") {
        let reply = ask.of(&script().start()).await;
        golden(&format!("{name}.stream"), &reply.text());
        assert_eq!(reply.status, 200, "{name}");
        let content_type = match name {
            "ollama" => "application/x-ndjson",
            "gemini" => "text/event-stream",
            _ => "text/event-stream; charset=utf-8",
        };
        assert_eq!(reply.header("content-type"), Some(content_type), "{name}");
    }
}

#[tokio::test]
async fn each_vendor_answers_in_one_piece_when_asked_to() {
    for (name, ask) in all("a-1") {
        let reply = unstreamed(name, ask).of(&script().start()).await;
        reply.json();
        golden(&format!("{name}.whole"), &reply.text());
        assert_eq!(reply.header("content-type"), Some("application/json"), "{name}");
    }
}

#[tokio::test]
async fn e01_each_vendor_uses_the_tool_once_it_may() {
    let script = server().convenes("a-1", "What do editors do?");
    for (name, ask) in all("a-1") {
        let asked = with_tool(name, ask.clone());
        golden(&format!("{name}.tool"), &asked.of(&script.clone().start()).await.text());
        let whole = unstreamed(name, asked).of(&script.clone().start()).await;
        let arguments = [
            "/content/1/input",
            "/choices/0/message/tool_calls/0/function/arguments",
            "/output/1/arguments",
            "/candidates/0/content/parts/1/functionCall/args",
            "/message/tool_calls/0/function/arguments",
        ];
        let found: Vec<Value> = arguments.iter().filter_map(|it| whole.json().pointer(it).cloned()).collect();
        let [found] = &found[..] else { panic!("{name}: {found:?}") };
        let found = found.as_str().map_or(found.clone(), |text| serde_json::from_str(text).unwrap());
        assert_eq!(found, json!({ "topic": "What do editors do?" }), "{name}");
        let without = ask.of(&script.clone().start()).await;
        assert!(!without.text().contains("discuss"), "{name} was not offered the tool");
    }
}

#[tokio::test]
async fn each_vendor_says_why_it_ended() {
    let check = async |ending: Ending, expected: [&str; 5]| {
        let server = server().ends("a-1", ending).start();
        for ((name, ask), expected) in all("a-1").into_iter().zip(expected) {
            let text = ask.of(&server).await.text();
            assert!(text.contains(expected), "{name} {ending:?}: {text}");
        }
    };
    let length = ["\"max_tokens\"", "\"length\"", "\"max_output_tokens\"", "\"MAX_TOKENS\"", "\"length\""];
    check(Ending::Length, length).await;
    let refused = ["\"refusal\"", "\"content_filter\"", "response.incomplete", "\"SAFETY\"", "\"stop\""];
    check(Ending::Refused, refused).await;
    let stop = ["\"end_turn\"", "\"stop\"", "response.completed", "\"STOP\"", "\"stop\""];
    check(Ending::Stop, stop).await;
}

#[tokio::test]
async fn answers_end_at_stop_sequences_and_at_their_length() {
    let server = server().says("a-1", "One. Two. Three.").start();
    let text = |reply: crate::client::Reply| reply.json().pointer("/content/0/text").cloned();
    let reason = |reply: &crate::client::Reply| reply.json()["stop_reason"].clone();
    let stopped = anthropic("a-1").but(json!({ "stream": false, "stop_sequences": ["Three", "Two"] }));
    let reply = stopped.of(&server).await;
    assert_eq!(reason(&reply), json!("stop_sequence"));
    assert_eq!(text(reply), Some(json!("One. ")));
    let short = anthropic("a-1").but(json!({ "stream": false, "max_tokens": 2 }));
    let reply = short.of(&server).await;
    assert_eq!(reason(&reply), json!("max_tokens"));
    assert_eq!(text(reply), Some(json!("One. Two")));
}

#[tokio::test]
async fn each_vendor_keeps_to_a_schema() {
    let schema = json!({
        "type": "object", "properties": { "choice": { "type": "string", "enum": ["tabs"] } },
        "required": ["choice"], "additionalProperties": false
    });
    let named = json!({ "type": "json_schema", "name": "ballot", "strict": true, "schema": schema });
    let anthropic_format = json!({ "format": { "type": "json_schema", "schema": schema } });
    let google =
        json!({ "type": "OBJECT", "properties": { "choice": { "type": "STRING", "enum": ["tabs"] } } });
    let config = |name: &str, schema: &Value| json!({ "generationConfig": { "responseMimeType": "application/json", name: schema } });
    let asks = [
        (anthropic("a-1").but(json!({ "output_config": anthropic_format })), "/content/0/text"),
        (anthropic("a-1").but(json!({ "output_format": { "type": "json_schema", "schema": schema } })), "/content/0/text"),
        (
            anthropic("a-1").but(json!({
                "tools": [{ "name": "ballot", "input_schema": schema }], "tool_choice": { "type": "tool", "name": "ballot" },
            })),
            "/content/0/input",
        ),
        (
            chat("a-1").but(json!({ "response_format": { "type": "json_schema", "json_schema": {
                "name": "ballot", "strict": true, "schema": schema } } })),
            "/choices/0/message/content",
        ),
        (responses("a-1").but(json!({ "text": { "format": named } })), "/output/0/content/0/text"),
        (gemini("a-1").but(config("responseJsonSchema", &schema)), "/candidates/0/content/parts/0/text"),
        (gemini("a-1").but(config("responseSchema", &google)), "/candidates/0/content/parts/0/text"),
        (ollama("a-1").but(json!({ "format": schema })), "/message/content"),
    ];
    let server = server().says("a-1", "No form.").start();
    for (ask, pointer) in asks {
        let name = if ask.path.contains("models") { "gemini" } else { "" };
        let reply = unstreamed(name, ask).of(&server).await.json();
        let found = reply.pointer(pointer).unwrap_or_else(|| panic!("{pointer} in {reply}"));
        let found = found.as_str().map_or(found.clone(), |text| serde_json::from_str(text).unwrap());
        assert_eq!(found, json!({ "choice": "tabs" }));
    }
}

#[tokio::test]
async fn usage_comes_on_a_chat_stream_only_when_asked_for() {
    let server = server().start();
    let quiet = chat("a-1").but(json!({ "stream_options": null })).of(&server).await.text();
    assert!(!quiet.contains("usage"), "{quiet}");
}

#[tokio::test]
async fn google_streams_a_list_unless_events_are_asked_for() {
    let ask = Ask { path: "/v1beta/models/a-1:streamGenerateContent".to_owned(), ..gemini("a-1") };
    let reply = ask.of(&server().start()).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert!(reply.json().as_array().is_some_and(|pieces| pieces.len() > 1), "{}", reply.text());
}

#[tokio::test]
async fn inv_disc_100_models_are_found_where_each_vendor_has_them() {
    let server = server().models(["a-1", "org/b"]).start();
    let check = async |ask: Ask, status: u16, pointer: &str, expected: Value| {
        let reply = ask.of(&server).await;
        let found = reply.json().pointer(pointer).cloned();
        assert_eq!((reply.status, found), (status, Some(expected)), "{}", ask.path);
    };
    let claude = |path: &str| Ask::get(path).with("anthropic-version", "2023-06-01");
    let google = |path: &str| Ask::get(path).with("x-goog-api-key", "k");
    let show = |model: &str| Ask::post("/api/show", json!({ "model": model }));
    check(claude("/v1/models"), 200, "/data/1/id", json!("org/b")).await;
    check(claude("/v1/models/a-1"), 200, "/type", json!("model")).await;
    check(claude("/v1/models/x"), 404, "/error/message", json!("model: x")).await;
    check(Ask::get("/v1/models"), 200, "/data/0/object", json!("model")).await;
    check(Ask::get("/v1/models/org%2Fb"), 200, "/id", json!("org/b")).await;
    check(Ask::get("/v1/models/x"), 404, "/error/code", json!("model_not_found")).await;
    check(google("/v1/models/a-1"), 200, "/name", json!("models/a-1")).await;
    check(Ask::get("/v1beta/models"), 200, "/models/0/name", json!("models/a-1")).await;
    check(Ask::get("/v1beta/models/x"), 404, "/error/status", json!("NOT_FOUND")).await;
    check(show("a-1"), 200, "/capabilities/0", json!("completion")).await;
    check(show("x"), 404, "/error", json!("model 'x' not found")).await;
    check(Ask::get("/api/tags"), 200, "/models/1/name", json!("org/b")).await;
}

#[tokio::test]
async fn a_server_that_was_not_told_its_models_takes_any_and_has_no_list() {
    let server = server().start();
    assert_eq!(Ask::get("/v1/models").of(&server).await.status, 404);
    assert_eq!(Ask::get("/v1/models/any").of(&server).await.status, 200);
}

#[tokio::test]
async fn embeddings_are_vectors_of_their_words() {
    let server = server().start();
    let ask =
        Ask::post("/v1/embeddings", json!({ "model": "e", "input": ["tabs", "tabs!"], "dimensions": 8 }));
    let reply = ask.of(&server).await.json();
    assert_eq!(reply["data"][0]["embedding"], reply["data"][1]["embedding"]);
    assert_eq!(reply["data"][0]["embedding"].as_array().map(Vec::len), Some(8));
    assert_eq!(reply["usage"], json!({ "prompt_tokens": 3, "total_tokens": 3 }));
}
