//! `/v1/responses`: also in the background, retrieved, cancelled and continued.

use serde_json::{Value, json};

use super::{calls, config, messages::events, vendor, with};
use crate::harness::{ANN, BOB, FAST, Stream, TestServer, answered, tenants};

fn order() -> Value {
    json!({ "model": "quorum", "input": "Tabs or spaces?", "quorum": { "rounds": 1 } })
}

/// The response once its discussion is over: the events end with it.
async fn until_over(server: &TestServer, id: &str) -> Value {
    let discussion = id.strip_prefix("resp_").unwrap();
    server.get(&format!("/api/discussions/{discussion}/events")).await;
    server.get(&format!("/v1/responses/{id}")).await.json()
}

#[tokio::test]
async fn i19_a_discussion_is_a_response_with_a_reasoning_item_and_a_message() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let answer = server.post("/v1/responses", &order()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let told = answer.json();
    let [reasoning, message] = told["output"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert!(reasoning["summary"][0]["text"].as_str().unwrap().contains("[R1 alpha] Tabs"), "{reasoning}");
    let text = message["content"][0]["text"].as_str().unwrap();
    assert_eq!((&told["status"], &told["usage"]["output_tokens"]), (&json!("completed"), &json!(80)));
    let again = until_over(&server, told["id"].as_str().unwrap()).await;
    assert_eq!(again["output"].as_array().unwrap().last(), Some(message));

    let streamed = server.post("/v1/responses", &with(order(), json!({ "stream": true }))).await;
    let events = events(&streamed.text);
    let numbers: Vec<u64> = events.iter().map(|it| it.1["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        (events[0].0.as_str(), events.last().unwrap().0.as_str()),
        ("response.created", "response.completed")
    );
    assert!(events.iter().all(|it| it.1.get("error").is_none()), "no event has an error at its top");
    let deltas: String = events
        .iter()
        .filter(|it| it.0 == "response.output_text.delta")
        .filter_map(|it| it.1["delta"].as_str())
        .collect();
    assert_eq!(deltas, text);
    assert_eq!(events.last().unwrap().1["response"]["output"][1]["content"][0]["text"], text);
    assert!(!streamed.text.contains("fusion"), "only clients that ask for it get its events");
}

#[tokio::test]
async fn i19_a_response_in_the_background_is_queued_retrieved_and_cancelled() {
    let vendor = vendor().paced(50, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let queued = server.post("/v1/responses", &with(order(), json!({ "background": true }))).await.json();
    assert_eq!((&queued["status"], &queued["background"]), (&json!("queued"), &json!(true)));
    let over = until_over(&server, queued["id"].as_str().unwrap()).await;
    assert_eq!(over["status"], "completed", "{over}");
    assert_eq!(calls(&vendor).len(), 4);

    let slow = super::vendor().paced(60_000, 0, 1);
    vendor.follow(slow);
    let queued = server.post("/v1/responses", &with(order(), json!({ "background": true }))).await.json();
    let id = queued["id"].as_str().unwrap();
    let cancelled = server.post(&format!("/v1/responses/{id}/cancel"), &json!({})).await.json();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(server.get("/v1/responses/resp_nothing").await.status, 404);
    assert_eq!(server.get(&format!("/v1/responses/resp_{}", uuid::Uuid::now_v7())).await.status, 404);
}

#[tokio::test]
async fn i19_a_retrieved_response_lacked_the_talk_the_analysis_and_what_it_continues() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let first =
        server.post("/v1/responses", &with(order(), json!({ "model": "quorum/round-robin" }))).await.json();
    assert_eq!(until_over(&server, first["id"].as_str().unwrap()).await, first);

    let plugins = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta"] }]);
    let more = json!({ "background": true, "previous_response_id": first["id"], "plugins": plugins });
    let queued = server.post("/v1/responses", &with(order(), more)).await.json();
    assert_eq!(queued["previous_response_id"], first["id"]);
    let over = until_over(&server, queued["id"].as_str().unwrap()).await;
    let kinds: Vec<&str> =
        over["output"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["openrouter:fusion", "reasoning", "message"], "{over}");
    assert_eq!(over["previous_response_id"], first["id"]);

    let silent = with(order(), json!({ "background": true, "quorum": { "rounds": 1, "thinking": "off" } }));
    let queued = server.post("/v1/responses", &silent).await.json();
    let over = until_over(&server, queued["id"].as_str().unwrap()).await;
    assert_eq!(over["output"].as_array().unwrap().len(), 1, "{over}");
}

#[tokio::test]
async fn i19_a_stream_in_the_background_did_not_say_that_it_is() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = with(order(), json!({ "background": true, "stream": true }));
    let streamed = server.post("/v1/responses", &body).await;
    let events = events(&streamed.text);
    for (_, data) in [&events[0], events.last().unwrap()] {
        assert_eq!(data["response"]["background"], true, "{data}");
    }
}

#[tokio::test]
async fn i19_a_background_order_that_a_client_retries_is_one_discussion() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = with(order(), json!({ "background": true }));
    let sent = async |count: u32| {
        let sent = server.posting("/v1/responses", &body).header("x-stainless-retry-count", count);
        answered(sent).await.json()["id"].as_str().unwrap().to_owned()
    };
    let first = sent(0).await;
    assert_eq!(sent(1).await, first);
    assert_eq!(until_over(&server, &first).await["status"], "completed");
    assert_eq!((sent(1).await, calls(&vendor).len()), (first.clone(), 4));
    assert_ne!(sent(0).await, first, "equal orders are two discussions");
}

#[tokio::test]
async fn i19_a_previous_response_is_the_conversation_so_far() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let first = server.post("/v1/responses", &order()).await.json();
    let next = json!({ "model": "beta", "input": [{ "role": "user", "content": "Why?" }], "previous_response_id": first["id"] });
    let second = server.post("/v1/responses", &next).await.json();
    assert_eq!(second["status"], "completed", "{second}");
    let third = json!({ "model": "quorum", "input": "Sure?", "previous_response_id": second["id"], "quorum": { "rounds": 1 } });
    assert_eq!(server.post("/v1/responses", &third).await.status, 200);
    let last = vendor.requests().iter().filter_map(|it| it.asked()).next_back().unwrap();
    for part in ["user:\n> Tabs or spaces?", "user:\n> Why?", "assistant:\n> ", "# The question\n\nSure?"] {
        assert!(last.system.contains(part), "{part:?} is not in {}", last.system);
    }
    let unknown = with(next, json!({ "previous_response_id": "resp_unknown" }));
    let refused = server.post("/v1/responses", &unknown).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]["param"]),
        (404, &json!("previous_response_id"))
    );
}

#[tokio::test]
async fn i19_a_running_response_can_not_be_continued_and_others_have_none() {
    let server = TestServer::open("[defaults]\nsimulate = \"latency=60s\"\n").await;
    let running = server.post("/v1/responses", &with(order(), json!({ "background": true }))).await.json();
    let next = with(order(), json!({ "previous_response_id": running["id"] }));
    assert_eq!(server.post("/v1/responses", &next).await.status, 409);

    let server = TestServer::open(&tenants()).await;
    let of_ann = answered(server.posting("/v1/responses", &order()).bearer_auth(ANN)).await.json();
    let path = format!("/v1/responses/{}", of_ann["id"].as_str().unwrap());
    assert_eq!(answered(server.request("GET", &path).bearer_auth(ANN)).await.status, 200);
    assert_eq!(answered(server.request("GET", &path).bearer_auth(BOB)).await.status, 404);
    let next = with(order(), json!({ "previous_response_id": of_ann["id"] }));
    assert_eq!(answered(server.posting("/v1/responses", &next).bearer_auth(BOB)).await.status, 404);
}

#[tokio::test]
async fn i19_a_retrieval_as_a_stream_is_answered_with_a_stream() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").paced(50, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let queued = server.post("/v1/responses", &with(order(), json!({ "background": true }))).await.json();
    let path = format!("/v1/responses/{}?stream=true", queued["id"].as_str().unwrap());
    let live = Stream::open(server.request("GET", &path)).await.rest().await;
    let over = until_over(&server, queued["id"].as_str().unwrap()).await;
    let again = server.get(&path).await;
    assert_eq!(again.headers["content-type"], "text/event-stream; charset=utf-8");
    assert_eq!(again.headers["x-quorum-discussion"], over["quorum"]["discussion_id"].as_str().unwrap());
    for text in [live, again.text] {
        let events = events(&text);
        let numbers: Vec<u64> = events.iter().map(|it| it.1["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
        let (first, last) = (&events[0], events.last().unwrap());
        assert_eq!((first.0.as_str(), last.0.as_str()), ("response.created", "response.completed"));
        assert_eq!(first.1["response"]["background"], true);
        assert_eq!(
            last.1["response"]["output"].as_array().unwrap().last(),
            over["output"].as_array().unwrap().last()
        );
    }
    for (more, param) in [("&starting_after=3", "starting_after"), ("&starting_after=x", "starting_after")] {
        let refused = server.get(&format!("{path}{more}")).await;
        let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
        assert_eq!(told, (400, &json!(param)), "{}", refused.text);
    }
    let refused = server.get(&path.replace("true", "perhaps")).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["error"]["param"]), (400, &json!("stream")));
}

#[tokio::test]
async fn i19_the_message_of_an_incomplete_response_is_incomplete() {
    let vendor = vendor().says("*", "one two three four five six").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = json!({ "model": "alpha", "input": "Tabs or spaces?", "max_output_tokens": 3 });
    let plain = server.post("/v1/responses", &body).await.json();
    let streamed = server.post("/v1/responses", &with(body, json!({ "stream": true }))).await;
    let events = events(&streamed.text);
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "response.incomplete");
    for told in [&plain, &last["response"]] {
        let message = told["output"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&told["status"], &message["status"]),
            (&json!("incomplete"), &json!("incomplete")),
            "{told}"
        );
        assert_eq!(told["incomplete_details"]["reason"], "max_output_tokens");
    }
}

#[tokio::test]
async fn i19_references_to_earlier_items_are_resolved() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let first = server.post("/v1/responses", &order()).await.json();
    let asked = |items: &[Value]| {
        let user =
            |text: &str| json!({ "role": "user", "content": [{ "type": "input_text", "text": text }] });
        let mut input = vec![user("Tabs or spaces?")];
        input.extend_from_slice(items);
        input.push(user("Why?"));
        json!({ "model": "beta", "input": input })
    };
    let output = first["output"].as_array().unwrap().iter();
    let references: Vec<Value> =
        output.map(|it| json!({ "type": "item_reference", "id": it["id"] })).collect();
    assert_eq!(references.len(), 2, "the talk and the message: {first}");
    let second = server.post("/v1/responses", &asked(&references)).await;
    assert_eq!(second.status, 200, "{}", second.text);
    let last = vendor.requests().iter().filter_map(|it| it.asked()).next_back().unwrap();
    let expected = "user:\n> Tabs or spaces?\n\nassistant:\n> Tabs, because they adapt.";
    assert!(last.last().contains(expected) && last.last().ends_with("Why?"), "{}", last.last());
    for id in ["msg_nothing".to_owned(), format!("msg_{}", uuid::Uuid::now_v7()), "call_1".to_owned()] {
        let refused =
            server.post("/v1/responses", &asked(&[json!({ "type": "item_reference", "id": id })])).await;
        let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
        assert_eq!(told, (404, &json!("input[1]")), "{}", refused.text);
    }
    let many = vec![references[1].clone(); 101];
    let refused = server.post("/v1/responses", &asked(&many)).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["error"]["param"]), (400, &json!("input")));
}

#[tokio::test]
async fn i19_a_conversation_without_an_id_is_refused() {
    let server = TestServer::open(FAST).await;
    for conversation in
        [json!({ "name": "trip" }), json!({ "id": 7 }), json!(7), json!([]), json!({ "id": " " })]
    {
        let body = with(order(), json!({ "conversation": conversation }));
        let refused = server.post("/v1/responses", &body).await;
        let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
        assert_eq!(told, (400, &json!("conversation")), "{}", refused.text);
    }
    for conversation in [json!({ "id": "trip" }), json!("trip")] {
        let body = with(order(), json!({ "conversation": conversation }));
        assert_eq!(server.post("/v1/responses", &body).await.status, 200);
    }
    let sessions = server.get("/api/sessions").await.json();
    assert_eq!((sessions.as_array().unwrap().len(), &sessions[0]["name"]), (1, &json!("trip")));
}

#[tokio::test]
async fn i19_a_cancelled_response_is_cancelled_on_its_stream() {
    let vendor = vendor().says("*", "Tabs, because they adapt.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    vendor.follow(super::vendor().paced(60_000, 0, 1));
    let queued = server.post("/v1/responses", &with(order(), json!({ "background": true }))).await.json();
    let path = format!("/v1/responses/{}", queued["id"].as_str().unwrap());
    let mut live = Stream::open(server.request("GET", &format!("{path}?stream=true"))).await;
    let cancelled = server.post(&format!("{path}/cancel"), &json!({})).await.json();
    assert_eq!((&cancelled["status"], &cancelled["error"]), (&json!("cancelled"), &json!(null)));
    let live = live.rest().await;
    assert_eq!(server.get(&path).await.json(), cancelled);
    let later = server.get(&format!("{path}?stream=true")).await.text;
    for text in [live, later] {
        let events = events(&text);
        let (name, last) = events.last().unwrap();
        assert_eq!((name.as_str(), &last["response"]), ("response.failed", &cancelled));
    }
}

#[tokio::test]
async fn i19_system_messages_are_kept_with_a_previous_response() {
    let vendor = vendor().says("*", "Tabs.").start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let input =
        json!([{ "role": "developer", "content": "Speak French." }, { "role": "user", "content": "Tabs?" }]);
    let first = json!({ "model": "alpha", "input": input, "instructions": "Be brief." });
    let mut answer = server.post("/v1/responses", &first).await.json();
    let system = || vendor.requests().iter().filter_map(|it| it.asked()).next_back().unwrap().system;
    let first_system = system();
    assert!(first_system.contains("Be brief.\n\nSpeak French."), "{first_system}");
    let more = json!([{ "role": "system", "content": "Say du." }, { "role": "user", "content": "Why?" }]);
    for (input, expected) in [
        (json!("Sure?"), "Speak French."),
        (more, "Speak French.\n\nSay du."),
        (json!("Really?"), "Speak French.\n\nSay du."),
    ] {
        let next = json!({ "model": "alpha", "input": input, "previous_response_id": answer["id"] });
        answer = server.post("/v1/responses", &next).await.json();
        assert_eq!(answer["instructions"], Value::Null, "they are input, not the parameter");
        assert_eq!(system(), first_system.replace("Be brief.\n\nSpeak French.", expected));
    }
}

#[tokio::test]
async fn i19_a_response_states_the_parameters_that_were_sent() {
    let server = TestServer::open(FAST).await;
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let format = json!({ "type": "json_schema", "name": "nothing", "strict": true, "schema": schema });
    let input =
        json!([{ "role": "system", "content": "Speak French." }, { "role": "user", "content": "Tabs?" }]);
    let sent = json!({
        "instructions": "Be brief.", "max_output_tokens": 900, "metadata": { "task": "none", "trip": "7" },
        "temperature": 0.5, "text": { "format": format },
    });
    let stated = |told: &Value| -> Value {
        sent.as_object().unwrap().keys().map(|it| (it.clone(), told[it].clone())).collect()
    };
    let body = with(json!({ "model": "quorum", "input": input }), sent.clone());
    let whole = server.post("/v1/responses", &body).await.json();
    assert_eq!(stated(&whole), sent);
    assert_eq!(stated(&until_over(&server, whole["id"].as_str().unwrap()).await), sent);
    let streamed = server.post("/v1/responses", &with(body, json!({ "stream": true }))).await;
    let events = events(&streamed.text);
    assert_eq!(stated(&events[0].1["response"]), sent);
    assert_eq!(stated(&events.last().unwrap().1["response"]), sent);
    let plain = server.post("/v1/responses", &order()).await.json();
    let usual = json!({ "instructions": null, "max_output_tokens": null, "metadata": {}, "temperature": null,
        "text": { "format": { "type": "text" } } });
    assert_eq!(stated(&plain), usual);
}
