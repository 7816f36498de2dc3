//! Invalid requests are refused as each vendor would refuse them.

use quorum_testkit::server::server;
use serde_json::{Value, json};

use crate::client::{Ask, all, anthropic, chat, gemini, ollama, responses};

async fn check(ask: Ask, status: u16, message: &str) {
    let reply = ask.of(&server().models(["a-1"]).start()).await;
    let body = reply.json();
    let said = body.pointer("/error/message").or(body.get("error")).and_then(Value::as_str);
    assert_eq!((reply.status, said), (status, Some(message)), "{}", ask.body);
}

#[tokio::test]
async fn d12_anthropic_refuses_what_it_would() {
    let ask = |changes: Value| anthropic("a-1").but(changes);
    let said = |role: &str, content: Value| json!({ "messages": [{ "role": role, "content": content }] });
    check(ask(json!({ "max_tokens": null })), 400, "max_tokens: Field required").await;
    check(ask(json!({ "stop": ["x"] })), 400, "stop: Extra inputs are not permitted").await;
    check(ask(json!({ "max_tokens": "9" })), 400, "max_tokens: Input should be a valid integer").await;
    check(ask(json!({ "temperature": 1.5 })), 400, "temperature: range: 0..1").await;
    check(ask(json!({ "messages": [] })), 400, "messages: at least one message is required").await;
    check(ask(said("assistant", json!("x"))), 400, "messages: first message must use the \"user\" role")
        .await;
    check(ask(said("user", json!(""))), 400, "messages.0: text content blocks must be non-empty").await;
    let blank = json!({ "stop_sequences": ["\n\n"] });
    check(ask(blank), 400, "stop_sequences: each stop sequence must contain non-whitespace").await;
    let schema = json!({ "type": "object", "properties": {} });
    let format = json!({ "output_config": { "format": { "type": "json_schema", "schema": schema } } });
    let open = "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";
    check(ask(format), 400, open).await;
    let unversioned = Ask { headers: Vec::new(), ..anthropic("a-1") };
    check(unversioned, 400, "anthropic-version: header is required").await;
    check(anthropic("b-1"), 404, "model: b-1").await;
}

#[tokio::test]
async fn d12_openai_refuses_what_it_would() {
    let ask = |changes: Value| chat("a-1").but(changes);
    check(ask(json!({ "max_token": 1 })), 400, "Unknown parameter: 'max_token'.").await;
    let typed = "Invalid type for 'temperature': expected a decimal, but got a string instead.";
    check(ask(json!({ "temperature": "hot" })), 400, typed).await;
    let stops = "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.";
    check(ask(json!({ "stop": ["a", "b", "c", "d", "e"] })), 400, stops).await;
    let empty = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    check(ask(json!({ "messages": [] })), 400, empty).await;
    let unstreamed = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    check(ask(json!({ "stream": null })), 400, unstreamed).await;
    let schema = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": false });
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "x", "strict": true, "schema": schema } });
    let loose = "Invalid schema for response_format 'x': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.";
    check(ask(json!({ "response_format": format })), 400, loose).await;
    check(chat("b-1"), 404, "The model `b-1` does not exist or you do not have access to it.").await;
    let stop = responses("a-1").but(json!({ "stop": ["x"] }));
    check(stop, 400, "Unknown parameter: 'stop'.").await;
    let small = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.";
    check(responses("a-1").but(json!({ "max_output_tokens": 1 })), 400, small).await;
    let own = json!([{ "role": "assistant", "content": [{ "type": "input_text", "text": "x" }] }]);
    let voiced = "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.";
    check(responses("a-1").but(json!({ "input": own })), 400, voiced).await;
}

#[tokio::test]
async fn d12_google_and_ollama_refuse_what_they_would() {
    let ask = |changes: Value| gemini("a-1").but(changes);
    let unknown = "Invalid JSON payload received. Unknown name \"stopSequences\": Cannot find field.";
    check(ask(json!({ "stopSequences": [] })), 400, unknown).await;
    let typed = "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"hot\"";
    check(ask(json!({ "generation_config": { "temperature": "hot" } })), 400, typed).await;
    let said =
        |role: &str, text: &str| json!({ "contents": [{ "role": role, "parts": [{ "text": text }] }] });
    check(ask(said("assistant", "x")), 400, "Please use a valid role: user, model.").await;
    let began = "Please ensure that multiturn requests begin with a user turn.";
    check(ask(said("model", "x")), 400, began).await;
    let empty = "Unable to submit request because it must have a text parameter.";
    check(ask(said("user", "")), 400, empty).await;
    let nobody = "models/b-1 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.";
    check(gemini("b-1"), 404, nobody).await;
    let listed =
        "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message";
    check(ollama("a-1").but(json!({ "messages": "x" })), 400, listed).await;
    check(ollama("b-1"), 404, "model 'b-1' not found").await;
    check(ollama("").but(json!({ "model": "" })), 400, "model is required").await;
}

#[tokio::test]
async fn d12_keys_are_asked_for_in_each_vendors_way() {
    let server = server().key("sk-canary").start();
    let headers = [
        ("x-api-key", "", 401, 401),
        ("authorization", "Bearer ", 401, 401),
        ("authorization", "Bearer ", 401, 401),
        ("x-goog-api-key", "", 403, 400),
        ("authorization", "Bearer ", 401, 401),
    ];
    for ((name, ask), (header, prefix, without, wrong)) in all("a-1").into_iter().zip(headers) {
        let status =
            async |key: &str| ask.clone().with(header, &format!("{prefix}{key}")).of(&server).await.status;
        let found = (ask.of(&server).await.status, status("sk-other").await, status("sk-canary").await);
        assert_eq!(found, (without, wrong, 200), "{name}");
    }
    let wrong = gemini("a-1").with("x-goog-api-key", "x").of(&server).await.json();
    assert_eq!(wrong.pointer("/error/details/0/reason"), Some(&json!("API_KEY_INVALID")));
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let reply = Ask::post("/v1/completions", json!({})).of(&server().start()).await;
    assert_eq!((reply.status, reply.text().as_str()), (404, "404 page not found\n"));
}
