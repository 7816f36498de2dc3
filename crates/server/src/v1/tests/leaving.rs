//! Clients that leave and come back.

use std::{sync::Arc, time::Duration};

use axum::response::Response;
use futures::StreamExt;
use quorum::{
    memory::MemoryStore,
    model::{id::DiscussionId, lifecycle::Lifecycle},
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{Panel, discussion, pieces, question, streamed};

const CHAT: &str = "/v1/chat/completions";

/// The calls of the plan: three voices in two rounds, and one synthesis.
const PLANNED: usize = 7;

/// Reads this many chunks, and leaves.
async fn leave_after(chunks: usize, response: Response) -> DiscussionId {
    let id = discussion(&response);
    let mut body = response.into_body().into_data_stream();
    for _ in 0..chunks {
        body.next().await.unwrap().unwrap();
    }
    id
}

/// The whole text of a response.
async fn text(response: Response) -> String {
    pieces(response).await.into_iter().map(|it| it.1).collect()
}

#[tokio::test(start_paused = true)]
async fn a3_after_3_chunks_and_leaving_no_call_begins_and_a_return_within_60_s_ends_it() {
    let panel = Panel::thinking(3);
    let id = leave_after(3, panel.post(CHAT, &streamed()).await).await;
    sleep(Duration::from_millis(250)).await;
    let placed = panel.calls(id).await;
    assert!(placed.len() < PLANNED, "{placed:?}");
    sleep(Duration::from_secs(59)).await;
    assert_eq!(panel.calls(id).await, placed, "no call began after the client had left");
    let returned = panel.post(CHAT, &streamed()).await;
    assert_eq!(discussion(&returned), id);
    let told = text(returned).await;
    assert!(told.ends_with("data: [DONE]\n\n") && told.contains("[R1 claude] "), "{told}");
    assert_eq!(panel.calls(id).await.len(), PLANNED, "nothing was asked twice");
    assert_eq!(panel.lifecycle(id).await, Lifecycle::Completed);
}

#[tokio::test(start_paused = true)]
async fn a3_a_client_that_returns_while_calls_are_under_way_waits_for_them() {
    let panel = Panel::thinking(9);
    let id = leave_after(1, panel.post(CHAT, &streamed()).await).await;
    sleep(Duration::from_secs(1)).await;
    let told = text(panel.post(CHAT, &streamed()).await).await;
    assert!(told.ends_with("data: [DONE]\n\n"), "{told}");
    assert_eq!(panel.calls(id).await.len(), PLANNED);
}

#[tokio::test(start_paused = true)]
async fn i19_a_discussion_is_aborted_60_s_after_its_last_client_left() {
    let panel = Panel::thinking(5);
    let left = panel.post(CHAT, &streamed()).await;
    let id = discussion(&left);
    sleep(Duration::from_secs(1)).await;
    drop(left);
    sleep(Duration::from_secs(58)).await;
    assert!(!panel.lifecycle(id).await.is_terminal(), "a client could still come back");
    let returned = panel.post(CHAT, &streamed()).await;
    assert_eq!(discussion(&returned), id, "an equal request joins it");
    drop(returned);
    sleep(Duration::from_secs(59)).await;
    assert!(!panel.lifecycle(id).await.is_terminal(), "the minute begins anew with each departure");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(panel.lifecycle(id).await, Lifecycle::Aborted);
    let another = panel.post(CHAT, &streamed()).await;
    assert_ne!(discussion(&another), id, "an aborted one is not joined");
}

#[tokio::test(start_paused = true)]
async fn a2_a_time_out_of_1_s_with_two_repetitions_is_one_discussion() {
    let panel = Panel::on(&Arc::new(MemoryStore::new()), Duration::from_millis(900));
    for count in 0..2 {
        let sent = panel.repeat(CHAT, &question(), count);
        assert!(timeout(Duration::from_secs(1), sent).await.is_err(), "{count} was answered in time");
        // Clients wait a little before they repeat a request.
        sleep(Duration::from_millis(500)).await;
    }
    let sent = panel.repeat(CHAT, &question(), 2);
    let response = timeout(Duration::from_secs(1), sent).await.expect("the second repetition is answered");
    let id = discussion(&response);
    assert_eq!(response.status(), 200);
    assert_eq!(panel.discussions().await, [id], "one discussion");
    assert_eq!(panel.calls(id).await.len(), PLANNED);
    // A discussion that ended recently answers a declared retry, but not a new request.
    assert_eq!(discussion(&panel.repeat(CHAT, &question(), 1).await), id);
    assert_ne!(discussion(&panel.repeat(CHAT, &question(), 0).await), id);
    sleep(Duration::from_secs(601)).await;
    assert_ne!(discussion(&panel.repeat(CHAT, &question(), 1).await), id, "ten minutes are over");
}

#[tokio::test(start_paused = true)]
async fn i19_a_plain_request_that_is_left_places_no_more_calls_either() {
    let panel = Panel::thinking(3);
    let left = timeout(Duration::from_secs(1), panel.post(CHAT, &question())).await;
    assert!(left.is_err(), "it was answered before it was left");
    sleep(Duration::from_secs(50)).await;
    let [id] = panel.discussions().await[..] else { panic!("one discussion") };
    assert_eq!(panel.calls(id).await.len(), 3, "the first round alone");
    assert_eq!(panel.post(CHAT, &question()).await.status(), 200);
    assert_eq!((panel.calls(id).await.len(), panel.discussions().await.len()), (PLANNED, 1));
}

#[tokio::test(start_paused = true)]
async fn i19_a_detached_discussion_goes_on_without_its_client() {
    let panel = Panel::thinking(3);
    let mut body = streamed();
    body["quorum"] = json!({ "detach": true });
    let id = leave_after(1, panel.post(CHAT, &body).await).await;
    sleep(Duration::from_secs(120)).await;
    assert_eq!((panel.lifecycle(id).await, panel.calls(id).await.len()), (Lifecycle::Completed, PLANNED));
}

#[tokio::test(start_paused = true)]
async fn i19_an_order_found_at_a_restart_waits_60_s_for_its_client() {
    let store = Arc::new(MemoryStore::new());
    let first = Panel::on(&store, Duration::from_secs(3));
    let response = first.post(CHAT, &streamed()).await;
    let id = discussion(&response);
    sleep(Duration::from_secs(1)).await;
    first.close().await;
    let told = text(response).await;
    assert!(told.contains("\"code\":\"unavailable\""), "{told}");
    let placed = first.calls(id).await;

    let second = Panel::on(&store, Duration::from_secs(3));
    assert_eq!(second.app.go_on().await.unwrap(), 0, "it has a client to wait for");
    sleep(Duration::from_secs(59)).await;
    assert_eq!(second.calls(id).await, placed, "nothing is asked for a client that is not there");
    let returned = second.post(CHAT, &streamed()).await;
    assert_eq!(discussion(&returned), id);
    assert!(text(returned).await.ends_with("data: [DONE]\n\n"));
    assert_eq!(second.calls(id).await.len(), PLANNED);
}

#[tokio::test(start_paused = true)]
async fn i19_an_order_found_at_a_restart_is_aborted_without_its_client() {
    let store = Arc::new(MemoryStore::new());
    let first = Panel::on(&store, Duration::from_secs(3));
    let id = leave_after(1, first.post(CHAT, &streamed()).await).await;
    first.close().await;
    let second = Panel::on(&store, Duration::from_secs(3));
    second.app.go_on().await.unwrap();
    sleep(Duration::from_secs(59)).await;
    assert!(!second.lifecycle(id).await.is_terminal());
    sleep(Duration::from_secs(2)).await;
    assert_eq!(second.lifecycle(id).await, Lifecycle::Aborted);
}

/// Pauses a streamed discussion while its first round is under way.
async fn paused(panel: &Panel) -> (DiscussionId, Response) {
    let response = panel.post(CHAT, &streamed()).await;
    let id = discussion(&response);
    sleep(Duration::from_secs(1)).await;
    let taken = panel.post(&format!("/api/discussions/{id}/pause"), &json!({})).await;
    assert_eq!(taken.status(), 202);
    sleep(Duration::from_secs(30)).await;
    (id, response)
}

#[tokio::test(start_paused = true)]
async fn i19_a_pause_by_a_person_lasts_while_a_client_waits() {
    let panel = Panel::thinking(3);
    let (id, response) = paused(&panel).await;
    assert_eq!((panel.lifecycle(id).await, panel.calls(id).await.len()), (Lifecycle::Paused, 3));
    let resumed = panel.post(&format!("/api/discussions/{id}/resume"), &json!({})).await;
    assert_eq!(resumed.status(), 202);
    sleep(Duration::from_secs(1)).await;
    panel.post(&format!("/api/discussions/{id}/pause"), &json!({})).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!((panel.lifecycle(id).await, panel.calls(id).await.len()), (Lifecycle::Paused, 6));
    panel.post(&format!("/api/discussions/{id}/resume"), &json!({})).await;
    assert!(text(response).await.ends_with("data: [DONE]\n\n"));
    assert_eq!((panel.lifecycle(id).await, panel.calls(id).await.len()), (Lifecycle::Completed, PLANNED));
}

#[tokio::test(start_paused = true)]
async fn i19_a_paused_discussion_is_aborted_60_s_after_its_last_client_left() {
    let panel = Panel::thinking(3);
    let (id, response) = paused(&panel).await;
    drop(response);
    sleep(Duration::from_secs(59)).await;
    assert_eq!(panel.lifecycle(id).await, Lifecycle::Paused);
    sleep(Duration::from_secs(2)).await;
    assert_eq!((panel.lifecycle(id).await, panel.calls(id).await.len()), (Lifecycle::Aborted, 3));
}

#[tokio::test(start_paused = true)]
async fn i19_a_pause_by_a_person_lasts_when_a_client_comes_back_after_a_restart() {
    let store = Arc::new(MemoryStore::new());
    let first = Panel::on(&store, Duration::from_secs(3));
    let mut body = streamed();
    body["quorum"] = json!({ "rounds": 2 });
    let keyed = |panel: &Panel| panel.keyed(CHAT, &body, "once");
    let id = discussion(&keyed(&first).await);
    sleep(Duration::from_secs(1)).await;
    first.post(&format!("/api/discussions/{id}/pause"), &json!({})).await;
    sleep(Duration::from_secs(5)).await;
    first.close().await;
    let second = Panel::on(&store, Duration::from_secs(3));
    let returned = keyed(&second).await;
    assert_eq!(discussion(&returned), id);
    sleep(Duration::from_secs(30)).await;
    assert_eq!((second.lifecycle(id).await, second.calls(id).await.len()), (Lifecycle::Paused, 3));
    // As when the server has no room at the moment.
    second.app.scope(None).discussion(id).await.unwrap().queue_resume(10).await.unwrap();
    assert_eq!(second.app.go_on().await.unwrap(), 1);
    assert!(text(returned).await.ends_with("data: [DONE]\n\n"));
    assert_eq!(second.calls(id).await.len(), PLANNED);
}
