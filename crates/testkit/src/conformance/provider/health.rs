//! Availability checks, which cost nothing.

use std::time::Duration;

use futures::future::join_all;
use quorum_core::{
    model::{
        error::{ErrorClass, ProviderError},
        participant::Participant,
    },
    seams::Voice,
};
use tokio::time::timeout;

use super::{
    Seat, Subject,
    fixture::{KEY, LATE, MODEL, soon, speaking},
};
use crate::{
    server::{Fault, Place, Script, Server},
    stopwatch::Stopwatch,
};

/// How long a server that hangs is waited for.
const TIMEOUT_MS: u64 = 1_000;

/// How long one that answers is waited for: longer than any case takes, on any machine.
const FOREVER_MS: u64 = 60_000;

async fn check(voice: &Voice) -> Result<(), ProviderError> {
    let checked =
        timeout(Duration::from_millis(FOREVER_MS), voice.provider.check(&Participant::of("ann"))).await;
    checked.expect("a check ends by itself")
}

fn seated(subject: Subject, url: &str, key: Option<&str>) -> Voice {
    (subject.voice)(&Seat { url, key, first_ms: FOREVER_MS, idle_ms: FOREVER_MS })
}

fn serving(script: Script) -> Server {
    script.models([MODEL]).start()
}

/// Available, without a key, with a wrong one, without the model, failing, unreachable.
pub async fn inv_disc_100_what_is_wrong_is_told_apart(subject: Subject) {
    let class = async |script: Script, key| {
        let server = script.start();
        check(&seated(subject, &server.url(), key)).await.err().map(|it| it.class)
    };
    let good = || speaking().models([MODEL]).key(KEY);
    assert_eq!(class(good(), Some(KEY)).await, None);
    assert_eq!(class(good(), None).await, Some(ErrorClass::Authentication));
    assert_eq!(class(good(), Some("canary-of-another")).await, Some(ErrorClass::Authentication));
    an_absent_model_is_told(subject).await;
    let down = good().fault_probe("*", Fault::Status(503));
    assert_eq!(class(down, Some(KEY)).await, Some(ErrorClass::ApiError));
    let gone = serving(speaking());
    let url = gone.url();
    gone.stop().await;
    let error = check(&seated(subject, &url, Some(KEY))).await.expect_err("nobody is there");
    assert_eq!(error.class, ErrorClass::Network);
}

/// A server that is asked for the model by name denies it. A list that does not have it is a
/// warning, because the call decides.
async fn an_absent_model_is_told(subject: Subject) {
    let server = speaking().models(["beta-1"]).start();
    let voice = seated(subject, &server.url(), Some(KEY));
    let error = check(&voice).await.err().map(|it| it.class);
    let warning = voice.provider.noticed();
    let listed = format!("its list names no model {MODEL}; it names beta-1");
    match error {
        Some(class) => assert_eq!((class, warning), (ErrorClass::Validation, None)),
        None => assert_eq!(warning, Some(listed)),
    }
}

/// The result is cached: the next discussion need not wait as long again.
pub async fn inv_disc_100_a_hanging_server_is_noticed_in_time(subject: Subject) {
    let server = serving(speaking().fault_probe("*", Fault::Hang(Place::Head)));
    let seat = Seat { url: &server.url(), key: Some(KEY), first_ms: TIMEOUT_MS, idle_ms: TIMEOUT_MS };
    let voice = (subject.voice)(&seat);
    let watch = Stopwatch::start();
    let error = check(&voice).await.expect_err("nobody answers");
    let took = watch.took();
    assert_eq!(error.class, ErrorClass::Timeout);
    assert!(took.own < Duration::from_millis(TIMEOUT_MS) + LATE, "{took:?}");
    assert_eq!(check(&voice).await, Err(error));
    assert_eq!(server.counts().requests, 1);
}

/// Success and failure are cached for a while.
pub async fn inv_disc_100_what_was_found_is_remembered(subject: Subject) {
    for script in [speaking(), speaking().key("another"), speaking().fault_probe("*", Fault::Status(500))] {
        let server = serving(script);
        let voice = seated(subject, &server.url(), Some(KEY));
        let first = check(&voice).await;
        assert_eq!(check(&voice).await, first);
        assert_eq!(server.counts().requests, 1);
    }
}

/// A burst of discussions makes one check.
pub async fn inv_disc_100_many_at_once_ask_once(subject: Subject) {
    let server = serving(speaking());
    let voice = seated(subject, &server.url(), Some(KEY));
    let all = join_all((0..50).map(|_| check(&voice))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(server.counts().requests, 1);
}

/// A caller that stops waiting leaves the check to the others.
pub async fn inv_disc_100_a_check_that_is_dropped_holds_nobody_up(subject: Subject) {
    let server = serving(speaking().fault_probe("*", Fault::Slow { first_ms: 1_000, chunk_ms: 0 }));
    let voice = seated(subject, &server.url(), Some(KEY));
    tokio::select! {
        checked = check(&voice) => panic!("it was to be dropped under way: {checked:?}"),
        () = soon(&server, "it is asked", |it| it.counts().requests == 1) => {}
    }
    assert_eq!(check(&voice).await, Ok(()));
}

/// A check requests no completion, and without a key it sends nothing.
pub async fn inv_disc_100_a_check_costs_nothing(subject: Subject) {
    let server = serving(speaking().key(KEY));
    check(&seated(subject, &server.url(), Some(KEY))).await.expect("it is there");
    let error = check(&seated(subject, &server.url(), None)).await.expect_err("it has no key");
    assert!(error.message.contains("ALPHA_KEY"), "{}", error.message);
    let requests = server.requests();
    assert!(requests.iter().all(|it| it.asked().is_none()), "{requests:?}");
}
