//! Connections: kept, reused, and refused.

use quorum_core::model::error::ErrorClass;

use super::{
    Seat, Subject,
    fixture::{KEY, MODEL, call, receive, speaking, voice},
};
use crate::server::Fault;

/// Sequential calls use one connection.
pub async fn connections_are_used_again(subject: Subject) {
    let server = speaking().start();
    let voice = voice(subject, &server);
    for _ in 0..5 {
        assert!(receive(&voice, call()).await.end.is_some());
    }
    assert_eq!((server.counts().requests, server.counts().opened), (5, 1));
}

/// A connection is reused after an error response.
pub async fn a_connection_outlives_a_refusal(subject: Subject) {
    let server = speaking().fault_first(MODEL, 2, Fault::Status(503)).start();
    let voice = voice(subject, &server);
    for expected in [false, false, true] {
        assert_eq!(receive(&voice, call()).await.end.is_some(), expected);
    }
    assert_eq!((server.counts().requests, server.counts().opened), (3, 1));
}

/// A closed port, and an unknown host name.
pub async fn a_server_that_is_not_there_can_not_be_reached(subject: Subject) {
    let server = speaking().start();
    let gone = server.url();
    server.stop().await;
    for url in [gone.as_str(), "http://nobody.invalid"] {
        let seat = Seat { url, key: Some(KEY), first_ms: 5_000, idle_ms: 5_000 };
        let received = receive(&(subject.voice)(&seat), call()).await;
        assert_eq!(received.class(), Some(ErrorClass::Network), "{url}: {}", received.message());
        assert!(received.message().contains("can't be reached"), "{}", received.message());
        assert!(!received.message().contains("127.0.0.1") && !received.message().contains("nobody.invalid"));
    }
}
