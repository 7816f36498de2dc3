//! A person's turn: awaited, spoken by a tool, and refused out of turn.

use serde_json::{Value, json};

use crate::mcp::tests::client::{Client, simulated};

pub(super) fn with_a_person() -> Value {
    json!({
        "topic": "What shall we build?", "pattern": "roundtable", "rounds": 1,
        "simulate": { "latencyMs": 0 },
        "participants": ["claude", { "type": "person", "id": "me" }, "gemini"],
    })
}

#[tokio::test(start_paused = true)]
async fn b10_a_person_s_turn_is_awaited_and_spoken() {
    let mut client = Client::legacy().await;
    let awaited = client.call("ax_discuss", with_a_person()).await;
    assert_eq!(awaited["status"], "awaiting", "{awaited}");
    assert_eq!(awaited["awaits"][0]["participant"], "me");
    assert!(!awaited["awaits"][0]["prompt"].as_str().unwrap().is_empty());
    assert!(awaited["next"].as_str().unwrap().contains("ax_say"), "{awaited}");
    let id = awaited["discussionId"].clone();
    let wrong = client.call("ax_say", json!({ "id": id, "text": "No.", "as": "you" })).await;
    let mistake = wrong["details"]["validationErrors"][0].as_str().unwrap();
    assert_eq!([&wrong["code"], &wrong["message"]], ["INVALID_INPUT", mistake], "{wrong}");
    assert!(mistake.starts_with("as: "), "{wrong}");
    let blank = client.call("ax_say", json!({ "id": id, "text": " \n" })).await;
    assert_eq!(blank["details"]["validationErrors"], json!(["text: is empty"]), "{blank}");
    let still = client.call("ax_status", json!({ "id": id })).await;
    assert_eq!(still["awaits"], awaited["awaits"], "nothing was changed");
    client.call("ax_say", json!({ "id": id, "text": "A bridge." })).await;
    let told = client.call("ax_result", json!({ "id": id })).await;
    assert_eq!(told["status"], "completed", "{told}");
    let again = client.call("ax_say", json!({ "id": id, "text": "And a tower." })).await;
    assert_eq!(again["code"], "DISCUSSION_OVER", "{again}");
    let pause = client.call("ax_control", json!({ "id": id, "action": "pause" })).await;
    assert_eq!(pause["code"], "DISCUSSION_OVER", "{pause}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_client_that_can_ask_its_user_is_asked_and_goes_on() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
    let params = json!({ "name": "ax_discuss", "arguments": with_a_person() });
    let asked = client.request("tools/call", params.clone()).await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let (step, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let mut again = params;
    again["requestState"] = result["requestState"].clone();
    again["inputResponses"] = json!({ step: { "action": "accept", "content": { "text": "A bridge." } } });
    let id = client.begin("tools/call", again).await;
    let told = client.result("ax_discuss", id).await["structuredContent"].clone();
    assert_eq!(
        [&told["status"], &told["discussionId"]],
        [&json!("completed"), &result["requestState"]],
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn b10_answers_to_no_question_of_ours_begin_nothing() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": {} })).await;
    let responses = json!({ "1/x/me": { "action": "accept", "content": { "text": "A bridge." } } });
    let mut params =
        json!({ "name": "ax_discuss", "arguments": with_a_person(), "inputResponses": responses });
    for state in [Value::Null, json!("nonsense")] {
        params["requestState"] = state;
        let told = client.request("tools/call", params.clone()).await;
        assert_eq!(told["error"]["code"], -32_602, "{told}");
    }
    params["requestState"] = json!("01890000-0000-7000-8000-000000000001");
    let told = client.request("tools/call", params).await["result"]["structuredContent"].clone();
    assert_eq!(told["code"], "NOT_FOUND", "{told}");
    assert_eq!(client.call("ax_history", json!({})).await["discussions"], json!([]), "nothing was started");
}

#[tokio::test(start_paused = true)]
async fn b10_a_client_that_can_only_show_addresses_is_not_asked() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "url": {} } })).await;
    let awaited = client.call("ax_discuss", with_a_person()).await;
    assert_eq!(awaited["status"], "awaiting", "{awaited}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_follow_up_that_asks_its_client_s_user_goes_on_with_the_answer() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
    let first = json!({ "topic": "Why build?", "rounds": 1, "simulate": { "latencyMs": 0 } });
    client.call("ax_discuss", first).await;
    let mut arguments = with_a_person();
    arguments["follows"] = json!("last");
    let mut params = json!({ "name": "ax_discuss", "arguments": arguments });
    let asked = client.request("tools/call", params.clone()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let step = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ step: { "action": "accept", "content": { "text": "A bridge." } } });
    let told = client.request("tools/call", params).await["result"]["structuredContent"].clone();
    assert_eq!(told["status"], "completed", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_an_answer_sent_again_after_a_broken_call_is_passed_over_and_a_wrong_one_asks_again() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
    let params = json!({ "name": "ax_discuss", "arguments": with_a_person() });
    let asked = client.request("tools/call", params.clone()).await["result"].clone();
    let step = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let again = |step: &str| {
        let mut again = params.clone();
        again["requestState"] = asked["requestState"].clone();
        again["inputResponses"] = json!({ step: { "action": "accept", "content": { "text": "A bridge." } } });
        again
    };
    let wrong = client.request("tools/call", again("9/nowhere/nobody")).await["result"].clone();
    assert_eq!(
        [&wrong["resultType"], &wrong["inputRequests"]],
        [&asked["resultType"], &asked["inputRequests"]]
    );
    let first = client.request("tools/call", again(&step)).await["result"]["structuredContent"].clone();
    let second = client.request("tools/call", again(&step)).await["result"]["structuredContent"].clone();
    assert_eq!(first["status"], "completed", "{first}");
    assert_eq!(second, first);
}

/// The answer to a call that is sent again with this response to its question.
async fn responded(client: &mut Client, response: Value) -> Value {
    let mut params = json!({ "name": "ax_discuss", "arguments": with_a_person() });
    let asked = client.request("tools/call", params.clone()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let step = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ step: response });
    client.request("tools/call", params).await["result"].clone()
}

#[tokio::test(start_paused = true)]
async fn b10_a_person_who_declined_was_asked_again_at_once() {
    for response in [json!({ "action": "decline" }), json!({ "action": "cancel" })] {
        let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
        let told = responded(&mut client, response.clone()).await;
        let handle = &told["structuredContent"];
        assert_eq!([&handle["status"], &handle["awaits"][0]["participant"]], ["awaiting", "me"], "{told}");
        assert!(handle["next"].as_str().unwrap().contains("ax_say"), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn b10_an_answer_of_no_words_was_refused_under_another_field() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
    let told = responded(&mut client, json!({ "action": "accept", "content": { "text": " \n" } })).await;
    assert_eq!(told["structuredContent"]["message"], "text: is empty", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_fork_that_asks_its_client_s_user_goes_on_with_the_answer() {
    let mut client = Client::modern(simulated(), json!({ "elicitation": { "form": {} } })).await;
    let mut params = json!({ "name": "ax_discuss", "arguments": with_a_person() });
    // Asks, and then goes on with the answer, until no question is left.
    let mut ended = Vec::new();
    for name in ["ax_discuss", "ax_fork"] {
        let mut asked = client.request("tools/call", params.clone()).await["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{name}: {asked}");
        let id = asked["requestState"].clone();
        while asked["resultType"] == "input_required" {
            let step = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            let mut again = params.clone();
            again["requestState"] = id.clone();
            again["inputResponses"] =
                json!({ step: { "action": "accept", "content": { "text": "A bridge." } } });
            asked = client.request("tools/call", again).await["result"].clone();
        }
        let told = &asked["structuredContent"];
        assert_eq!([&told["status"], &told["discussionId"]], [&json!("completed"), &id], "{name}: {told}");
        params = json!({ "name": "ax_fork", "arguments": { "id": id, "changes": { "rounds": 2 } } });
        ended.push(id);
    }
    let listed = client.call("ax_history", json!({})).await["discussions"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(ended.len()), "nothing was forked twice: {listed}");
}
