//! Tests of servers with unusual but valid behaviour.

use std::time::{Duration, Instant};

use quorum_core::{
    model::{error::ErrorClass, money::Usage, participant::Participant, transcript::Finish},
    seams::Voice,
};
use quorum_providers::{source::Endpoint, wire::Quirks};
use quorum_testkit::conformance::provider::{
    Seat,
    fixture::{LATE, call, receive, timed},
};

use crate::{
    endpoint,
    raw::{Part, Raw, pause, stream, with_head},
    voice, voice_at,
};

const JSON: &str = "content-type: application/json";
const TIMEOUT_MS: u64 = 60_000;

fn seat(server: &Raw) -> Seat<'_> {
    Seat { url: &server.url, key: Some("a-key"), first_ms: TIMEOUT_MS, idle_ms: TIMEOUT_MS }
}

fn at(wire: &str, path: &str, server: &Raw) -> Voice {
    voice(wire, path, &seat(server))
}

fn chat(server: &Raw) -> Voice {
    at("openai-chat", "/v1", server)
}

#[tokio::test]
async fn f3_an_end_counts_though_nothing_ends_its_line() {
    const CHAT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Tabs.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]";
    const MESSAGES: &str = "event: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"Tabs.\"}}\n\n\
                            event: message_stop\ndata: {\"type\":\"message_stop\"}";
    const GEMINI: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Tabs.\"}]},\"finishReason\":\"STOP\"}]}\r\n";
    let check = async |wire, path, says| {
        let received = receive(&at(wire, path, &Raw::start(says)), call()).await;
        assert_eq!((received.text.as_str(), received.end.is_some()), ("Tabs.", true), "{wire}: {received:?}");
    };
    check("openai-chat", "/v1", |_, _| vec![stream(CHAT)]).await;
    check("anthropic", "/v1", |_, _| vec![stream(MESSAGES)]).await;
    check("gemini", "/v1beta", |_, _| vec![stream(GEMINI)]).await;
    let half = Raw::start(|_, _| vec![stream(&MESSAGES[..MESSAGES.len() - 3])]);
    assert_eq!(receive(&at("anthropic", "/v1", &half), call()).await.end, None);
}

#[tokio::test]
async fn d10_a_count_that_comes_after_the_end_is_waited_for_a_moment() {
    const END: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Tabs.\"}]},\"finishReason\":\"STOP\"}]}\n\n";
    const COUNT: &str = "data: {\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":2}}\n\n";
    let check = async |says, usage: Option<Usage>| {
        let (received, took) = timed(&at("gemini", "/v1beta", &Raw::start(says)), call()).await;
        assert_eq!(received.end, Some((Finish::Stop, usage, None)));
        assert!(took.own < LATE * 2, "{took:?}");
    };
    check(|_, _| vec![stream(&format!("{END}{COUNT}"))], Some(Usage::new(7, 2))).await;
    check(|_, _| vec![stream(END), pause(60), Part::Bytes(COUNT.to_owned())], Some(Usage::new(7, 2))).await;
    check(|_, _| vec![stream(END), pause(5_000)], None).await;
}

#[tokio::test]
async fn f2_a_refusal_that_never_ends_is_known_by_its_status_in_time() {
    let server = Raw::start(|_, _| {
        vec![with_head("401 No", &format!("{JSON}\r\ncontent-length: 100"), "{"), pause(20_000)]
    });
    let (received, took) = timed(&chat(&server), call()).await;
    assert_eq!(received.class(), Some(ErrorClass::Authentication));
    assert!(took.own < Duration::from_millis(1_000) + LATE, "{took:?}");
}

#[tokio::test]
async fn d12_an_answer_in_one_piece_is_not_paid_for_again() {
    let check = async |says, class, message: &str| {
        let received = receive(&chat(&Raw::start(says)), call()).await;
        assert_eq!(received.class(), Some(class), "{received:?}");
        assert!(received.message().contains(message), "{received:?}");
    };
    const WHOLE: &str = r#"{"object":"chat.completion","choices":[{"message":{"content":"Tabs."}}]}"#;
    check(|_, _| vec![with_head("200 OK", JSON, WHOLE)], ErrorClass::Validation, "a stream was asked for")
        .await;
    const ERROR: &str = r#"{"error":{"message":"no such field","type":"invalid_request_error"}}"#;
    check(|_, _| vec![with_head("200 OK", JSON, ERROR)], ErrorClass::Validation, "no such field").await;
    check(
        |_, _| vec![with_head("200 OK", "content-type: text/event-stream\r\ncontent-encoding: gzip", "x")],
        ErrorClass::InvalidResponse,
        "turn off compression",
    )
    .await;
}

#[tokio::test]
async fn f5_a_server_that_asks_for_a_wait_closes_the_lane_for_all_calls() {
    let server = Raw::start(|_, number| match number {
        1 => vec![with_head("503 Busy", "retry-after: 1", "")],
        _ => vec![stream(
            "data: {\"choices\":[{\"delta\":{\"content\":\"Tabs.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        )],
    });
    let voice = chat(&server);
    let began = Instant::now();
    assert_eq!(receive(&voice, call()).await.class(), Some(ErrorClass::ApiError));
    let _place = voice.lane.enter(0).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn inv_disc_100_what_a_list_of_models_can_say() {
    let check = async |says, expected: Option<(ErrorClass, &str)>| {
        let found = chat(&Raw::start(says)).provider.check(&Participant::of("ann")).await;
        let found = found.err().map(|it| (it.class, it.message));
        assert_eq!(found, expected.map(|(class, message)| (class, message.to_owned())));
    };
    check(|_, _| vec![with_head("429 Slow", "retry-after: 1", "")], None).await;
    const UNPAID: &str = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let unpaid = "You exceeded your quota (429); the account behind this key has no credit left: add some, or use another \
                  key";
    check(|_, _| vec![with_head("429 Slow", JSON, UNPAID)], Some((ErrorClass::Authentication, unpaid))).await;
    let page = "it answered with a web page; is base_url right, or is a login needed?";
    check(
        |_, _| vec![with_head("200 OK", "content-type: text/html", "<html>")],
        Some((ErrorClass::InvalidResponse, page)),
    )
    .await;
    let voice = chat(&Raw::start(|_, _| vec![with_head("200 OK", JSON, r#"{"data":[{"id":"alpha-10"}]}"#)]));
    assert_eq!(voice.provider.check(&Participant::of("ann")).await, Ok(()));
    let warning = "its list names no model alpha-1; it names alpha-10";
    assert_eq!(voice.provider.noticed().as_deref(), Some(warning));
}

#[tokio::test]
async fn inv_disc_100_the_key_is_checked_by_itself_where_the_list_of_models_is_public() {
    const LIST: &str = r#"{"data":[{"id":"alpha-1"}]}"#;
    let check = async |says, class: Option<ErrorClass>, asked: &[&str]| {
        let server = Raw::start(says);
        let seat = seat(&server);
        let at = Endpoint { key_path: Some("/key".to_owned()), ..endpoint("openai-chat", "/v1", &seat) };
        let found = voice_at(at, &seat, Quirks::default()).provider.check(&Participant::of("ann")).await;
        assert_eq!(
            (found.err().map(|it| it.class), server.lines()),
            (class, asked.iter().map(|it| (*it).to_owned()).collect())
        );
    };
    check(
        |line, _| match line.ends_with("/key") {
            true => vec![with_head("401 No", JSON, r#"{"error":{"message":"User not found.","code":401}}"#)],
            false => vec![with_head("200 OK", JSON, LIST)],
        },
        Some(ErrorClass::Authentication),
        &["GET /v1/key"],
    )
    .await;
    let both = ["GET /v1/key", "GET /v1/models"];
    check(|_, _| vec![with_head("200 OK", JSON, LIST)], None, &both).await;
    check(
        |line, _| match line.ends_with("/key") {
            true => vec![with_head("404 No", JSON, "{}")],
            false => vec![with_head("200 OK", JSON, LIST)],
        },
        None,
        &both,
    )
    .await;
}
