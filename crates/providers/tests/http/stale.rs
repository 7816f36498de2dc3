//! Tests that a kept connection which the server has closed is replaced by a new one without an
//! error.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use quorum_testkit::conformance::provider::{
    Seat,
    fixture::{call, hear},
};

use crate::voice;

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Tabs.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Answers one request per connection, offers to keep the connection alive, and then closes it.
fn forgetful(listener: &TcpListener, opened: &AtomicUsize) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        opened.fetch_add(1, Ordering::AcqRel);
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
    }
}

#[tokio::test]
async fn f6_a_kept_connection_that_was_closed_meanwhile_costs_no_call() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = opened.clone();
    thread::spawn(move || forgetful(&listener, &counted));
    let seat = Seat { url: &url, key: Some("a-key"), first_ms: 5_000, idle_ms: 5_000 };
    let voice = voice("openai-chat", "/v1", &seat);
    for number in 1..=20 {
        let heard = hear(&voice, call()).await;
        assert_eq!((heard.text.as_str(), heard.end.is_some()), ("Tabs.", true), "call {number}: {heard:?}");
        // It sleeps because the end of the connection must have arrived while the whole runtime is
        // asleep, so that the client can't know.
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(opened.load(Ordering::Acquire), 20);
}
