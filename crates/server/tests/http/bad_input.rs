//! Invalid input is answered with a 4xx that says what is wrong, and changes nothing (S10).

use std::{collections::BTreeSet, time::Duration};

use quorum_server::Limits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{FAST, TestServer, answered, order};

async fn refused(server: &TestServer, request: reqwest::RequestBuilder, status: u16, code: &str, says: &str) {
    let answer = answered(request).await;
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    let problem = answer.json();
    assert_eq!((&problem["status"], &problem["code"]), (&json!(status), &json!(code)), "{problem}");
    assert!(answer.text.contains(says), "{says:?} is not in {problem}");
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn every_bad_order_names_its_field_and_orders_nothing() {
    let server = TestServer::open(FAST).await;
    let with = |field: &str, value: Value| {
        let mut order = order();
        order[field] = value;
        order
    };
    let invalid = "DISCUSSION_INVALID_REQUEST";
    for (body, code, says) in [
        (json!({}), invalid, "\"field\":\"topic\""),
        (json!([]), invalid, "\"field\":\"body\""),
        (json!(["Tabs or spaces?"]), invalid, "expected an object"),
        (json!("topic"), invalid, "\"field\":\"body\""),
        (with("topic", json!("")), invalid, "\"field\":\"topic\""),
        (with("topic", json!("x".repeat(5_001))), invalid, "5000"),
        (with("rounds", json!(11)), invalid, "\"field\":\"rounds\""),
        (with("rounds", json!(-1)), invalid, "\"field\":\"rounds\""),
        (with("rounds", json!(1.5)), invalid, "\"field\":\"rounds\""),
        (with("rounds", json!(1e99)), invalid, "\"field\":\"rounds\""),
        (with("pattern", json!("dance")), "DISCUSSION_INVALID_PATTERN", "there is no pattern named dance"),
        (with("consensus", json!("dice")), invalid, "\"field\":\"consensus\""),
        (with("providers", json!(["claude"])), invalid, "\"field\":\"providers\""),
        (with("providers", json!("claude")), invalid, "\"field\":\"providers\""),
        (with("threshold", json!(2)), invalid, "\"field\":\"threshold\""),
        (with("sessionId", json!("here")), invalid, "\"field\":\"sessionId\""),
        (with("synthesizer", json!("")), invalid, "must be a participant's name"),
        (with("maxCost", json!(-1)), invalid, "\"field\":\"maxCost\""),
        (with("nobody", json!(1)), invalid, "\"field\":\"nobody\""),
    ] {
        refused(&server, server.posting("/api/discussions", &body), 400, code, says).await;
    }
    // Each field of these is valid by itself.
    let session = with("sessionId", json!("01890000-0000-7000-8000-0000000000ff"));
    for (body, code, says) in [
        (session, "DISCUSSION_UNKNOWN_SESSION", "sessionId"),
        (with("simulate", json!({ "dead": ["eve"] })), invalid, "eve"),
    ] {
        refused(&server, server.posting("/api/discussions", &body), 409, code, says).await;
    }
}

#[tokio::test]
async fn every_refusal_points_at_the_mistake() {
    let server = TestServer::open(FAST).await;
    let check = async |path: &str, body: Vec<u8>, pointer: &str, says: &str| {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let post = server.request("POST", path).header("content-type", "application/json").body(body);
        let answer = answered(post).await;
        assert_eq!(answer.status, 400, "{shown}: {}", answer.text);
        let field = answer.json()["fields"][0].clone();
        assert_eq!(field["pointer"], pointer, "{shown}: {}", answer.text);
        assert!(field["message"].as_str().unwrap().contains(says), "{shown}: {}", answer.text);
    };
    for (body, pointer, says) in [
        (r#"{"topic":5}"#, "#/topic", "expected a string"),
        (r#"{"topic":"a","nobody":1}"#, "#/nobody", "there is no such field"),
        (r#"{"topic":"a","topic":"b"}"#, "#/topic", "duplicate field"),
        (r#"{"topic":"a","rounds":1e400}"#, "#/rounds", "number out of range"),
        (r#"{"topic":"a","rounds":99999999999999999999999}"#, "#/rounds", "expected a whole number"),
        (r#"{"topic":"a","temperature":NaN}"#, "#/temperature", "expected value"),
        (r#"{"topic":"a","temperature":"x"}"#, "#/temperature", "expected a number"),
        (r#"{"topic":"\ud800"}"#, "#/topic", "hex escape"),
        ("{\"topic\":\"\u{0}\"}", "#/topic", "control character"),
        (r#"{"topic":"a","providers":["claude",5]}"#, "#/providers/1", "expected a string"),
        (r#"{"topic":"a","roles":{"claude":5}}"#, "#/roles/claude", "expected a string"),
        (r#"{"topic":"a","participants":[5]}"#, "#/participants/0", "me:person"),
        (r#"{"topic":"a","simulate":5}"#, "#/simulate", "expected an object"),
        (r#"{"topic":"a","simulate":{"speed":5}}"#, "#/simulate/speed", "unknown field"),
        (r#"{"topic":"a"}x"#, "#", "trailing characters"),
        ("null", "#", "expected an object"),
        ("   ", "#", "EOF"),
        ("[\"a\"]", "#", "expected an object"),
    ] {
        check("/api/discussions", body.into(), pointer, says).await;
    }
    check("/api/discussions", b"{\"topic\":\"\xff\"}".to_vec(), "#/topic", "unicode").await;
    let deep = |open: &str, close: &str| open.repeat(10_000) + "1" + &close.repeat(10_000);
    check("/api/discussions", deep("[", "]").into(), "#", "expected an object").await;
    let deepest = format!("#{}", "/a".repeat(127));
    check("/api/discussions", deep("{\"a\":", "}").into(), &deepest, "recursion limit").await;
    for (body, pointer, says) in [
        (r#"{"prompt":"a","modelA":["x","openai"]}"#, "#/modelA", "expected an object"),
        (r#"{"prompt":"a","modelA":{"modelId":5}}"#, "#/modelA/modelId", "expected a string"),
        (r#"{"prompt":"a","options":[3]}"#, "#/options", "expected an object"),
        (r#"{"prompt":"a","options":{"temperature":"x"}}"#, "#/options/temperature", "expected a number"),
        (r#"{"modelA":{"modelId":"x","providerId":"nope"}}"#, "#/prompt", "Prompt is required"),
    ] {
        check("/api/discussion", body.into(), pointer, says).await;
    }
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));

    let id = server.held(&order()).await;
    for (way, body, pointer, says) in [
        ("rating", "[5]", "#", "expected an object"),
        ("outcome", "[5]", "#", "expected an object"),
        ("outcome", r#"{"answer":7}"#, "#/answer", "expected a string"),
        ("outcome", r#"{"answer":"tabs","at":1}"#, "#/at", "unknown field"),
        ("outcome", r#"{"answer":""}"#, "#/answer", "must have 1 to"),
        ("rating", r#"{"rating":1e300}"#, "#/rating", "must be 1, 2, 3, 4 or 5"),
        ("rating", r#"{"rating":4.5}"#, "#/rating", "not 4.5"),
        ("pause", "[]", "#", "expected an object"),
        ("pause", r#"{"at":1}"#, "#/at", "unknown field"),
        ("again", r#"{"topic":5}"#, "#/topic", "expected a string"),
        ("again", r#"{"topic":""}"#, "#/topic", "is empty"),
        ("fork", r#"{"at":"x","changes":{"topic":""}}"#, "#/changes/topic", "is empty"),
        ("again", r#"{"judge":""}"#, "#/judge", "must be a participant's name, not \"\""),
        ("again", r#"{"rounds":1,"rounds":2}"#, "#/rounds", "duplicate field"),
        ("again", r#"{"rounds":11}"#, "#/rounds", "10"),
        ("fork", r#"{"at":"x","changes":{"topic":5}}"#, "#/changes/topic", "expected a string"),
        ("fork", r#"{"at":"x","changes":[]}"#, "#/changes", "expected an object"),
        ("note", r#"{"text":""}"#, "#/text", "must have 1 to"),
    ] {
        check(&format!("/api/discussions/{id}/{way}"), body.into(), pointer, says).await;
    }
    let query = server.get("/api/discussions?limit=x").await.json()["fields"][0].clone();
    assert_eq!((&query["field"], &query["pointer"]), (&json!("limit"), &Value::Null));
}

#[tokio::test]
async fn nested_values_are_read_as_strictly_as_fields() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let again = format!("/api/discussions/{id}/again");
    let check = async |inside: &str, pointer: &str, says: &str| {
        for path in ["/api/discussions", &again] {
            let body = format!(r#"{{"topic":"a",{inside}}}"#);
            let post = server.request("POST", path).header("content-type", "application/json").body(body);
            let answer = answered(post).await;
            assert_eq!(answer.status, 400, "{path}: {inside}: {}", answer.text);
            let field = answer.json()["fields"][0].clone();
            assert_eq!(field["pointer"], pointer, "{path}: {inside}: {}", answer.text);
            assert_eq!(field["message"], says, "{path}: {inside}");
        }
    };
    check(r#""round":3"#, "#/round", "there is no such field; did you mean `rounds`?").await;
    check(
        r#""simulate":{"latencyMS":3}"#,
        "#/simulate/latencyMS",
        "unknown field `latencyMS`; did you mean `latencyMs`?",
    )
    .await;
    check(
        r#""positions":[{"participant":"claude","position":"x","personna":"y"}]"#,
        "#/positions",
        "has an unknown key \"personna\"; a row has participant, position, persona, keyArguments",
    )
    .await;
    check(
        r#""participants":["claude",{"person":"me","usr":"ann"}]"#,
        "#/participants/1/usr",
        "unknown field `usr`; did you mean `user`?",
    )
    .await;
    let no_list = "invalid type: list, expected an object";
    check(r#""simulate":[3]"#, "#/simulate", no_list).await;
    let no_row = "has [\"claude\",\"x\"] where an object belongs";
    check(r#""positions":[["claude","x"]]"#, "#/positions", no_row).await;
    check(r#""roles":["claude"]"#, "#/roles", no_list).await;
    check(
        r#""participants":[["me","ann"]]"#,
        "#/participants/0",
        "invalid type: list, expected who takes part: \"claude\", \"claude/MODEL\", \"reviewer:agent\", \
         \"me:person\", or an object with type and id or with person and user",
    )
    .await;
    let twice = "duplicate field `claude`";
    check(r#""roles":{"claude":"judge","claude":"opponent"}"#, "#/roles/claude", twice).await;
    check(r#""providerPrompts":{"claude":"x","claude":"y"}"#, "#/providerPrompts/claude", twice).await;
    check(r#""stopSequences":{"claude":[],"claude":[]}"#, "#/stopSequences/claude", twice).await;
    check(r#""simulate":{"failure":0,"failure":1}"#, "#/simulate/failure", "duplicate field `failure`").await;
}

#[tokio::test]
async fn all_unknown_fields_are_reported_at_once() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let check = async |request: reqwest::RequestBuilder, expected: &[(&str, &str)]| {
        let answer = answered(request).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let problem = answer.json();
        let told = problem["fields"].as_array().unwrap().iter();
        let told: Vec<(String, String)> = told
            .map(|it| (it["field"].as_str().unwrap().to_owned(), it["message"].as_str().unwrap().to_owned()))
            .collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(field, message)| ((*field).to_owned(), (*message).to_owned())).collect();
        assert_eq!(told, expected);
        let all = expected.iter().all(|(field, _)| problem["detail"].as_str().unwrap().contains(field));
        assert!(all, "{problem}");
    };
    let of = |tail: &str| format!("/api/discussions/{id}/{tail}");
    check(
        server.posting(&of("say"), &json!({ "txt": "x", "participent": "me", "colour": "red" })),
        &[
            ("txt", "unknown field `txt`; did you mean `text`?"),
            ("participent", "unknown field `participent`; did you mean `participant`?"),
            ("colour", "unknown field `colour`"),
        ],
    )
    .await;
    check(
        server.posting(
            "/api/discussions",
            &json!({ "topic": "x", "simulate": { "latencyMS": 3, "sped": 1 }, "round": 3 }),
        ),
        &[
            ("simulate.latencyMS", "unknown field `latencyMS`; did you mean `latencyMs`?"),
            ("round", "unknown field `round`; did you mean `rounds`?"),
            ("simulate.sped", "unknown field `sped`"),
        ],
    )
    .await;
    check(
        server.posting("/api/discussions", &json!({ "topic": "x", "round": 3, "patern": "debate" })),
        &[
            ("patern", "there is no such field; did you mean `pattern`?"),
            ("round", "there is no such field; did you mean `rounds`?"),
        ],
    )
    .await;
    check(
        server.posting(&of("fork"), &json!({ "at": "x", "change": {}, "wthout": [] })),
        &[
            ("change", "unknown field `change`; did you mean `changes`?"),
            ("wthout", "unknown field `wthout`; did you mean `without`?"),
        ],
    )
    .await;
    check(
        server.request("GET", "/api/discussions?limt=3&sessionID=x&limit=5"),
        &[
            ("limt", "unknown field `limt`; did you mean `limit`?"),
            ("sessionID", "unknown field `sessionID`; did you mean `sessionId`?"),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_wrong_method_is_answered_with_allow() {
    let server = TestServer::open(FAST).await;
    for (method, path, status, allow) in [
        ("HEAD", "/api/discussions", 200, None),
        ("HEAD", "/healthz", 200, None),
        ("OPTIONS", "/api/discussions", 405, Some("GET,HEAD,POST")),
        ("OPTIONS", "/api/discussion", 405, Some("POST")),
        ("PUT", "/metrics", 405, Some("GET,HEAD")),
        ("TRACE", "/openapi.json", 405, Some("GET,HEAD")),
        ("HEAD", "/api/discussion", 405, Some("POST")),
    ] {
        let answer = answered(server.request(method, path)).await;
        let told = answer.headers.get("allow").map(|it| it.to_str().unwrap());
        assert_eq!((answer.status.as_u16(), told), (status, allow), "{method} {path}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() {
    let server = TestServer::open(FAST).await;
    let post = |body: &str| {
        server
            .request("POST", "/api/discussions")
            .header("content-type", "application/json")
            .body(body.to_owned())
    };
    let invalid = "DISCUSSION_INVALID_REQUEST";
    let deep = format!("{{\"topic\":{}", "[".repeat(100_000));
    for body in ["{", "{\"topic\":\"a\"", "nil", "\0"] {
        refused(&server, post(body), 400, invalid, "body").await;
    }
    refused(&server, post(&deep), 400, invalid, "topic").await;
    let bytes = server.request("POST", "/api/discussions").header("content-type", "application/json");
    refused(&server, bytes.body(vec![b'"', 0xff, b'"']), 400, invalid, "").await;
    let plain = |kind: &'static str| {
        server.request("POST", "/api/discussions").header("content-type", kind).body(order().to_string())
    };
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", ""]
    {
        refused(&server, plain(kind), 415, "UNSUPPORTED_MEDIA_TYPE", "application/json").await;
    }
    let packed = server.posting("/api/discussions", &order()).header("content-encoding", "gzip");
    refused(&server, packed, 415, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding").await;
    let twice = server.posting("/api/discussions", &order());
    let twice = twice.header("idempotency-key", "a").header("idempotency-key", "b");
    refused(&server, twice, 400, invalid, "Idempotency-Key").await;
    let untyped = server.request("POST", "/api/discussions").body(order().to_string());
    refused(&server, untyped, 415, "UNSUPPORTED_MEDIA_TYPE", "application/json").await;
}

#[tokio::test]
async fn ids_queries_and_ways_that_do_not_exist() {
    let server = TestServer::open(FAST).await;
    let nowhere = "/api/discussions/01890000-0000-7000-8000-0000000000ff";
    let get = |path: String| server.request("GET", &path);
    for tail in ["", "/state", "/result", "/events", "/export"] {
        refused(&server, get(format!("{nowhere}{tail}")), 404, "NOT_FOUND", "01890000").await;
        refused(&server, get(format!("/api/discussions/last{tail}")), 404, "NOT_FOUND", "last").await;
    }
    for tail in ["pause", "resume", "stop", "abort"] {
        refused(&server, server.posting(&format!("{nowhere}/{tail}"), &json!({})), 404, "NOT_FOUND", "")
            .await;
    }
    refused(&server, get("/nothing".to_owned()), 404, "NOT_FOUND", "/docs").await;
    refused(&server, get("/api/discussions/../../etc/passwd".to_owned()), 404, "NOT_FOUND", "").await;
    refused(&server, server.request("PUT", "/api/discussions"), 405, "METHOD_NOT_ALLOWED", "").await;
    refused(&server, server.request("DELETE", "/"), 405, "METHOD_NOT_ALLOWED", "").await;
    let invalid = "DISCUSSION_INVALID_REQUEST";
    for query in ["limit=0", "limit=201", "limit=x", "limit=-1", "sessionId=x", "nobody=1"] {
        let field = query.split('=').next().unwrap();
        refused(&server, get(format!("/api/discussions?{query}")), 400, invalid, &format!("\"{field}\""))
            .await;
    }
    let last = |value: &'static str| get(format!("{nowhere}/events")).header("last-event-id", value);
    refused(&server, last("x"), 400, invalid, "Last-Event-ID").await;
    refused(&server, get(format!("{nowhere}/events?after=-1")), 400, invalid, "after").await;
    refused(&server, get(format!("{nowhere}/events?view=everything")), 400, invalid, "view").await;
}

#[tokio::test]
async fn s10_too_large_bodies_too_frequent_requests_and_too_many_streams_are_refused() {
    let limits = Limits { burst: 12, requests_per_second: 1, streams: 1, ..Limits::default() };
    let server = TestServer::with(FAST, limits).await;
    let large = json!({ "topic": "x".repeat(2 << 20) });
    let refused = server.post("/api/discussions", &large).await;
    assert_eq!((refused.status.as_u16(), refused.text.contains("at most 2048 KiB")), (413, true));

    let id = server.ordered(&crate::harness::slow()).await;
    let path = format!("/api/discussions/{id}/events");
    let first = server.request("GET", &path).send().await.unwrap();
    assert_eq!(first.status(), 200);
    let second = server.get(&path).await;
    assert_eq!((second.status.as_u16(), &second.headers["retry-after"]), (429, &"5".parse().unwrap()));
    drop(first);

    // Concurrently, so that a slow machine does not leave time for the limit to refill.
    let many = futures::future::join_all((0..40).map(|_| server.get("/readyz"))).await;
    let statuses: BTreeSet<u16> = many.iter().map(|it| it.status.as_u16()).collect();
    assert_eq!(statuses, [200, 429].into());
    // A flood must not look like a crash.
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn s10_a_request_that_comes_too_slowly_or_never_ends_is_given_up() {
    let limits = Limits {
        body_time: Duration::from_millis(200),
        header_time: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = TestServer::with(FAST, limits).await;
    let head = format!("Host: {}\r\n", server.base.trim_start_matches("http://"));
    let slow = "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    let said = raw(&server, &format!("POST /api/discussions HTTP/1.1\r\n{head}{slow}")).await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    let endless = format!("GET / HTTP/1.1\r\n{head}x: {}\r\n\r\n", "y".repeat(64 << 10));
    let said = raw(&server, &endless).await;
    assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
    assert_eq!(raw(&server, "GET / HTTP/1.1\r\nHost: loc").await, "");
}

/// Sends this and reads until the server closes the connection.
async fn raw(server: &TestServer, text: &str) -> String {
    let mut stream = TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    // The server may reset a connection whose input it does not read to the end.
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}
