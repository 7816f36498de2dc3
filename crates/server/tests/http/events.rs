//! Live events: resumed from any event, joined at any time, read at any pace (F11).

use std::time::Duration;

use quorum_server::Limits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{ANN, BOB, FAST, Stream, TestServer, answered, events, order, slow, tenants};

fn is_long() -> bool {
    std::env::var_os("QUORUM_LONG").is_some()
}

fn numbers(text: &str) -> Vec<u64> {
    events(text).iter().filter_map(|it| it.0).collect()
}

#[tokio::test]
async fn f11_events_are_replayed_from_anywhere_without_gap_or_repeat() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let path = format!("/api/discussions/{id}/events");
    let all = numbers(&server.get(&path).await.text);
    assert!(all.is_sorted() && all.len() > 5, "{all:?}");
    for (place, last) in all.iter().enumerate() {
        let by_query = server.get(&format!("{path}?after={last}")).await;
        let by_header = answered(server.request("GET", &path).header("last-event-id", *last)).await;
        let rest = &all[place + 1..];
        assert_eq!((numbers(&by_query.text).as_slice(), numbers(&by_header.text).as_slice()), (rest, rest));
        let expected = if rest.is_empty() { 204 } else { 200 };
        assert_eq!((by_query.status.as_u16(), by_header.status.as_u16()), (expected, expected));
    }
    let facts = events(&server.get(&format!("{path}?view=facts")).await.text);
    assert_eq!(facts[0].2["type"], "opened");
    assert!(facts.iter().zip(1..).all(|((id, name, _), number)| *id == Some(number) && name == "fact"));
}

/// Whether a text for people contains the data of a form.
fn has_data(text: &str) -> bool {
    ["[STRUCTURE", "\"claims\"", "\"choice\"", "\"agreements\""].iter().any(|it| text.contains(it))
}

#[tokio::test]
async fn the_synthesis_streamed_as_json() {
    let server = TestServer::open(FAST).await;
    let (topic, simulate) = ("Tabs or spaces?", json!({ "latencyMs": 100 }));
    for order in [
        json!({ "topic": topic, "providers": ["claude", "gemini"], "rounds": 1, "simulate": simulate }),
        json!({ "topic": topic, "pattern": "voting", "votingOptions": ["tabs", "spaces"], "rounds": 1, "simulate": simulate,
                "providers": ["claude", "gemini"], "consensus": "synthesis" }),
    ] {
        let id = server.ordered(&order).await;
        let told = events(&server.get(&format!("/api/discussions/{id}/events")).await.text);
        let of = |name: &'static str| told.iter().filter(move |it| it.1 == name).map(|it| &it.2);
        let mut streamed = String::new();
        for chunk in of("turn-chunk").filter(|it| it["step"].as_str().unwrap().contains("/deciding/")) {
            if chunk["offset"] == 0 {
                streamed.clear();
            }
            streamed += chunk["chunk"].as_str().unwrap();
        }
        let contents: Vec<&str> =
            of("turn-completed").map(|it| it["turn"]["content"].as_str().unwrap()).collect();
        let shown = of("turn-chunk").map(|it| it["chunk"].as_str().unwrap()).chain(contents.iter().copied());
        assert!(!shown.clone().any(has_data), "{:?}", shown.collect::<Vec<_>>());
        let synthesis = of("discussion-completed").next().unwrap()["synthesis"].as_str().unwrap();
        assert_eq!(contents.last(), Some(&synthesis));
        assert!(!streamed.is_empty() && synthesis.starts_with(&streamed), "{streamed}");
    }
}

/// A discussion that runs for a while, in small steps.
fn long(rounds: u32) -> Value {
    json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": rounds,
        "providers": ["claude", "gemini", "qwen", "glm"], "simulate": { "latencyMs": 3 },
    })
}

/// Reconnects until all events were received: reads a part of the stream, disconnects, and resumes
/// after the last number.
async fn wander(server: &TestServer, path: &str, pace: usize) -> (Vec<u64>, usize) {
    let (mut told, mut visits): (Vec<u64>, usize) = (Vec::new(), 0);
    loop {
        let mut request = server.request("GET", path);
        if let Some(last) = told.last() {
            request = request.header("last-event-id", *last);
        }
        let mut stream = Stream::open(request).await;
        if stream.status == 204 {
            return (told, visits);
        }
        let text = stream.until(|it| it.matches("\nid: ").count() > (visits + pace) % 3).await;
        told.extend(numbers(text.rfind("\n\n").map_or("", |end| &text[..end])));
        visits += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_reconnecting_again_and_again_misses_and_repeats_nothing() {
    let server = TestServer::open(FAST).await;
    let (mut heard, mut reconnects) = (0, 0);
    let (wanted, wanderers) = if is_long() { (10_000, 40) } else { (150, 4) };
    while reconnects < wanted {
        let id = server.ordered(&long(10)).await;
        let path = format!("/api/discussions/{id}/events");
        let all = futures::future::join_all((0..wanderers).map(|it| wander(&server, &path, it))).await;
        let expected = numbers(&server.get(&path).await.text);
        for (told, visits) in all {
            assert_eq!(told, expected);
            (heard, reconnects) = (heard + told.len(), reconnects + visits);
        }
    }
    println!("{reconnects} reconnects, {heard} events, no gap, no repeat");
}

#[tokio::test]
async fn f11_a_watcher_that_joins_within_a_turn_gets_the_text_so_far() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&slow()).await;
    let path = format!("/api/discussions/{id}/events");
    let has_chunks = |text: &str, number: usize| text.matches("event: turn-chunk").count() >= number;
    let mut first = Stream::open(server.request("GET", &path)).await;
    let heard = first.until(|it| has_chunks(it, 3)).await;
    let mut second = Stream::open(server.request("GET", &path)).await;
    let joined = second.until(|it| has_chunks(it, 2)).await;
    let chunks = |text: &str| -> Vec<Value> {
        let whole = &text[..text.rfind("\n\n").unwrap()];
        events(whole).into_iter().filter(|it| it.1 == "turn-chunk").map(|it| it.2).collect()
    };
    let (before, late) = (chunks(&heard), chunks(&joined));
    let so_far = late[0]["chunk"].as_str().unwrap();
    let pieces: String = before.iter().take(3).map(|it| it["chunk"].as_str().unwrap()).collect();
    assert_eq!(late[0]["offset"], 0);
    assert!(so_far.starts_with(&pieces), "{so_far:?} should begin with {pieces:?}");
    assert_eq!(late[1]["offset"], json!(so_far.len()));
    assert_eq!(late[0]["step"], before[0]["step"]);
    server.post(&format!("/api/discussions/{id}/abort"), &json!({})).await;
}

#[tokio::test]
async fn f11_many_watchers_of_one_discussion_get_the_same_events() {
    let server = TestServer::open(FAST).await;
    let watchers = if is_long() { 1_000 } else { 60 };
    let id = server.ordered(&long(2)).await;
    let path = format!("/api/discussions/{id}/events");
    let all = futures::future::join_all((0..watchers).map(|_| server.get(&path))).await;
    let expected = numbers(&server.get(&path).await.text);
    for one in &all {
        assert_eq!(numbers(&one.text), expected);
    }
}

#[tokio::test]
async fn f11_a_slow_reader_loses_no_fact_and_delays_no_one() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&long(4)).await;
    let path = format!("/api/discussions/{id}/events");
    let mut slow = Stream::open(server.request("GET", &path)).await;
    let quick = server.get(&path).await.text;
    assert!(quick.contains("discussion-completed"));
    assert_eq!(numbers(&slow.rest().await), numbers(&quick));
}

#[tokio::test]
async fn a_silent_stream_says_that_it_lives() {
    let limits = Limits { silence: Duration::from_millis(50), ..Default::default() };
    let server = TestServer::with(FAST, limits).await;
    let table = json!({
        "topic": "What shall we build?", "pattern": "roundtable", "participants": ["claude", "me:person"],
    });
    let id = server.ordered(&table).await;
    let mut stream = Stream::open(server.request("GET", &format!("/api/discussions/{id}/events"))).await;
    let text = stream.until(|it| it.matches(": keep-alive\n\n").count() >= 2).await;
    assert!(text.contains("event: turn-started"), "{text}");
}

#[tokio::test]
async fn a_stream_ends_when_its_discussion_is_removed() {
    let server = TestServer::open(FAST).await;
    let table = json!({
        "topic": "What shall we build?", "pattern": "roundtable", "participants": ["claude", "me:person"],
    });
    let id = server.ordered(&table).await;
    while server.state(&id).await["awaiting"].as_array().unwrap().is_empty() {}
    let path = format!("/api/discussions/{id}/events");
    let mut watcher = Stream::open(server.request("GET", &path)).await;
    watcher.until(|it| it.contains("event: ")).await;
    let mut removed = 0;
    while removed != 204 {
        // The process that ran it may not have released it yet.
        removed = answered(server.request("DELETE", &format!("/api/discussions/{id}"))).await.status.as_u16();
    }
    assert!(!watcher.rest().await.contains("discussion-completed"));
    assert_eq!(server.get(&path).await.status, 404);
}

#[tokio::test]
async fn s10_a_client_that_reads_nothing_is_disconnected_and_frees_its_slot() {
    let limits = Limits { connections: 1, stall_time: Duration::from_millis(300), ..Limits::default() };
    let server = TestServer::with(FAST, limits).await;
    let address = server.base.trim_start_matches("http://").to_owned();
    let mut idler = TcpStream::connect(&address).await.unwrap();
    // More than the network buffers hold, requested and never read.
    let wanted = format!("GET /openapi.json HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(400);
    idler.write_all(wanted.as_bytes()).await.unwrap();
    assert_eq!(server.get("/healthz").await.status, 200);
    let mut got = Vec::new();
    let _ = idler.read_to_end(&mut got).await;
    let whole = String::from_utf8_lossy(&got).matches("HTTP/1.1 200 OK").count();
    assert!(whole < 400, "all {whole} were sent to somebody who did not read");
}

#[tokio::test]
async fn s10_one_tenant_leaves_streams_to_the_others() {
    let limits = Limits { streams: 4, burst: 1_000, ..Limits::default() };
    let server = TestServer::with(&tenants(), limits).await;
    let start = async |token: &str| -> String {
        let id = answered(server.posting("/api/discussions", &slow()).bearer_auth(token)).await.id();
        format!("/api/discussions/{id}/events")
    };
    let (anns, bobs) = (start(ANN).await, start(BOB).await);
    let mut open = Vec::new();
    for _ in 0..3 {
        let stream = server.request("GET", &anns).bearer_auth(ANN).send().await.unwrap();
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }
    assert_eq!(answered(server.request("GET", &anns).bearer_auth(ANN)).await.status, 429);
    let other = server.request("GET", &bobs).bearer_auth(BOB).send().await.unwrap();
    assert_eq!(other.status(), 200);
}
