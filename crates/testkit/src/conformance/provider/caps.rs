//! Endless answers are cut at their size limits.

use quorum_core::model::error::ErrorClass;

use super::{
    Subject,
    fixture::{Heard, call, failing, hear, soon, voice},
};
use crate::server::Fault;

/// The most bytes of text that a voice may pass on.
const MAX_TEXT: usize = 64 << 20;

async fn cut(subject: Subject, fault: Fault) -> Heard {
    let server = failing(fault).on_thread();
    let heard = hear(&voice(subject, &server), call()).await;
    assert_eq!((heard.class(), heard.end), (Some(ErrorClass::InvalidResponse), None), "{}", heard.message());
    assert!(heard.text.len() <= MAX_TEXT && heard.message().contains("MiB"), "{}", heard.message());
    soon(&server, "the connection is closed", |it| it.counts().open == 0).await;
    heard
}

/// One GiB in well-formed frames.
pub async fn f7_an_endless_answer_is_cut_at_the_cap(subject: Subject) {
    let heard = cut(subject, Fault::Endless(Fault::GIB)).await;
    assert!(heard.text.len() > MAX_TEXT / 2, "what was said until then is passed on: {}", heard.text.len());
}

/// One GiB in one line.
pub async fn f7_a_line_without_end_is_cut_at_the_cap(subject: Subject) {
    let heard = cut(subject, Fault::OneLine(Fault::GIB)).await;
    assert_eq!(heard.text, "");
}

/// A million pieces of one character each: little text with much framing; only with `QUORUM_LONG`.
pub async fn f7_a_million_tiny_pieces_are_cut_at_the_cap(subject: Subject) {
    if std::env::var_os("QUORUM_LONG").is_none() {
        eprintln!("left out: a million pieces take seconds; set QUORUM_LONG");
        return;
    }
    let heard = cut(subject, Fault::Tiny(1_000_000)).await;
    assert!(heard.text.len() > 100_000, "{}", heard.text.len());
}
