//! `/v1/messages`: Anthropic's format.

use serde_json::{Value, json};

use super::{config, question, vendor, with};
use crate::harness::{FAST, TestServer};

fn order() -> Value {
    let system = json!([{ "type": "text", "text": "Be brief." }]);
    with(question("quorum"), json!({ "max_tokens": 1_000, "system": system, "quorum": { "rounds": 1 } }))
}

/// The events of a stream: their names and data.
pub(super) fn events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.split("\n\n").filter(|it| !it.is_empty() && !it.starts_with(':'));
    let event = |it: &str| {
        let (name, data) = it.split_once("\ndata: ").unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), serde_json::from_str(data).unwrap())
    };
    blocks.map(event).collect()
}

#[tokio::test]
async fn i19_a_discussion_is_a_message_with_a_thinking_block_and_text() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let answer = server.post("/v1/messages", &order()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let told = answer.json();
    let [thinking, text] = told["content"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert!(thinking["thinking"].as_str().unwrap().contains("[R1 beta] Tabs"), "{thinking}");
    assert_eq!((&thinking["signature"], &text["type"]), (&json!(""), &json!("text")));
    assert_eq!((&told["stop_reason"], &told["role"]), (&json!("end_turn"), &json!("assistant")));
    let usage = &told["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(400), &json!(80)));

    let streamed = server.post("/v1/messages", &with(order(), json!({ "stream": true }))).await;
    let events = events(&streamed.text);
    let names: Vec<&str> = events.iter().map(|it| it.0.as_str()).collect();
    assert_eq!((names[0], names[1]), ("message_start", "content_block_start"));
    assert_eq!(names[names.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
    let deltas = |kind: &str| -> String {
        let all = events.iter().filter(|it| it.0 == "content_block_delta");
        all.filter_map(|it| it.1["delta"][kind].as_str()).collect()
    };
    assert_eq!(deltas("text"), text["text"].as_str().unwrap());
    assert!(deltas("thinking").contains("[R1 beta] Tabs"));
    let last = &events[events.len() - 2].1;
    assert_eq!(
        (&last["delta"]["stop_reason"], &last["usage"]["output_tokens"]),
        (&json!("end_turn"), &json!(80))
    );
    assert!(events.iter().all(|it| it.1["type"] == it.0.as_str()), "{events:?}");
}

#[tokio::test]
async fn i19_tool_blocks_and_system_messages_are_part_of_the_conversation() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let messages = json!([
        { "role": "system", "content": "Be kind." },
        { "role": "user", "content": "What time is it?" },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "" },
            { "type": "tool_use", "id": "1", "name": "clock", "input": { "zone": "UTC" } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "text", "text": "noon" }] },
            { "type": "text", "text": "Well?" },
        ] },
    ]);
    let body = json!({ "model": "quorum", "max_tokens": 99, "thinking": { "type": "disabled" }, "messages": messages,
        "quorum": { "rounds": 1 }, "tools": [{ "name": "clock", "input_schema": {} }], "tool_choice": { "type": "auto" } });
    let answer = server.post("/v1/messages", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["content"].as_array().unwrap().len(), 1, "no thinking block");
    assert_eq!(answer.json()["quorum"]["ignored"], json!(["tools"]));
    let asked = vendor.requests().iter().find_map(|it| it.asked()).unwrap();
    for part in
        ["Be kind.", "# The question\n\nWell?", "> [called clock({\"zone\":\"UTC\"})]", "tool:\n> noon"]
    {
        assert!(asked.system.contains(part), "{part:?} is not in {}", asked.system);
    }
}

#[tokio::test]
async fn i19_a_message_ends_at_its_bounds() {
    let vendor = vendor().says("*", "one two three four five").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let ask = async |more: Value| {
        let told = server.post("/v1/messages", &with(question("alpha"), more)).await.json();
        (told["stop_reason"].clone(), told["stop_sequence"].clone())
    };
    assert_eq!(ask(json!({ "max_tokens": 2 })).await, (json!("max_tokens"), Value::Null));
    let stop = json!({ "max_tokens": 99, "stop_sequences": [" three"] });
    assert_eq!(ask(stop).await, (json!("stop_sequence"), json!(" three")));
}

#[tokio::test]
async fn i19_a_block_without_text_is_refused_at_its_place() {
    let server = TestServer::open(FAST).await;
    let messages =
        json!([{ "role": "user", "content": [{ "type": "text", "text": "Tabs?" }, { "type": "text" }] }]);
    let refused = server.post("/v1/messages", &with(order(), json!({ "messages": messages }))).await;
    let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
    assert_eq!(told, (400, &json!("messages[0].content[1]")), "{}", refused.text);
}
