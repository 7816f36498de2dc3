//! Tests that answers have the property order of the schema, on every wire.

use quorum_core::call::{Call, Shape};
use quorum_core::vocabulary::form::Form;
use quorum_testkit::{
    conformance::provider::{
        Seat,
        fixture::{KEY, MODEL, call, receive},
    },
    server::server,
};
use serde_json::{Value, json};

use crate::voice;

/// The answer of a model that follows [`schema`].
const ANSWER: &str = concat!(
    r#"{"why":"The why, as alpha-1 sees it.","#,
    r#""marks":[{"speaker":"The speaker, as alpha-1 sees it.","mark":0.75}],"choice":"tabs"}"#
);

fn schema() -> Value {
    let mark = json!({
        "type": "object",
        "properties": { "speaker": { "type": "string" }, "mark": { "type": "number" } },
        "required": ["speaker", "mark"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "why": { "type": "string" },
            "marks": { "type": "array", "items": mark },
            "choice": { "type": "string", "enum": ["tabs"] },
        },
        "required": ["why", "marks", "choice"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn an_answer_has_the_order_of_its_schema_on_every_wire() {
    for (name, path) in [
        ("anthropic", "/v1"),
        ("gemini", "/v1beta"),
        ("ollama", ""),
        ("openai-chat", "/v1"),
        ("openai-responses", "/v1"),
    ] {
        let server = server().models([MODEL]).start();
        let seat = Seat { url: &server.url(), key: Some(KEY), first_ms: 30_000, idle_ms: 30_000 };
        let shape = Some(Shape { form: const { &Form::new("ballot") }, schema: Some(schema().into()) });
        let received = receive(&voice(name, path, &seat), Call { shape, ..call() }).await;
        assert_eq!((received.text.as_str(), received.error), (ANSWER, None), "{name}");
    }
}
