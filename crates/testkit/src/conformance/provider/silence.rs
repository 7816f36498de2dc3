//! Servers that stop sending, and clients that stop reading.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use quorum_core::{model::error::ErrorClass, seams::Chunk};

use super::{
    Subject,
    fixture::{LATE, call, failing, impatient, soon, timed, voice},
};
use crate::server::{End, Fault, Place, Server};

const TIMEOUT_MS: u64 = 400;

async fn nothing_is_left(server: &Server) {
    soon(server, "the connection is closed", |it| it.counts().open == 0 && it.counts().under_way == 0).await;
    assert_eq!(server.requests()[0].end(), End::ClientLeft);
}

/// A hang before the response, after the head, and in the middle; after its end an answer is
/// complete.
pub async fn f2_a_hang_is_noticed_in_time_and_nothing_is_left(subject: Subject) {
    let limit = Duration::from_millis(TIMEOUT_MS);
    for place in [Place::Head, Place::FirstChunk, Place::Between] {
        let server = failing(Fault::Hang(place)).start();
        let (received, took) = timed(&impatient(subject, &server, TIMEOUT_MS), call()).await;
        assert_eq!((received.class(), received.end), (Some(ErrorClass::Timeout), None), "{place:?}");
        assert!(limit <= took.all && took.own < limit + LATE, "{place:?}: {took:?}");
        nothing_is_left(&server).await;
    }
    let server = failing(Fault::Hang(Place::End)).start();
    let (received, took) = timed(&impatient(subject, &server, TIMEOUT_MS), call()).await;
    assert!(received.end.is_some() && took.own < LATE, "{received:?} in {took:?}");
    nothing_is_left(&server).await;
}

/// Single bytes from time to time do not extend the timeout.
pub async fn f2_a_trickle_is_noticed_in_time(subject: Subject) {
    let server = failing(Fault::Trickle(40)).start();
    let (received, took) = timed(&impatient(subject, &server, TIMEOUT_MS), call()).await;
    assert_eq!((received.class(), received.end), (Some(ErrorClass::Timeout), None));
    assert!(took.own < Duration::from_millis(TIMEOUT_MS) + LATE, "{took:?}");
    nothing_is_left(&server).await;
}

/// At any point of the answer.
pub async fn f2_dropping_an_answer_closes_its_connection_at_once(subject: Subject) {
    let server = failing(Fault::Slow { first_ms: 0, chunk_ms: 60_000 }).start();
    let mut stream = voice(subject, &server).provider.reply(Arc::new(call()));
    let mut first = stream.next().await.expect("something is said").expect("it goes well");
    if let Chunk::AnsweredBy(_) = first {
        first = stream.next().await.expect("something is said").expect("it goes well");
    }
    assert!(matches!(first, Chunk::Text(_)), "{first:?}");
    drop(stream);
    nothing_is_left(&server).await;
}
