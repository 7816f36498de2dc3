//! Oversized input gets a small answer at once and delays no other request.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::harness::{FAST, TestServer, on_its_own};

/// The maximum length of a refusal, for any input.
const LONGEST_ANSWER: usize = 16 << 10;

/// Far more than a bounded order takes, far less than the attacks took.
const SOON: Duration = Duration::from_secs(10);

fn seats_of_one_name(count: usize) -> Value {
    json!({ "topic": "x?", "providers": vec!["a"; count] })
}

fn names_and_roles(count: usize) -> Value {
    let names: Vec<String> = (0..count).map(|it| format!("name{it:05}")).collect();
    let roles: Map<String, Value> =
        (0..count).map(|it| (format!("stranger{it:05}"), json!(format!("role{it:05}")))).collect();
    json!({ "topic": "x?", "providers": names, "roles": roles })
}

#[tokio::test]
async fn four_thousand_seats_of_one_name_are_refused_in_proportion_to_their_size() {
    let server = TestServer::open(FAST).await;
    let answer = tokio::time::timeout(SOON, server.post("/api/discussions", &seats_of_one_name(4_000))).await;
    let problem = answer.unwrap().json();
    let expected = json!([{
        "field": "providers", "pointer": "#/providers", "code": "DISCUSSION_INVALID_REQUEST",
        "message": "may have at most 6 entries; there are 4000",
    }]);
    assert_eq!((&problem["status"], &problem["fields"]), (&json!(400), &expected));
}

#[tokio::test]
async fn a_hundred_kib_of_names_and_roles_make_a_small_answer() {
    let server = TestServer::open(FAST).await;
    let order = names_and_roles(2_600);
    assert!(order.to_string().len() > 100 << 10);
    for path in ["/api/discussions", "/api/plan"] {
        let answer = tokio::time::timeout(SOON, server.post(path, &order)).await.unwrap();
        assert_eq!(answer.status, 400);
        assert!(answer.text.len() < LONGEST_ANSWER, "{path}: {} bytes", answer.text.len());
    }
}

#[test]
fn two_hostile_orders_leave_healthz_answering() {
    let attacked = async {
        let mut server = TestServer::open(FAST).await;
        let order = seats_of_one_name(7_300);
        assert!(order.to_string().len() > 28 << 10);
        let hostile = || async { server.post("/api/discussions", &order).await.status };
        let healthy = async { server.get("/healthz").await.status };
        let answers = tokio::time::timeout(SOON, async { tokio::join!(hostile(), hostile(), healthy) });
        let (first, second, health) = answers.await.unwrap();
        assert_eq!((first.as_u16(), second.as_u16(), health.as_u16()), (400, 400, 200));
        tokio::time::timeout(SOON, server.close()).await.unwrap();
    };
    on_its_own(attacked);
}

#[tokio::test]
async fn a_refusal_is_short_whatever_is_wrong() {
    let server = TestServer::open(FAST).await;
    let long = "n".repeat(128);
    let seats: Vec<String> = (0..6).map(|it| format!("{}{it}", &long[1..])).collect();
    let strangers: Map<String, Value> =
        (0..6).map(|it| (format!("{}x{it}", &long[2..]), json!(long.clone()))).collect();
    let unknown: Map<String, Value> =
        (0..80).map(|it| (format!("{it:02}{}", &long[2..]), json!(1))).collect();
    let mut everything = json!({
        "topic": "x?", "providers": seats, "roles": strangers, "providerPrompts": strangers,
        "stopSequences": { "a": ["END"] }, "judge": long, "synthesizer": long, "pattern": long, "consensus": long,
        "windowStrategy": long, "windowOverflow": long, "timeoutStrategy": long, "sessionId": long,
        "simulate": { "dead": seats },
    });
    everything.as_object_mut().unwrap().extend(unknown);
    let answer = server.post("/api/discussions", &everything).await;
    let problem = answer.json();
    assert_eq!(answer.status, 400, "{problem}");
    let fields = problem["fields"].as_array().unwrap();
    assert_eq!(fields.len(), 21, "{problem}");
    assert_eq!(fields[20]["field"], "request");
    assert!(answer.text.len() < LONGEST_ANSWER, "{} bytes", answer.text.len());
}

#[tokio::test]
async fn quotes_in_a_refusal_are_cut() {
    let server = TestServer::open(FAST).await;
    let long = "x".repeat(100_000);
    let key = json!({ "topic": "x?", (&*long): 1 });
    let id = format!("/api/discussions/{}/state", "x".repeat(20_000));
    let query = format!("/api/discussions?{}=1", "x".repeat(20_000));
    let format = format!("/api/discussions?limit={}", "x".repeat(20_000));
    for answer in [
        server.post("/api/discussions", &key).await,
        server.post("/api/sessions", &key).await,
        server.post("/api/sessions", &json!({ "name": [long] })).await,
        server.get(&id).await,
        server.get(&query).await,
        server.get(&format).await,
    ] {
        assert!(answer.status.is_client_error(), "{}", answer.status);
        assert!(answer.text.len() < LONGEST_ANSWER, "{} bytes", answer.text.len());
    }
}
