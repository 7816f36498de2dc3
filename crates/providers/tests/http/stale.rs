//! Tests that a keep-alive connection closed by the server is replaced without an error.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::mpsc::{Sender, channel},
    thread,
    time::Duration,
};

use quorum_testkit::conformance::provider::{
    Seat,
    fixture::{call, receive},
};

use crate::voice;

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Tabs.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Answers one request per connection, offers to keep the connection alive, closes it, and reports
/// that.
fn forgetful(listener: &TcpListener, closed: &Sender<()>) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut request = Vec::new();
        while !String::from_utf8_lossy(&request).ends_with("\"temperature\":0.5}") {
            let mut bytes = [0; 4_096];
            let count = stream.read(&mut bytes).unwrap();
            if count == 0 {
                break;
            }
            request.extend_from_slice(&bytes[..count]);
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let _gone = write!(stream, "{head}{:x}\r\n{ANSWER}\r\n0\r\n\r\n", ANSWER.len());
        drop(stream);
        closed.send(()).unwrap();
    }
}

#[tokio::test]
async fn f6_a_kept_connection_that_was_closed_meanwhile_costs_no_call() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (closing, closed) = channel();
    thread::spawn(move || forgetful(&listener, &closing));
    let seat = Seat { url: &url, key: Some("a-key"), first_ms: 60_000, idle_ms: 60_000 };
    let voice = voice("openai-chat", "/v1", &seat);
    for number in 1..=20 {
        let received = receive(&voice, call()).await;
        assert_eq!(
            (received.text.as_str(), received.end.is_some()),
            ("Tabs.", true),
            "call {number}: {received:?}"
        );
        // Blocks the whole runtime, so that the client can't learn that the connection was closed.
        closed.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    assert!(closed.try_recv().is_err(), "one connection for each call");
}
