//! The panel as if it were one model: what the vendors' own clients send, and what they receive.

mod bad_input;
mod caps;
mod chat;
mod fusion;
mod ignored;
mod leaving;
mod messages;
mod responses;
mod schemas;
mod tasks;
mod usage;

use quorum_testkit::server::{Script, Server, Used, server};
use serde_json::{Value, json};

use crate::harness::{Answer, TestServer, answered};

/// Three vendors' models on one server, with prices, and nothing else.
pub(crate) fn config(vendor: &Server) -> String {
    let row = |(name, price): (&str, f64)| {
        let base = format!("{}/v1", vendor.url());
        format!(
            "[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = '{name}-1'\n\
             price = {{ input = {price}, output = {} }}\n",
            price * 2.0
        )
    };
    let defaults = "[defaults]\nproviders = [\"alpha\", \"beta\", \"gamma\"]\n".to_owned();
    defaults + &[("alpha", 3.0), ("beta", 1.0), ("gamma", 2.0)].map(row).concat()
}

/// Vendors whose every answer used as many tokens.
pub(crate) fn vendor() -> Script {
    let used = Used { prompt: 100, completion: 20, ..Used::default() };
    server().uses("*", used)
}

/// The calls that were answered or are under way, by model.
pub(crate) fn calls(vendor: &Server) -> Vec<String> {
    let requests = vendor.requests();
    requests.iter().filter_map(|it| it.asked()).map(|it| it.model).collect()
}

/// A question to this model.
pub(crate) fn question(model: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": "Tabs or spaces?" }] })
}

/// The same with these fields.
pub(crate) fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more} has no fields") };
    body.as_object_mut().unwrap().extend(more);
    body
}

pub(crate) async fn chat(server: &TestServer, body: &Value) -> Answer {
    server.post("/v1/chat/completions", body).await
}

/// The chunks of a stream, and whether it ended properly.
pub(crate) fn chunks(text: &str) -> (Vec<Value>, bool) {
    let mut events: Vec<&str> = text.split("\n\n").filter(|it| !it.is_empty()).collect();
    let is_done = events.last() == Some(&"data: [DONE]");
    if is_done {
        events.pop();
    }
    let data = events.iter().map(|it| it.strip_prefix("data: ").unwrap_or_else(|| panic!("{it}")));
    (data.map(|it| serde_json::from_str(it).unwrap()).collect(), is_done)
}

/// The text under this key of all deltas.
pub(crate) fn joined(chunks: &[Value], key: &str) -> String {
    chunks.iter().filter_map(|it| it["choices"][0]["delta"][key].as_str()).collect()
}

pub(crate) async fn keyed(server: &TestServer, key: &str, body: &Value) -> Answer {
    answered(server.posting("/v1/chat/completions", body).header("idempotency-key", key)).await
}

/// The only discussion of a server.
pub(crate) async fn only_discussion(server: &TestServer) -> Value {
    let list = server.get("/api/discussions").await.json();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    list[0].clone()
}
