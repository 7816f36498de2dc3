//! Live events: replayed from anywhere, joined at any moment, read at any pace (F11).

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{FAST, House, events, order, slow};

fn is_long() -> bool {
    std::env::var_os("QUORUM_LONG").is_some()
}

fn numbers(text: &str) -> Vec<u64> {
    events(text).iter().filter_map(|it| it.0).collect()
}

#[tokio::test]
async fn f11_events_are_replayed_from_anywhere_without_gap_or_repeat() {
    let house = House::open(FAST).await;
    let id = house.held(&order()).await;
    let path = format!("/api/discussions/{id}/events");
    let all = numbers(&house.get(&path).await.text);
    assert!(all.is_sorted() && all.len() > 5, "{all:?}");
    for (place, last) in all.iter().enumerate() {
        let by_query = house.get(&format!("{path}?after={last}")).await;
        let by_header =
            crate::harness::answered(house.request("GET", &path).header("last-event-id", *last)).await;
        let rest = &all[place + 1..];
        assert_eq!((numbers(&by_query.text).as_slice(), numbers(&by_header.text).as_slice()), (rest, rest));
        let expected = if rest.is_empty() { 204 } else { 200 };
        assert_eq!((by_query.status.as_u16(), by_header.status.as_u16()), (expected, expected));
    }
    let facts = events(&house.get(&format!("{path}?view=facts")).await.text);
    assert_eq!(facts[0].2["type"], "opened");
    assert!(facts.iter().zip(1..).all(|((id, name, _), number)| *id == Some(number) && name == "fact"));
}

/// A discussion that goes on for a while, in small steps.
fn long(rounds: u32) -> Value {
    json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": rounds,
        "providers": ["claude", "gemini", "qwen", "glm"], "simulate": { "latencyMs": 3 },
    })
}

#[tokio::test]
async fn f11_reconnecting_again_and_again_misses_nothing_and_hears_nothing_twice() {
    let house = House::open(FAST).await;
    let (mut heard, mut reconnects) = (0, 0);
    let wanted = if is_long() { 10_000 } else { 150 };
    while reconnects < wanted {
        let id = house.ordered(&long(10)).await;
        let path = format!("/api/discussions/{id}/events");
        let (mut told, mut last): (Vec<u64>, Option<u64>) = (Vec::new(), None);
        loop {
            let mut request = house.request("GET", &path);
            if let Some(last) = last {
                request = request.header("last-event-id", last);
            }
            let mut response = request.send().await.unwrap();
            if response.status() == 204 {
                break;
            }
            let mut text = String::new();
            // A bit of the stream, then away; every time a bit more.
            while text.matches("\nid: ").count() < 1 + reconnects % 3 {
                let Some(chunk) = response.chunk().await.unwrap() else { break };
                text.push_str(std::str::from_utf8(&chunk).unwrap());
            }
            let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
            told.extend(numbers(whole));
            last = told.last().copied();
            reconnects += 1;
        }
        let all = numbers(&house.get(&path).await.text);
        assert_eq!(told, all);
        heard += told.len();
    }
    println!("{reconnects} reconnects, {heard} events, no gap, no repeat");
}

#[tokio::test]
async fn f11_who_joins_in_the_middle_of_a_turn_gets_the_text_so_far() {
    let house = House::open(FAST).await;
    let id = house.ordered(&slow()).await;
    let path = format!("/api/discussions/{id}/events");
    let mut first = house.request("GET", &path).send().await.unwrap();
    let mut heard = String::new();
    while heard.matches("event: turn-chunk").count() < 3 {
        heard.push_str(std::str::from_utf8(&first.chunk().await.unwrap().unwrap()).unwrap());
    }
    let mut second = house.request("GET", &path).send().await.unwrap();
    let mut joined = String::new();
    while joined.matches("event: turn-chunk").count() < 2 {
        joined.push_str(std::str::from_utf8(&second.chunk().await.unwrap().unwrap()).unwrap());
    }
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
    house.post(&format!("/api/discussions/{id}/abort"), &json!({})).await;
}

#[tokio::test]
async fn f11_many_watch_one_discussion_and_all_hear_the_same() {
    let house = House::open(FAST).await;
    let watchers = if is_long() { 1_000 } else { 60 };
    let id = house.ordered(&long(2)).await;
    let path = format!("/api/discussions/{id}/events");
    let all = futures::future::join_all((0..watchers).map(|_| house.get(&path))).await;
    let expected = numbers(&house.get(&path).await.text);
    for one in &all {
        assert_eq!(numbers(&one.text), expected);
    }
}

#[tokio::test]
async fn f11_a_slow_reader_loses_no_fact_and_holds_nobody_up() {
    let house = House::open(FAST).await;
    let id = house.ordered(&long(4)).await;
    let path = format!("/api/discussions/{id}/events");
    let mut slow = house.request("GET", &path).send().await.unwrap();
    let quick = house.get(&path).await.text;
    assert!(quick.contains("discussion-completed"));
    let mut text = String::new();
    while let Some(chunk) = slow.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert_eq!(numbers(&text), numbers(&quick));
}

#[tokio::test]
async fn a_silent_stream_says_that_it_lives() {
    let limits = quorum_server::Limits { silence: Duration::from_millis(50), ..Default::default() };
    let house = House::with(FAST, limits).await;
    let table = json!({
        "topic": "What shall we build?", "pattern": "roundtable", "participants": ["claude", "me:person"],
    });
    let id = house.ordered(&table).await;
    let mut response = house.request("GET", &format!("/api/discussions/{id}/events")).send().await.unwrap();
    let mut text = String::new();
    while text.matches(": keep-alive\n\n").count() < 2 {
        text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
}
