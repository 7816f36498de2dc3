//! Orders: keys, joining, limits, and lines that are no messages.

use std::{sync::Arc, time::Duration};

use quorum::{Quorum, memory::MemoryStore, model::error::ErrorClass};
use quorum_testkit::panel::{Panel, panel};
use serde_json::{Value, json};

use crate::{
    Limits,
    mcp::tests::client::{Client, pass, process, simulated},
};

fn order(latency_ms: u64) -> Value {
    json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"],
        "simulate": { "latencyMs": latency_ms },
    })
}

fn with(mut order: Value, field: &str, value: Value) -> Value {
    order[field] = value;
    order
}

#[tokio::test(start_paused = true)]
async fn b10_an_equal_order_that_still_runs_is_joined() {
    let mut client = Client::legacy().await;
    let (one, two) =
        (client.calling("ax_discuss", order(2_000)).await, client.calling("ax_discuss", order(2_000)).await);
    let one = client.result("ax_discuss", one).await["structuredContent"].clone();
    let two = client.result("ax_discuss", two).await["structuredContent"].clone();
    assert_eq!(one["discussionId"], two["discussionId"]);
    let joined = [one["joined"].clone(), two["joined"].clone()];
    assert!(joined == [json!(true), Value::Null] || joined == [Value::Null, json!(true)], "{joined:?}");
    assert_eq!(one["costSummary"]["totalCalls"], 3);
    let third = client.call("ax_discuss", order(2_000)).await;
    assert_ne!(third["discussionId"], one["discussionId"], "one that is over is not joined");
    assert_eq!(third["joined"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn b10_a_call_sent_again_after_a_broken_one_goes_on_with_the_same_discussion() {
    let mut client = Client::legacy().await;
    let broken = client.calling("ax_discuss", order(5_000)).await;
    pass(Duration::from_secs(1)).await;
    let id = client.call("ax_status", json!({})).await["discussions"][0]["discussionId"].clone();
    client.cancel(broken).await;
    client.until(&id, "paused").await;
    let again = client.call("ax_discuss", order(5_000)).await;
    assert_eq!([&again["discussionId"], &again["status"]], [&id, &json!("completed")], "{again}");
    assert_eq!(again["joined"], true);
    assert_eq!(again["costSummary"]["totalCalls"], 3, "nothing was paid twice");
}

#[tokio::test(start_paused = true)]
async fn b10_a_call_sent_again_to_another_process_goes_on_with_the_same_discussion() {
    let store = Arc::new(MemoryStore::new());
    let mut client = Client::of(process(&store), Limits::default()).await;
    client.calling("ax_discuss", order(2_000)).await;
    pass(Duration::from_secs(1)).await;
    let id = client.call("ax_status", json!({})).await["discussions"][0]["discussionId"].clone();
    // Calls under way are recorded before it leaves.
    client.hang_up().await;
    let mut next = Client::of(process(&store), Limits::default()).await;
    let again = next.call("ax_discuss", order(2_000)).await;
    let expected = [&id, &json!("completed"), &json!(true)];
    assert_eq!([&again["discussionId"], &again["status"], &again["joined"]], expected, "{again}");
    assert_eq!(again["costSummary"]["totalCalls"], 3, "nothing was paid twice");
    let third = next.call("ax_discuss", order(2_000)).await;
    assert_ne!(third["discussionId"], id, "one that is over is not joined");
}

#[tokio::test(start_paused = true)]
async fn b10_a_question_about_the_last_discussion_that_is_sent_again_is_joined() {
    let mut client = Client::legacy().await;
    client.call("ax_discuss", order(0)).await;
    for (field, value, key) in [
        ("follows", json!("last"), Value::Null),
        ("recall", json!({ "from": ["last"] }), Value::Null),
        ("follows", json!("last"), json!("k-1")),
    ] {
        let next = with(with(order(2_000), field, value), "idempotencyKey", key);
        let next = with(next, "topic", json!(format!("And {field}?")));
        let one = client.calling("ax_discuss", next.clone()).await;
        pass(Duration::from_secs(1)).await;
        // By now, the last discussion is the one that the first call has begun.
        let two = client.call("ax_discuss", next.clone()).await;
        let one = client.result("ax_discuss", one).await["structuredContent"].clone();
        let expected = [&one["discussionId"], &json!("completed"), &json!(true)];
        assert_eq!([&two["discussionId"], &two["status"], &two["joined"]], expected, "{next}: {two}");
    }
    let other = with(with(order(0), "follows", json!("last~9")), "topic", json!("Who?"));
    let told = client.call("ax_discuss", other).await;
    assert!(told["code"].is_string(), "an order that was not placed before is refused: {told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_fork_sent_again_after_a_broken_call_goes_on_with_the_same_fork() {
    let mut client = Client::legacy().await;
    let first = client.call("ax_discuss", order(5_000)).await;
    let fork = json!({ "id": first["discussionId"], "changes": { "rounds": 2 } });
    let broken = client.calling("ax_fork", fork.clone()).await;
    pass(Duration::from_secs(1)).await;
    let listed = client.call("ax_status", json!({})).await["discussions"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    client.cancel(broken).await;
    client.until(&listed[0]["discussionId"], "paused").await;
    let again = client.call("ax_fork", fork.clone()).await;
    let expected = [&listed[0]["discussionId"], &json!("completed"), &json!(true)];
    assert_eq!([&again["discussionId"], &again["status"], &again["joined"]], expected, "{again}");
    let third = client.call("ax_fork", fork).await;
    assert_ne!(third["discussionId"], again["discussionId"], "one that is over is not joined");
}

#[tokio::test(start_paused = true)]
async fn b10_a_key_stands_for_one_order() {
    let mut client = Client::legacy().await;
    let keyed = |order: Value| with(order, "idempotencyKey", json!("k-1"));
    let one = client.call("ax_discuss", keyed(order(0))).await;
    let two = client.call("ax_discuss", keyed(with(order(0), "maxWaitMs", json!(1_000)))).await;
    assert_eq!(one["discussionId"], two["discussionId"]);
    let other = client.call("ax_discuss", keyed(with(order(0), "rounds", json!(2)))).await;
    assert_eq!(other["code"], "KEY_REUSED", "{other}");
}

#[tokio::test(start_paused = true)]
async fn b10_two_hundred_calls_at_once_are_all_answered() {
    let limits = Limits { running: 50, queued: 100, ..Limits::default() };
    let mut client = Client::of(simulated(), limits).await;
    let mut calls = Vec::new();
    for number in 0..200 {
        let order = with(order(1_000), "topic", json!(format!("Question {number}?")));
        calls.push(client.calling("ax_discuss", order).await);
    }
    let (mut done, mut busy) = (0, 0);
    for call in calls {
        let answer = client.result("ax_discuss", call).await["structuredContent"].clone();
        match answer["status"].as_str() {
            Some("completed") => done += 1,
            _ => {
                assert_eq!(answer["code"], "BUSY", "{answer}");
                assert!(answer["retryAfterMs"].as_u64().is_some_and(|it| it > 0), "{answer}");
                busy += 1;
            }
        }
    }
    // Those without a slot are queued; those beyond the queue are refused.
    assert!(done >= 150 && done + busy == 200, "{done} were answered, {busy} were refused");
    assert!(busy > 0);
}

/// Waits until none of these is queued or runs, by asking for their states alone.
async fn finished(client: &mut Client, ids: &[Value]) {
    for id in ids {
        client.until(id, "completed").await;
    }
}

#[tokio::test(start_paused = true)]
async fn b10_queued_orders_and_resumes_were_begun_only_while_a_call_waited_for_them() {
    let limits = Limits { running: 1, ..Limits::default() };
    let mut client = Client::of(simulated(), limits).await;
    let mut ids = Vec::new();
    for number in 0..3 {
        let order = with(order(1_000), "topic", json!(format!("Question {number}?")));
        let told = client.call("ax_discuss", with(order, "maxWaitMs", json!(0))).await;
        ids.push(told["discussionId"].clone());
    }
    assert_eq!(client.call("ax_status", json!({ "id": ids[2] })).await["status"], "queued");
    finished(&mut client, &ids).await;

    let paused = client.call("ax_discuss", with(order(1_000), "maxWaitMs", json!(0))).await;
    let paused = paused["discussionId"].clone();
    client.call("ax_control", json!({ "id": paused, "action": "pause" })).await;
    client.until(&paused, "paused").await;
    let other = with(with(order(1_000), "topic", json!("And this?")), "maxWaitMs", json!(0));
    let other = client.call("ax_discuss", other).await["discussionId"].clone();
    let told = client.call("ax_control", json!({ "id": paused, "action": "resume" })).await;
    assert_eq!(told["status"], "queued", "{told}");
    finished(&mut client, &[other, paused]).await;
}

#[tokio::test(start_paused = true)]
async fn b10_a_queued_order_that_is_paused_stays_paused() {
    let limits = Limits { running: 1, ..Limits::default() };
    let mut client = Client::of(simulated(), limits).await;
    let at_once = |topic: &str| with(with(order(1_000), "topic", json!(topic)), "maxWaitMs", json!(0));
    client.call("ax_discuss", at_once("Question 1?")).await;
    let id = client.call("ax_discuss", at_once("Question 2?")).await["discussionId"].clone();
    client.call("ax_control", json!({ "id": id, "action": "pause" })).await;
    let told = client.until(&id, "paused").await;
    assert_eq!(told["speakersDone"], json!([]), "{told}");
    pass(Duration::from_secs(60)).await;
    assert_eq!(client.call("ax_status", json!({ "id": id })).await["status"], "paused");
}

#[tokio::test(start_paused = true)]
async fn b10_a_queued_order_that_failed_in_another_process_is_not_tried_again() {
    let (ann, bob) = ("scripted-ann", "scripted-bob");
    let store = Arc::new(MemoryStore::new());
    let limits = Limits { running: 1, ..Limits::default() };
    let failing = panel().fails(ann, ErrorClass::Authentication).fails(bob, ErrorClass::Authentication);
    let answering = panel().takes(ann, 5_000).takes(bob, 5_000);
    let of = |panel: &Panel| {
        let voices = Arc::new(panel.clone());
        Quorum::builder().store(store.clone()).voices(voices).assigning_roles().build().unwrap()
    };
    let mut client = Client::asking_within(of(&answering), limits).await;
    let at_once =
        |topic: &str| json!({ "topic": topic, "providers": [ann, bob], "rounds": 1, "maxWaitMs": 0 });
    let first = client.call("ax_discuss", at_once("Question 1?")).await["discussionId"].clone();
    let second = client.call("ax_discuss", at_once("Question 2?")).await["discussionId"].clone();
    let mut other = Client::asking(of(&failing)).await;
    let told = other.call("ax_result", json!({ "id": second })).await;
    assert_eq!(told["status"], "failed", "{told}");
    client.until(&first, "completed").await;
    let asked = answering.steps().len();
    pass(Duration::from_secs(60)).await;
    assert_eq!(client.call("ax_status", json!({ "id": second })).await["status"], "failed");
    assert_eq!(answering.steps().len(), asked, "nothing more is asked");
}

#[tokio::test(start_paused = true)]
async fn b10_a_last_line_without_its_end_was_not_answered() {
    let mut client = Client::legacy().await;
    let id = client.finally(&json!({ "jsonrpc": "2.0", "id": 99, "method": "ping" })).await;
    assert_eq!(id, Some(json!({ "jsonrpc": "2.0", "id": 99, "result": {} })));
    let mut client = Client::legacy().await;
    let told = client.finally(&json!("x".repeat(4 << 20))).await.unwrap();
    assert_eq!(told["error"]["message"], "a message has at most 4 MiB", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_line_that_is_no_message_is_answered_and_the_connection_goes_on() {
    let mut client = Client::legacy().await;
    for (line, code) in [
        (&b"{nope"[..], -32_700),
        (&b"\"\xff\xfe\""[..], -32_700),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
        (br#"{"jsonrpc":"1.0"}"#, -32_600),
    ] {
        client.send_line(line).await;
        let told = client.read().await.unwrap();
        assert_eq!(told["error"]["code"], code, "{told}");
    }
    for id in [json!(77), json!("mine")] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "metod": "ping" })).await;
        let told = client.read().await.unwrap();
        assert_eq!([&told["id"], &told["error"]["code"]], [&id, &json!(-32_600)], "{told}");
    }
    client.send_line(b"").await;
    let long = vec![b'x'; (4 << 20) + 1];
    client.send_line(&long).await;
    let told = client.read().await.unwrap();
    assert_eq!(told["error"]["message"], "a message has at most 4 MiB", "{told}");
    assert!(client.request("ping", json!({})).await["result"].is_object());
}

#[tokio::test(start_paused = true)]
async fn b10_names_without_the_prefix_are_taken_and_unknown_ones_are_listed() {
    let mut client = Client::legacy().await;
    let listed = client.request("tools/call", json!({ "name": "history", "arguments": {} })).await;
    assert!(listed["result"]["structuredContent"]["discussions"].is_array(), "{listed}");
    let unknown = client.request("tools/call", json!({ "name": "ax_bogus", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32_602, "{unknown}");
    let names: Vec<&str> =
        unknown["error"]["data"]["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"ax_discuss") && names.len() == 11, "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn b10_params_of_another_form_are_told_from_an_unknown_method() {
    let mut client = Client::legacy().await;
    for params in [json!({ "name": 3 }), json!({ "name": "ax_status", "arguments": [1] }), json!({})] {
        let told = client.request("tools/call", params).await["error"].clone();
        let message = "the params of tools/call don't have the form that the protocol gives them";
        assert_eq!(told, json!({ "code": -32_602, "message": message }));
    }
    let told = client.request("tools/cal", json!({})).await["error"].clone();
    assert_eq!(told, json!({ "code": -32_601, "message": "there is no method tools/cal" }));
}
