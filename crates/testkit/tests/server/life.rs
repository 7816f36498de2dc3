//! A server's request log and counters, and its cleanup.

use std::time::Duration;

use quorum_testkit::server::{Counts, End, Fault, Place, Server, server};
use serde_json::json;

use crate::client::{Ask, Client, anthropic, chat};

/// Yields until the condition holds for the server, for at most ten seconds.
async fn until(server: &Server, is_so: impl Fn(&Server) -> bool) {
    let seen = async {
        while !is_so(server) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), seen).await.unwrap();
}

#[tokio::test]
async fn requests_are_remembered_as_they_came() {
    let server = server().replies("*", |asked| format!("{} heard: {}", asked.model, asked.last())).start();
    let mut client = Client::of(&server).await;
    client.ask(&anthropic("a-1").with("x-api-key", "k")).await;
    let reply = client.ask(&chat("b-1").but(json!({ "stream": null, "stream_options": null }))).await;
    let said = reply.json().pointer("/choices/0/message/content").cloned();
    assert_eq!(said, Some(json!("b-1 heard: Tabs or spaces?")));
    Ask::get("/nowhere?x=1").of(&server).await;
    let requests = server.requests();
    let seen = requests.iter().map(|it| {
        (it.number, it.connection, it.method.as_str(), it.path.as_str(), it.wire, it.model.as_str(), it.end())
    });
    let expected = [
        (1, 1, "POST", "/v1/messages", "anthropic", "a-1", End::Complete),
        (2, 1, "POST", "/v1/chat/completions", "openai-chat", "b-1", End::Complete),
        (3, 2, "GET", "/nowhere?x=1", "", "", End::Complete),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
    assert_eq!(requests[0].header("x-api-key"), Some("k"));
    assert_eq!(requests[0].body["max_tokens"], 1_000);
    assert_eq!(requests[2].query("x"), Some("1"));
}

#[tokio::test]
async fn f2_a_client_that_leaves_is_noticed() {
    let server = server().fault("a-1", Fault::Hang(Place::Between)).start();
    let mut client = Client::of(&server).await;
    client.send(&anthropic("a-1")).await;
    client.head().await;
    assert_eq!(server.counts(), Counts { opened: 1, open: 1, requests: 1, under_way: 1, spoilt: 1 });
    drop(client);
    until(&server, |server| server.counts().open == 0).await;
    assert_eq!(server.counts(), Counts { opened: 1, open: 0, requests: 1, under_way: 0, spoilt: 1 });
    assert_eq!(server.requests()[0].end(), End::ClientLeft);
}

#[tokio::test]
async fn f7_a_client_that_has_enough_is_noticed() {
    let server = server().fault("a-1", Fault::Endless(Fault::GIB)).start();
    let mut client = Client::of(&server).await;
    client.send(&anthropic("a-1")).await;
    client.exactly(1 << 20).await;
    drop(client);
    until(&server, |server| server.counts().under_way == 0).await;
    assert_eq!(server.requests()[0].end(), End::ClientLeft);
}

#[tokio::test]
async fn a_server_that_is_dropped_ends_everything() {
    let server = server().fault("a-1", Fault::Hang(Place::Between)).start();
    let (mut idle, mut busy) = (Client::of(&server).await, Client::of(&server).await);
    idle.ask(&anthropic("b-1")).await;
    busy.send(&anthropic("a-1")).await;
    busy.head().await;
    let address = server.address();
    server.stop().await;
    assert_eq!(idle.exactly(1).await, b"");
    while busy.chunk().await.is_some() {}
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    let left = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(left, 0, "no task is left behind");
}

#[tokio::test]
async fn a_server_on_a_thread_of_its_own_ends_with_it() {
    let server = server().fault("a-1", Fault::Hang(Place::Between)).on_thread();
    let mut busy = Client::of(&server).await;
    busy.send(&anthropic("a-1")).await;
    busy.head().await;
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
    let address = server.address();
    drop(server);
    while busy.chunk().await.is_some() {}
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_server_can_go_on_by_another_script() {
    let server = server().fault("a-1", Fault::Status(503)).forgetful().start();
    assert_eq!(anthropic("a-1").of(&server).await.status, 503);
    server.follow(quorum_testkit::server::server().forgetful());
    assert_eq!(anthropic("a-1").of(&server).await.status, 200);
    assert_eq!((server.counts().requests, server.requests().len()), (2, 0));
}

#[tokio::test]
async fn many_are_answered_at_once() {
    let server = server().takes("*", 20, 1, 5).on_thread();
    let asks = (0..500).map(|_| async {
        let reply = chat("a-1").of(&server).await;
        (reply.status, reply.text().ends_with("data: [DONE]\n\n"))
    });
    let answered = futures::future::join_all(asks).await;
    assert_eq!(answered, vec![(200, true); 500]);
    assert_eq!(server.counts().opened, 500);
}
