//! Clients that leave over real connections, and requests that are repeated. Time is in
//! `src/v1/tests`.

use std::sync::atomic::{AtomicUsize, Ordering};

use quorum_testkit::server::{Asked, At, Break, Fault, Server};
use serde_json::{Value, json};
use tokio::{sync::watch, task::yield_now};

use super::{calls, chat, chunks, config, joined, keyed, only_discussion, question, vendor, with};
use crate::harness::{Stream, TestServer};

/// Three vendors, and the number of calls that they received so far.
fn counting() -> (Server, watch::Receiver<usize>) {
    let (count, counted) = watch::channel(0);
    let vendor = vendor().paced(50, 0, 1).replies("*", move |_| {
        count.send_modify(|it| *it += 1);
        "Tabs.".to_owned()
    });
    (vendor.start(), counted)
}

/// Waits until the server has noticed that the last client left: then it gives up its claim, and
/// another process could go on.
async fn until_released(server: &TestServer) {
    let other = quorum::Quorum::open(crate::harness::config("", &server.folder)).unwrap();
    while 0 < other.backlog(None).await.unwrap().running {
        yield_now().await;
    }
}

/// Asks, and reads the answer to its end.
async fn whole(server: &TestServer, body: &Value) -> String {
    Stream::open(server.posting("/v1/chat/completions", body)).await.rest().await
}

#[tokio::test]
async fn a3_a_closed_connection_is_noticed_and_a_return_makes_the_rest_of_the_calls() {
    for is_streamed in [false, true] {
        let (vendor, mut counted) = counting();
        let server = TestServer::voiced(&config(&vendor)).await;
        let body = with(question("quorum"), json!({ "stream": is_streamed }));
        tokio::select! {
            told = whole(&server, &body) => panic!("it ended before it was left: {told}"),
            _ = counted.wait_for(|it| *it == 3) => {}
        }
        until_released(&server).await;
        assert_eq!(calls(&vendor).len(), 3, "the first round alone");
        let answer = chat(&server, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(calls(&vendor).len(), 7, "nothing was asked twice");
        assert_eq!(only_discussion(&server).await["status"], "completed");
    }
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
async fn i19_an_answer_that_is_written_anew_ends_the_stream_and_its_repetition_gets_it_for_nothing() {
    let writings = AtomicUsize::new(0);
    let write = move |asked: &Asked| match asked.last().contains("[STRUCTURE_") {
        true if writings.fetch_add(1, Ordering::SeqCst) == 0 => "one two three four".to_owned(),
        true => "five six seven eight".to_owned(),
        false => "Tabs.".to_owned(),
    };
    // A reset could discard text that was not read yet; here all of it arrives before the end.
    let cut = Fault::Cut(At::EndMarker, Break::Fin);
    let vendor = vendor().paced(0, 0, 4).replies("*", write).fault_at("alpha-1", 2, cut).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = with(question("quorum"), json!({ "stream": true, "quorum": { "rounds": 1 } }));
    let mut stream = Stream::open(server.posting("/v1/chat/completions", &body)).await;
    let told = stream.rest().await;
    assert_eq!(chunks(&told).0.pop().unwrap()["error"]["code"], "answer_rewritten", "{told}");
    let made = calls(&vendor).len();
    let again = chat(&server, &body).await;
    assert_eq!(joined(&chunks(&again.text).0, "content"), "five six seven eight");
    assert_eq!(calls(&vendor).len(), made, "nothing is paid for the repetition");
    only_discussion(&server).await;
}
