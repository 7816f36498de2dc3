//! Error responses, and how they are classified.

use quorum_core::model::error::ErrorClass;

use super::{
    Seat, Subject,
    fixture::{KEY, MODEL, ReceivedReply, SPEECH, call, failing, receive, speaking, voice},
};
use crate::server::{Fault, RetryAfter, Script};

async fn refused(subject: Subject, script: Script) -> ReceivedReply {
    let server = script.start();
    let received = receive(&voice(subject, &server), call()).await;
    assert_eq!((received.end, server.counts().requests), (None, 1), "a provider never asks again by itself");
    assert!(received.error.is_some(), "it says what is wrong");
    received
}

/// Each status has its class, with the vendor's message if there is one.
pub async fn d12_every_status_has_its_class(subject: Subject) {
    use ErrorClass::{ApiError, Authentication, ContextOverflow, Validation};
    let cases = [
        (failing(Fault::Status(401)), Authentication),
        (failing(Fault::Status(403)), Authentication),
        (speaking().key("another"), Authentication),
        (failing(Fault::Status(404)), Validation),
        (speaking().models(["beta-1"]), Validation),
        (failing(Fault::TooLong), ContextOverflow),
        (failing(Fault::Status(500)), ApiError),
        (failing(Fault::Status(502)), ApiError),
        (failing(Fault::Status(503)), ApiError),
        (failing(Fault::Status(529)), ApiError),
        (failing(Fault::Status(504)), ErrorClass::Timeout),
        (failing(Fault::Status(429)), ErrorClass::RateLimit),
    ];
    for (index, (script, class)) in cases.into_iter().enumerate() {
        let received = refused(subject, script).await;
        assert_eq!(received.class(), Some(class), "case {index}: {}", received.message());
    }
    let unknown = refused(subject, speaking().models(["beta-1"])).await;
    assert!(unknown.message().contains(MODEL), "{}", unknown.message());
}

/// As seconds, a date, milliseconds, in the body, or missing.
pub async fn f5_retry_after_in_all_its_forms(subject: Subject) {
    let cases = [
        (RetryAfter::Unsaid, None),
        (RetryAfter::Seconds(7), Some(7_000..=7_000)),
        (RetryAfter::Seconds(0), Some(0..=0)),
        // Dates have whole seconds.
        (RetryAfter::Date(20), Some(18_000..=20_000)),
        (RetryAfter::Millis(300), Some(300..=300)),
        (RetryAfter::Body(1_500), Some(1_500..=1_500)),
    ];
    for (after, expected) in cases {
        let received = refused(subject, failing(Fault::RateLimited(after))).await;
        assert_eq!(received.class(), Some(ErrorClass::RateLimit), "{after:?}");
        let told = received.error.and_then(|it| it.retry_after_ms);
        let is_right = match (told, &expected) {
            (Some(told), Some(expected)) => expected.contains(&told),
            (told, expected) => told.is_none() && expected.is_none(),
        };
        assert!(is_right, "{after:?} was read as {told:?}");
    }
}

/// An error with status 200, a login page, a compressed body.
pub async fn f7_what_is_no_stream_of_words_says_so(subject: Subject) {
    let cases = [
        (Fault::ErrorBody, ErrorClass::ApiError),
        (Fault::Html, ErrorClass::InvalidResponse),
        (Fault::Gzip(Fault::GIB), ErrorClass::InvalidResponse),
    ];
    for (fault, class) in cases {
        let received = refused(subject, failing(fault.clone())).await;
        assert_eq!(
            (received.class(), received.text.as_str()),
            (Some(class), ""),
            "{fault:?}: {}",
            received.message()
        );
    }
}

/// The error keeps its class and comes after the text.
pub async fn f7_an_error_in_mid_stream_keeps_what_was_said(subject: Subject) {
    let received = refused(subject, failing(Fault::ErrorEvent)).await;
    assert_eq!(received.class(), Some(ErrorClass::ApiError), "{}", received.message());
    assert!(!received.text.is_empty() && SPEECH.starts_with(&received.text), "{:?}", received.text);
}

/// Redirects are followed neither to another server nor to the same one.
pub async fn f7_a_redirect_is_never_followed(subject: Subject) {
    let elsewhere = speaking().start();
    for status in [301, 302, 303, 307, 308] {
        for to in [format!("{}/v1/messages?key={KEY}", elsewhere.url()), "/v1/elsewhere".to_owned()] {
            let received = refused(subject, failing(Fault::Redirect(status, to))).await;
            assert_eq!(received.class(), Some(ErrorClass::Validation), "{status}: {}", received.message());
            assert!(!received.message().contains("127.0.0.1"), "{}", received.message());
        }
    }
    assert_eq!(elsewhere.counts().opened, 0);
}

/// In an error response that quotes it, in full or in part.
pub async fn s1_a_key_that_is_echoed_stays_hidden(subject: Subject) {
    let server = failing(Fault::EchoesKey).start();
    let seat = Seat { url: &server.url(), key: Some(KEY), first_ms: 5_000, idle_ms: 5_000 };
    let received = receive(&(subject.voice)(&seat), call()).await;
    assert_eq!(received.class(), Some(ErrorClass::Authentication));
    let shown = format!("{received:?}");
    assert!(KEY.as_bytes().windows(8).all(|part| !shown.contains(&String::from_utf8_lossy(part)[..])));
}
