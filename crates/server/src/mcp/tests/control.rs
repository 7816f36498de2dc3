//! Control: what an action has done by the time it is answered, and whose pause it is.

use std::{sync::Arc, time::Duration};

use quorum::memory::MemoryStore;
use serde_json::{Value, json};

use crate::{
    Limits,
    mcp::tests::client::{Client, pass, process},
};

/// Two voices that take 5 s for each answer.
fn order() -> Value {
    json!({
        "topic": "Tabs or spaces?", "rounds": 2, "providers": ["claude", "gemini"],
        "simulate": { "latencyMs": 5_000 },
    })
}

/// A discussion that runs.
async fn running(client: &mut Client) -> Value {
    let mut order = order();
    order["maxWaitMs"] = json!(1_000);
    let told = client.call("ax_discuss", order).await;
    assert_eq!(told["status"], "running", "{told}");
    told["discussionId"].clone()
}

async fn act(client: &mut Client, id: &Value, action: &str) -> Value {
    client.call("ax_control", json!({ "id": id, "action": action })).await
}

#[tokio::test(start_paused = true)]
async fn b10_an_action_was_answered_as_if_nothing_had_happened() {
    let mut client = Client::legacy().await;
    for (action, status, next) in [
        ("abort", "aborted", "it is over; ax_result with section or fullOutput gives more"),
        ("pause", "running", "it pauses once the calls under way are answered; call ax_result with this id"),
        (
            "stop",
            "running",
            "it concludes once the calls under way are answered; call ax_result with this id",
        ),
    ] {
        let id = running(&mut client).await;
        let told = act(&mut client, &id, action).await;
        assert_eq!([&told["status"], &told["next"]], [status, next], "{action}: {told}");
        if status == "running" {
            client.call("ax_result", json!({ "id": id })).await;
        }
    }
}

/// A discussion that a cancelled call has paused.
async fn given_up(client: &mut Client) -> Value {
    let call = client.calling("ax_discuss", order()).await;
    pass(Duration::from_secs(1)).await;
    let id = client.call("ax_status", json!({})).await["discussions"][0]["discussionId"].clone();
    client.cancel(call).await;
    client.until(&id, "paused").await;
    id
}

#[tokio::test(start_paused = true)]
async fn b10_a_pause_that_a_user_asked_for_was_lifted_by_an_equal_call() {
    let mut client = Client::legacy().await;
    let id = given_up(&mut client).await;
    act(&mut client, &id, "pause").await;
    let again = client.call("ax_discuss", order()).await;
    assert_ne!(again["discussionId"], id, "{again}");
    assert_eq!(client.call("ax_status", json!({ "id": id })).await["status"], "paused");
}

#[tokio::test(start_paused = true)]
async fn b10_a_pause_that_was_asked_for_elsewhere_was_lifted_by_an_equal_call() {
    let store = Arc::new(MemoryStore::new());
    let mut client = Client::of(process(&store), Limits::default()).await;
    let id = given_up(&mut client).await;
    let mut other = Client::of(process(&store), Limits::default()).await;
    act(&mut other, &id, "resume").await;
    act(&mut other, &id, "pause").await;
    other.until(&id, "paused").await;
    let again = client.call("ax_discuss", order()).await;
    assert_ne!(again["discussionId"], id, "{again}");
    assert_eq!(client.call("ax_status", json!({ "id": id })).await["status"], "paused");
}

#[tokio::test(start_paused = true)]
async fn b10_a_pause_under_way_is_not_taken_for_that_of_a_cancelled_call() {
    let mut client = Client::legacy().await;
    let call = client.calling("ax_discuss", order()).await;
    pass(Duration::from_secs(1)).await;
    let id = client.call("ax_status", json!({})).await["discussions"][0]["discussionId"].clone();
    act(&mut client, &id, "pause").await;
    client.cancel(call).await;
    client.until(&id, "paused").await;
    let again = client.call("ax_discuss", order()).await;
    assert_ne!(again["discussionId"], id, "{again}");
}
