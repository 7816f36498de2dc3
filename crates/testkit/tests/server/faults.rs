//! Tests that each fault does what it says.

use std::time::{Duration, Instant};

use quorum_testkit::server::{At, Break, Fault, Noise, Place, RetryAfter, Script, Server, server};
use serde_json::{Value, json};

use crate::client::{Client, Reply, Seen, all, anthropic, chat, gemini, ollama};

fn saying() -> Script {
    server().says("a-1", "One thing. Grüße \u{1f600}. Another thing, and then some more of it.")
}

async fn right(ask: &crate::client::Ask) -> Reply {
    ask.of(&saying().start()).await
}

async fn wrong(ask: &crate::client::Ask, fault: Fault) -> Reply {
    ask.of(&saying().fault("a-1", fault).start()).await
}

#[tokio::test]
async fn f2_an_answer_hangs_where_it_should() {
    for (name, ask) in all("a-1") {
        let whole = right(&ask).await.body.len();
        for place in [Place::Head, Place::FirstChunk, Place::Between, Place::End] {
            let server = saying().fault("a-1", Fault::Hang(place)).start();
            let mut client = Client::of(&server).await;
            client.send(&ask).await;
            if place != Place::Head {
                assert!(client.head().await.starts_with("HTTP/1.1 200 OK"), "{name}");
            }
            let mut body = 0;
            while body < least(place, whole) {
                body += client.chunk().await.unwrap().len();
            }
            is_under_way(&server).await;
            body += until_nothing_comes(&mut client).await;
            let is_right = match place {
                Place::Head | Place::FirstChunk => body == 0,
                Place::Between => body < whole,
                Place::End => body == whole,
            };
            assert!(is_right, "{name} at {place:?}: {body} of {whole}");
            assert_eq!(server.counts().under_way, 1, "{name} at {place:?}");
        }
    }
}

/// Waits until the server has the request.
async fn is_under_way(server: &Server) {
    while server.counts().under_way == 0 {
        // It sleeps because the server learns of it by a packet and has no event for it.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The least number of bytes that must arrive.
fn least(place: Place, whole: usize) -> usize {
    match place {
        Place::Head | Place::FirstChunk => 0,
        Place::Between => 1,
        Place::End => whole,
    }
}

/// The number of further bytes of the body, until none come for a while.
async fn until_nothing_comes(client: &mut Client) -> usize {
    let mut body = 0;
    while let Ok(chunk) = tokio::time::timeout(Duration::from_millis(50), client.chunk()).await {
        body += chunk.unwrap().len();
    }
    body
}

#[tokio::test]
async fn f2_bytes_trickle() {
    let server = saying().fault("a-1", Fault::Trickle(5)).start();
    let mut client = Client::of(&server).await;
    client.send(&anthropic("a-1")).await;
    client.head().await;
    let begun = Instant::now();
    let mut got = Vec::new();
    for _ in 0..8 {
        got.append(&mut client.chunk().await.unwrap());
    }
    assert_eq!(got, b"event: m");
    assert!(begun.elapsed() >= Duration::from_millis(35), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn f3_every_byte_may_be_a_packet() {
    for (name, ask) in all("a-1") {
        let (whole, bytes) = (right(&ask).await, wrong(&ask, Fault::Bytewise).await);
        assert_eq!(bytes.text(), whole.text(), "{name}");
        assert_eq!(bytes.chunks, bytes.body.len(), "{name}");
    }
}

#[tokio::test]
async fn f3_a_stream_is_cut_where_and_how_it_should() {
    for (name, ask) in all("a-1") {
        let whole = right(&ask).await.body;
        let ways = [(Break::Clean, Seen::Whole), (Break::Fin, Seen::Unfinished), (Break::Reset, Seen::Reset)];
        for (how, seen) in ways {
            for at in [0, 1, 100, whole.len() - 1, whole.len()] {
                let cut = wrong(&ask, Fault::Cut(At::Byte(at), how)).await;
                // A reset may overtake data that was sent before it.
                let is_kept = if how == Break::Reset {
                    whole[..at].starts_with(&cut.body)
                } else {
                    cut.body == whole[..at]
                };
                assert!(is_kept && cut.seen == seen, "{name} {how:?} at {at}: {:?}", cut.seen);
            }
        }
        let cut = wrong(&ask, Fault::Cut(At::EndMarker, Break::Clean)).await.text();
        let left = String::from_utf8(whole.clone()).unwrap().split_off(cut.len());
        let marker = ["message_stop", "[DONE]", "response.completed", "finishReason", "\"done\":true"];
        assert_eq!(marker.iter().filter(|it| left.contains(**it)).count(), 1, "{name}: {left}");
        let [one, two] = [1, 2].map(|seed| Fault::Cut(At::Anywhere(seed), Break::Clean));
        let lengths = [one.clone(), one, two].map(|fault| async { wrong(&ask, fault).await.body.len() });
        let [one, again, two] = futures::future::join_all(lengths).await[..] else { unreachable!() };
        assert!(one == again && one != two, "{name}: {one} {again} {two}");
    }
}

#[tokio::test]
async fn f4_noise_is_added_and_nothing_taken_away() {
    let check = |noise: Noise, stream: String, expected: &[&str]| {
        assert!(expected.iter().all(|it| stream.contains(it)), "{noise:?}: {stream}");
    };
    for noise in [
        Noise::BrokenFrame,
        Noise::UnknownEvents,
        Noise::Nul,
        Noise::Comments,
        Noise::KeepAlives,
        Noise::ByteOrderMark,
        Noise::CrLf,
        Noise::Cr,
        Noise::NoSpace,
    ] {
        let spoilt = [anthropic("a-1"), ollama("a-1")]
            .map(|ask| async move { wrong(&ask, Fault::Noise(noise)).await });
        let [events, lines] = futures::future::join_all(spoilt).await.try_into().unwrap();
        let (events, lines) = (events.text(), lines.text());
        match noise {
            Noise::BrokenFrame => {
                check(noise, events, &["data: {\"type\": \"content_block_de\n\n"]);
                check(noise, lines, &["{\"model\": \"\n"]);
            }
            Noise::UnknownEvents => {
                check(noise, events, &["event: surprise\n"]);
                check(noise, lines, &["{\"surprise\": [1]}\n"]);
            }
            Noise::Nul => {
                check(noise, events, &[": \0\0\n\n"]);
                check(noise, lines, &["\0\n"]);
            }
            Noise::Comments => {
                check(noise, events, &[": PROCESSING\n\nevent: message_start"]);
                check(noise, lines, &["\n{", "}\n\n{"]);
            }
            Noise::KeepAlives => {
                check(noise, events, &["id: 7\nretry: 5\n"]);
                check(noise, lines, &["\n  \n"]);
            }
            Noise::ByteOrderMark => {
                check(noise, events, &["\u{feff}event: message_start"]);
                check(noise, lines, &["\u{feff}{\"model\""]);
            }
            Noise::CrLf => {
                assert_eq!(events.matches('\n').count(), events.matches("\r\n").count());
                check(noise, events, &["event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n"]);
                check(noise, lines, &["}\r\n{"]);
            }
            Noise::Cr => {
                check(noise, events, &["event: message_stop\rdata: {\"type\":\"message_stop\"}\r\r"]);
                check(noise, lines, &["}\r{"]);
            }
            Noise::NoSpace => {
                check(noise, events, &["event:message_stop\ndata:{\"type\":\"message_stop\"}\n\n"]);
                check(noise, lines, &["}\n{"]);
            }
        }
    }
}

#[tokio::test]
async fn f5_how_long_to_wait_is_said_in_every_way() {
    let check = async |after: RetryAfter, seconds: Option<&str>, ms: Option<&str>| {
        for (name, ask) in all("a-1") {
            let reply = wrong(&ask, Fault::RateLimited(after)).await;
            assert_eq!(reply.status, 429, "{name}");
            assert_eq!(
                (reply.header("retry-after"), reply.header("retry-after-ms")),
                (seconds, ms),
                "{name}"
            );
        }
    };
    check(RetryAfter::Unsaid, None, None).await;
    check(RetryAfter::Seconds(7), Some("7"), None).await;
    check(RetryAfter::Millis(300), None, Some("300")).await;
    check(RetryAfter::Body(7_660), None, None).await;
    let date = wrong(&chat("a-1"), Fault::RateLimited(RetryAfter::Date(30))).await;
    assert!(date.header("retry-after").is_some_and(|it| it.ends_with(" GMT")), "{}", date.head);
    let said = |reply: &Reply| reply.json().pointer("/error/message").cloned();
    let body = wrong(&chat("a-1"), Fault::RateLimited(RetryAfter::Body(7_660))).await;
    assert_eq!(said(&body), Some(json!("Rate limit reached for requests. Please try again in 7.66s.")));
    let body = wrong(&gemini("a-1"), Fault::RateLimited(RetryAfter::Body(34_000))).await;
    assert_eq!(body.json().pointer("/error/details/0/retryDelay"), Some(&json!("34s")));
}

#[tokio::test]
async fn f6_a_burst_of_trouble_passes() {
    let server =
        saying().fault_first("a-1", 2, Fault::Status(503)).fault_at("a-1", 3, Fault::Status(529)).start();
    let mut client = Client::of(&server).await;
    let mut found = Vec::new();
    for _ in 0..4 {
        found.push(client.ask(&anthropic("a-1")).await.status);
    }
    assert_eq!(found, [503, 503, 529, 200]);
    assert_eq!(server.counts().opened, 1);
}

#[tokio::test]
async fn f6_questions_about_a_model_fail_on_their_own() {
    let server = saying().fault_probe("a-1", Fault::Status(500)).start();
    let probe = crate::client::Ask::get("/v1/models/a-1");
    assert_eq!(probe.of(&server).await.status, 500);
    assert_eq!(chat("a-1").of(&server).await.status, 200);
}

#[tokio::test]
async fn f7_malformed_answers() {
    for (name, ask) in all("a-1") {
        let html = wrong(&ask, Fault::Html).await;
        assert_eq!(
            (html.status, html.header("content-type")),
            (200, Some("text/html; charset=utf-8")),
            "{name}"
        );
        let elsewhere = wrong(&ask, Fault::Redirect(307, "http://169.254.169.254/".to_owned())).await;
        assert_eq!((elsewhere.status, elsewhere.header("location")), (307, Some("http://169.254.169.254/")));
        let error = wrong(&ask, Fault::ErrorBody).await;
        assert_eq!((error.status, error.header("content-type")), (200, Some("application/json")), "{name}");
        assert!(error.json().get("error").is_some(), "{name}");
        let event = wrong(&ask, Fault::ErrorEvent).await;
        let text = event.text();
        let last =
            text.trim_end().lines().rev().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let last = if name == "ollama" { last.lines().next().unwrap() } else { &last };
        assert_eq!(
            (event.status, event.seen, says_error(name, last)),
            (200, Seen::Whole, true),
            "{name}: {last}"
        );
        let marker = ["message_stop", "[DONE]", "response.completed", "finishReason", "\"done\":true"];
        assert!(!marker.iter().any(|it| text.contains(it)), "{name}: {text}");
        let long = wrong(&ask, Fault::TooLong).await;
        assert_eq!(long.status, 400, "{name}");
    }
}

fn says_error(name: &str, frame: &str) -> bool {
    frame.contains(match name {
        "anthropic" => "\"type\":\"overloaded_error\"",
        "openai-chat" => "{\"error\":{\"message\":",
        "openai-responses" => "{\"type\":\"error\",",
        "gemini" => "\"status\": \"INTERNAL\"",
        _ => "{\"error\":",
    })
}

#[tokio::test]
async fn f7_answers_that_are_too_much() {
    const MIB: u64 = 1 << 20;
    for (name, ask) in all("a-1") {
        let endless = wrong(&ask, Fault::Endless(MIB)).await;
        assert!(endless.body.len() as u64 > MIB && endless.chunks > 200, "{name}: {}", endless.chunks);
        let tiny = wrong(&ask, Fault::Tiny(10_000)).await;
        assert!(tiny.chunks >= 10_000, "{name}: {}", tiny.chunks);
        let line = wrong(&ask, Fault::OneLine(MIB)).await;
        let longest = line.body.split(|it| *it == b'\n').map(<[u8]>::len).max();
        assert!(longest.is_some_and(|it| it as u64 > MIB), "{name}: {longest:?}");
        let packed = wrong(&ask, Fault::Gzip(100 * MIB)).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{name}");
        assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < MIB as usize, "{name}");
    }
}

#[tokio::test]
async fn f8_every_field_may_be_hostile() {
    for (name, ask) in all("a-1") {
        let reply = wrong(&ask, Fault::Hostile).await;
        assert!(reply.body.windows(2).any(|it| it == b"\xff\xfe"), "{name} has bytes that are no text");
        // Half a surrogate pair isn't valid JSON either; a lenient reader sees what was meant.
        let text = String::from_utf8_lossy(&reply.body).replace("\\ud83d", "\u{fffd}");
        let quoted = Value::from(Fault::HOSTILE).to_string();
        let fields = text.matches(quoted.trim_matches('"')).count();
        assert!(fields >= 3, "{name}: {fields} in {text}");
    }
}

#[tokio::test]
async fn s1_a_vendor_may_repeat_the_key() {
    let server = saying().fault("a-1", Fault::EchoesKey).start();
    let reply = anthropic("a-1").with("x-api-key", "sk-canary").of(&server).await;
    assert_eq!(reply.status, 401);
    assert!(reply.text().contains("sk-canary"), "{}", reply.text());
}

#[tokio::test]
async fn answers_come_at_their_pace() {
    let server = saying().takes("a-1", 40, 20, 3).start();
    let begun = Instant::now();
    let mut client = Client::of(&server).await;
    client.send(&chat("a-1")).await;
    client.head().await;
    let first = begun.elapsed();
    let mut pieces = 0;
    while let Some(chunk) = client.chunk().await.filter(|it| !it.is_empty()) {
        pieces += usize::from(String::from_utf8(chunk).unwrap().contains("\"delta\":{\"content\""));
    }
    let whole = begun.elapsed();
    assert_eq!(pieces, 3);
    assert!(first >= Duration::from_millis(40) && whole >= Duration::from_millis(80), "{first:?} {whole:?}");
}
