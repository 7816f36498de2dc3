//! Answers as JSON values.

use serde_json::{Value, json};

use super::{calls, chat, chunks, config, joined, question, vendor, with};
use crate::harness::TestServer;

fn schema() -> Value {
    json!({
        "type": "object", "required": ["winner", "sure"], "additionalProperties": false,
        "properties": { "winner": { "type": "string", "enum": ["tabs", "spaces"] }, "sure": { "type": "boolean" } },
    })
}

fn order(model: &str, schema: &Value) -> Value {
    let format = json!({ "type": "json_schema", "json_schema": { "name": "verdict", "strict": true, "schema": schema } });
    with(question(model), json!({ "response_format": format, "quorum": { "rounds": 1 } }))
}

const VALUE: &str = r#"{"winner": "tabs", "sure": true}"#;

/// A reply: prose for the talk, and this text where the schema is asked for, with the structure
/// after the mark.
fn reply(asked: &quorum_testkit::server::Asked, value: &str) -> String {
    let last = asked.last();
    let is_asked = last.contains("JSON Schema") || last.contains("Send it again");
    let mark = asked.messages.iter().rev().find_map(|(_, text)| {
        let from = text.find("[STRUCTURE_")?;
        Some(text[from..=from + text[from..].find(']')?].to_owned())
    });
    match (is_asked || asked.system.contains("JSON Schema"), mark) {
        (true, Some(mark)) => {
            format!("{value}\n\n{mark}\n{{\"claims\": [], \"agreements\": [\"width\"], \"dissent\": []}}")
        }
        (true, None) => value.to_owned(),
        (false, _) => "Tabs.".to_owned(),
    }
}

#[tokio::test]
async fn i19_the_answer_is_the_value_and_the_structure_after_it_is_ours() {
    let vendor = vendor().replies("*", |asked| reply(asked, VALUE)).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let told = chat(&server, &order("quorum", &schema())).await.json();
    assert_eq!(told["choices"][0]["message"]["content"], VALUE, "{told}");
    assert_eq!(calls(&vendor).len(), 4, "the value stands where the prose would");
    let streamed = chat(&server, &with(order("quorum", &schema()), json!({ "stream": true }))).await;
    assert_eq!(joined(&chunks(&streamed.text).0, "content"), VALUE, "{}", streamed.text);
    let alone = chat(&server, &order("beta", &schema())).await.json();
    assert_eq!(alone["choices"][0]["message"]["content"], VALUE, "{alone}");
}

#[tokio::test]
async fn i19_a_single_voices_value_in_a_code_fence_is_read() {
    let vendor = vendor().says("*", &format!("```json\n{VALUE}\n```")).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let told = chat(&server, &order("beta", &schema())).await.json();
    assert_eq!(told["choices"][0]["message"]["content"], VALUE, "{told}");
    assert_eq!(calls(&vendor).len(), 1);
}

#[tokio::test]
async fn i19_methods_without_a_synthesis_get_one_call_for_the_value() {
    let vendor = vendor().replies("*", |asked| {
        let last = asked.last();
        if last.contains("alone and in secret") {
            return json!({ "choice": "tabs", "confidence": 0.9, "reasoning": "Width." }).to_string();
        }
        reply(asked, VALUE)
    });
    let vendor = vendor.start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let options = json!({ "quorum": { "options": ["tabs", "spaces"], "rounds": 1 } });
    let told = chat(&server, &with(order("quorum/voting", &schema()), options)).await.json();
    assert_eq!(told["choices"][0]["message"]["content"], VALUE, "{told}");
    assert_eq!(calls(&vendor).len(), 4, "three votes, one value");
}

#[tokio::test]
async fn i19_a_wrong_value_is_asked_for_once_more_and_then_an_error() {
    let vendor = vendor().replies("*", |asked| reply(asked, r#"{"winner": "both"}"#)).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for stream in [false, true] {
        let before = calls(&vendor).len();
        let answer = chat(&server, &with(order("quorum", &schema()), json!({ "stream": stream }))).await;
        let error = if stream { chunks(&answer.text).0.last().unwrap().clone() } else { answer.json() };
        assert_eq!(error["error"]["code"], "invalid_response", "{}", answer.text);
        assert_eq!(calls(&vendor).len() - before, 5, "one stricter repetition");
    }
    let mended = super::vendor().replies("*", |asked| {
        let value = if asked.last().contains("Send it again") { VALUE } else { "It is tabs." };
        reply(asked, value)
    });
    vendor.follow(mended);
    let told = chat(&server, &order("quorum", &schema())).await.json();
    assert_eq!(told["choices"][0]["message"]["content"], VALUE, "{told}");
}

/// Schemas, each with a value that satisfies it.
fn cases() -> Vec<(Value, Value)> {
    let text = json!({ "type": "string" });
    let object = |properties: Value| {
        let required: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    };
    let leaf = object(json!({ "name": text }));
    vec![
        (object(json!({ "a": text })), json!({ "a": "x" })),
        (object(json!({ "a": { "type": "integer" } })), json!({ "a": 3 })),
        (object(json!({ "a": { "type": "number" } })), json!({ "a": 0.5 })),
        (object(json!({ "a": { "type": "boolean" } })), json!({ "a": false })),
        (object(json!({ "a": { "type": "null" } })), json!({ "a": null })),
        (object(json!({ "a": { "type": ["string", "null"] } })), json!({ "a": null })),
        (object(json!({ "a": { "enum": ["x", "y"] } })), json!({ "a": "y" })),
        (object(json!({ "a": { "const": 7 } })), json!({ "a": 7 })),
        (object(json!({ "a": { "type": "array", "items": text } })), json!({ "a": ["x", "y"] })),
        (object(json!({ "a": { "type": "array", "items": leaf } })), json!({ "a": [{ "name": "x" }] })),
        (object(json!({ "a": leaf })), json!({ "a": { "name": "x" } })),
        (object(json!({ "a": { "anyOf": [text, { "type": "integer" }] } })), json!({ "a": 1 })),
        (object(json!({ "a": { "type": "integer", "minimum": 1, "maximum": 5 } })), json!({ "a": 5 })),
        (object(json!({ "a": { "type": "string", "minLength": 1, "maxLength": 3 } })), json!({ "a": "äöü" })),
        (
            object(json!({ "a": { "type": "array", "items": text, "minItems": 1, "maxItems": 2 } })),
            json!({ "a": ["x"] }),
        ),
        (object(json!({ "a": { "type": "string", "format": "date" } })), json!({ "a": "2026-11-17" })),
        (
            with(object(json!({ "a": { "$ref": "#/$defs/leaf" } })), json!({ "$defs": { "leaf": leaf } })),
            json!({ "a": { "name": "x" } }),
        ),
        (
            object(json!({ "a": { "type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5 } })),
            json!({ "a": 1.5 }),
        ),
        (object(json!({ "a": { "description": "any", "title": "A" } })), json!({ "a": [1, { "b": 2 }] })),
        (
            object(json!({ "a": text, "b": object(json!({ "c": object(json!({ "d": text })) })) })),
            json!({ "a": "1", "b": { "c": { "d": "2" } } }),
        ),
    ]
}

#[tokio::test]
async fn a8_simulated_voices_failed_at_references_constants_and_bounds() {
    let more = [
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 3, "uniqueItems": true }),
        json!({ "type": "string", "minLength": 300, "maxLength": 310 }),
        json!({ "enum": [2, 3] }),
        json!({ "type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5 }),
        json!({ "type": "number", "maximum": -2.5 }),
        json!({ "$ref": "#/$defs/one", "$defs": { "one": { "oneOf": [{ "type": "null" }, { "type": "string" }] } } }),
        json!({
            "allOf": [
                { "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] },
                { "properties": { "b": { "const": "x" } }, "required": ["b"] },
            ],
        }),
    ];
    let server = TestServer::open(crate::harness::FAST).await;
    for schema in cases().into_iter().map(|(schema, _)| schema).chain(more) {
        for model in ["quorum", "claude"] {
            let told = chat(&server, &order(model, &schema)).await.json();
            let content = told["choices"][0]["message"]["content"].as_str();
            let content = content.unwrap_or_else(|| panic!("{model}, {schema}: {told}"));
            assert!(serde_json::from_str::<Value>(content).is_ok(), "{model}, {schema}: {content}");
        }
    }
}

#[tokio::test]
async fn a8_twenty_schemas_give_valid_values_or_a_clean_error() {
    for (schema, value) in cases() {
        let text = value.to_string();
        let vendor = vendor().replies("*", move |asked| reply(asked, &text)).start();
        let server = TestServer::voiced(&config(&vendor)).await;
        let told = chat(&server, &order("alpha", &schema)).await.json();
        let content =
            told["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{schema}: {told}"));
        assert_eq!(serde_json::from_str::<Value>(content).unwrap(), value, "{schema}");
        let wrong = super::vendor().replies("*", |asked| reply(asked, "[{}]"));
        vendor.follow(wrong);
        let told = chat(&server, &order("alpha", &schema)).await.json();
        assert_eq!(told["error"]["code"], "invalid_response", "{schema}: {told}");
    }
}
