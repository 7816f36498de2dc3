//! Clients that leave and come back, and requests that are repeated.

use std::time::Duration;

use quorum_server::Limits;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{calls, chat, chunks, config, joined, keyed, only_discussion, question, vendor, with};
use crate::harness::{Stream, TestServer, answered};

fn streamed() -> serde_json::Value {
    with(question("quorum"), json!({ "stream": true }))
}

/// Waits until this many calls have been placed.
async fn until_calls(vendor: &quorum_testkit::server::Server, count: usize) {
    while calls(vendor).len() < count {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a3_after_leaving_no_call_begins_and_coming_back_ends_it_with_the_calls_of_the_plan() {
    let vendor = vendor().paced(150, 10, 3).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let mut stream = Stream::open(server.posting("/v1/chat/completions", &streamed())).await;
    stream.until(|it| 3 <= it.matches("data: ").count()).await;
    drop(stream);
    sleep(Duration::from_millis(250)).await;
    let placed = calls(&vendor).len();
    sleep(Duration::from_millis(700)).await;
    assert_eq!(calls(&vendor).len(), placed, "no call began after the client had left");
    assert!(placed < 7, "{placed}");
    let answer = chat(&server, &streamed()).await;
    let (chunks, is_done) = chunks(&answer.text);
    assert!(is_done && !joined(&chunks, "content").is_empty(), "{}", answer.text);
    assert_eq!(calls(&vendor).len(), 7, "nothing was asked twice");
    assert_eq!(only_discussion(&server).await["status"], "completed");
    assert!(joined(&chunks, "reasoning").contains("[R1 alpha]"), "the talk is told from its beginning");
}

#[tokio::test]
async fn a2_a_time_out_with_two_repetitions_is_one_discussion() {
    let vendor = vendor().paced(120, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = question("quorum");
    for count in 0..3 {
        let sent = server.posting("/v1/chat/completions", &body).header("x-stainless-retry-count", count);
        let _ = timeout(Duration::from_millis(200), answered(sent)).await;
    }
    let sent = server.posting("/v1/chat/completions", &body).header("x-stainless-retry-count", 3);
    assert_eq!(answered(sent).await.status, 200);
    assert_eq!(calls(&vendor).len(), 7);
    only_discussion(&server).await;
    // What ended a short while ago is the answer of a declared repetition, and not of a new
    // question.
    let sent = server.posting("/v1/chat/completions", &body).header("x-stainless-retry-count", 1);
    assert_eq!(answered(sent).await.status, 200);
    assert_eq!(calls(&vendor).len(), 7);
    assert_eq!(chat(&server, &body).await.status, 200);
    assert_eq!(calls(&vendor).len(), 14);
}

#[tokio::test]
async fn i19_two_live_equal_requests_are_two_discussions_and_a_key_makes_them_one() {
    let vendor = vendor().paced(50, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = with(question("quorum"), json!({ "quorum": { "rounds": 1 } }));
    let (one, other) = futures::future::join(chat(&server, &body), chat(&server, &body)).await;
    assert_ne!(one.headers["x-quorum-discussion"], other.headers["x-quorum-discussion"]);
    assert_eq!(calls(&vendor).len(), 8);
    let (one, other) = futures::future::join(keyed(&server, "k", &body), keyed(&server, "k", &body)).await;
    assert_eq!((one.status.as_u16(), other.status.as_u16()), (200, 200), "{} {}", one.text, other.text);
    assert_eq!(one.headers["x-quorum-discussion"], other.headers["x-quorum-discussion"]);
    assert_eq!(calls(&vendor).len(), 12);
    let another = keyed(&server, "k", &with(body, json!({ "seed": 7 }))).await;
    assert_eq!(
        (another.status.as_u16(), &another.json()["error"]["code"]),
        (422, &json!("idempotency_key_reused"))
    );
}

#[tokio::test]
async fn i19_a_plain_request_that_is_left_places_no_more_calls_either() {
    let vendor = vendor().paced(200, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = question("quorum");
    let asked = chat(&server, &body);
    tokio::select! {
        _ = asked => panic!("it was answered before it was left"),
        () = until_calls(&vendor, 3) => {}
    }
    sleep(Duration::from_millis(900)).await;
    assert_eq!(calls(&vendor).len(), 3, "the first round alone");
    assert_eq!(chat(&server, &question("quorum")).await.status, 200);
    assert_eq!(calls(&vendor).len(), 7);
}

#[tokio::test]
async fn i19_a_detached_discussion_goes_on() {
    let vendor = vendor().paced(50, 0, 1).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = with(streamed(), json!({ "quorum": { "detach": true } }));
    let mut stream = Stream::open(server.posting("/v1/chat/completions", &body)).await;
    stream.until(|it| it.contains("data: ")).await;
    drop(stream);
    until_calls(&vendor, 7).await;
}

#[tokio::test]
async fn i19_an_order_found_at_a_restart_waits_for_its_client() {
    let vendor = vendor().paced(100, 0, 1).start();
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { drain: Duration::from_millis(1), ..Limits::default() };
    let mut server = TestServer::voiced_at(&config(&vendor), limits, folder.path()).await;
    let mut stream = Stream::open(server.posting("/v1/chat/completions", &streamed())).await;
    until_calls(&vendor, 3).await;
    server.close().await;
    let _ = stream.rest().await;
    drop(server);
    sleep(Duration::from_millis(200)).await;
    let server = TestServer::voiced_at(&config(&vendor), limits, folder.path()).await;
    let placed = calls(&vendor).len();
    sleep(Duration::from_millis(500)).await;
    assert_eq!(calls(&vendor).len(), placed, "nothing is asked for a client that is not there");
    let answer = chat(&server, &streamed()).await;
    assert!(chunks(&answer.text).1, "{}", answer.text);
    only_discussion(&server).await;
}
