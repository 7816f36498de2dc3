//! Endless answers are cut at their size limits.

use quorum_core::model::error::ErrorClass;

use super::{
    Subject,
    fixture::{ReceivedReply, call, failing, receive, soon, voice},
};
use crate::server::Fault;

/// The most bytes of text that a voice may pass on.
const MAX_TEXT: usize = 64 << 20;

async fn cut(subject: Subject, fault: Fault) -> ReceivedReply {
    let server = failing(fault).on_thread();
    let received = receive(&voice(subject, &server), call()).await;
    assert_eq!(
        (received.class(), received.end),
        (Some(ErrorClass::InvalidResponse), None),
        "{}",
        received.message()
    );
    assert!(received.text.len() <= MAX_TEXT && received.message().contains("MiB"), "{}", received.message());
    soon(&server, "the connection is closed", |it| it.counts().open == 0).await;
    received
}

/// One GiB in well-formed frames.
pub async fn f7_an_endless_answer_is_cut_at_the_cap(subject: Subject) {
    let received = cut(subject, Fault::Endless(Fault::GIB)).await;
    assert!(
        received.text.len() > MAX_TEXT / 2,
        "what was said until then is passed on: {}",
        received.text.len()
    );
}

/// One GiB in one line.
pub async fn f7_a_line_without_end_is_cut_at_the_cap(subject: Subject) {
    let received = cut(subject, Fault::OneLine(Fault::GIB)).await;
    assert_eq!(received.text, "");
}

/// A million pieces of one character each: little text with much framing; only with `QUORUM_LONG`.
pub async fn f7_a_million_tiny_pieces_are_cut_at_the_cap(subject: Subject) {
    if std::env::var_os("QUORUM_LONG").is_none() {
        eprintln!("left out: a million pieces take seconds; set QUORUM_LONG");
        return;
    }
    let received = cut(subject, Fault::Tiny(1_000_000)).await;
    assert!(received.text.len() > 100_000, "{}", received.text.len());
}
