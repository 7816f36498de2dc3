//! Traces of the real binary at a collector: sent in time, once, and without secrets.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

use quorum_testkit::collector::{CollectedSpan, Collector};
use serde_json::Value;

use crate::{
    serve::{is_completed, json, serve},
    user::{Said, User},
};

const SECRET: &str = "canary-4711";

/// A user whose traces go to this collector, with a secret in the headers and with logging switched
/// on.
fn traced(endpoint: &str) -> User {
    User::new()
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .with("OTEL_EXPORTER_OTLP_HEADERS", &format!("authorization=Bearer%20{SECRET}"))
        .with("AX_LOG", "json")
}

fn discussed(user: &User) -> Said {
    user.ax(&["discuss", "Tabs or spaces?", "--offline", "--pattern", "round-robin", "--rounds", "1"])
}

#[track_caller]
fn keeps_the_secret(said: &Said) {
    assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{said:#?}");
}

#[test]
fn a_command_has_sent_its_trace_when_it_ends() {
    let collector = Collector::start();
    let user = traced(&collector.base())
        .with("OTEL_SERVICE_NAME", "panel")
        .with("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    let said = discussed(&user).ends(0);
    keeps_the_secret(&said);
    assert!(!said.err.contains("warning"), "{said:#?}");
    let id = user.ax(&["history", "--json"]).json()[0]["discussionId"].as_str().unwrap().replace('-', "");
    let spans = collector.spans();
    assert!(spans.iter().all(|it| it.trace == id), "{spans:#?}");
    assert!(spans.iter().any(|it| it.parent.is_empty() && it.name == "invoke_workflow round-robin"));
    assert_eq!(spans[0].resource["service.name"], "panel");
    assert_eq!(spans[0].resource["deployment.environment.name"], "test");
    let head = collector.requests()[0].head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {SECRET}")), "{head}");
    let sent: Vec<u8> = collector.requests().into_iter().flat_map(|it| it.body).collect();
    assert!(!String::from_utf8_lossy(&sent).contains("Tabs"), "the question was sent");
}

#[test]
fn a_collector_that_refuses_or_is_away_costs_a_warning() {
    let collector = Collector::start();
    // The answer repeats the request's headers.
    collector.answer(401);
    let refused = discussed(&traced(&collector.base())).ends(0).says(&["traces could not be sent", "401"]);
    keeps_the_secret(&refused);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let away = discussed(&traced(&format!("http://user:{SECRET}@{free}"))).ends(0);
    let away = away.says(&["traces could not be sent", "network error"]);
    keeps_the_secret(&away);
    // The warning is in the log once, and once at the end of the command.
    assert_eq!(away.err.matches("network error").count(), 2, "{away:#?}");
}

#[test]
fn the_doctor_knows_about_traces() {
    let row = |user: &User| {
        let rows = user.ax(&["doctor", "--json"]).json();
        rows.as_array().unwrap().iter().find(|it| it["what"] == "tracing").cloned().unwrap_or(Value::Null)
    };
    let there = User::new().with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let found = row(&there);
    assert_eq!(found["state"], "well");
    assert_eq!(found["found"], "traces are sent to the collector in OTEL_EXPORTER_OTLP_ENDPOINT");
    let other = there.with("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    assert_eq!(row(&other)["state"], "note");
    let reason = "traces can't be sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc";
    assert!(row(&other)["found"].as_str().unwrap().contains(reason), "{}", row(&other));
    discussed(&other).ends(0).says(&["warning: OTEL_EXPORTER_OTLP_ENDPOINT is set, but", reason]);
    assert_eq!(row(&other.with("OTEL_SDK_DISABLED", "true")), Value::Null);
    assert_eq!(row(&User::new()), Value::Null);
}

/// Orders a discussion from this span, and returns its id.
fn order(address: &str, traceparent: &str) -> String {
    let body =
        r#"{"topic":"Tabs or spaces?","pattern":"round-robin","rounds":3,"simulate":{"latencyMs":200}}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("POST /api/discussions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let typed = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    write!(stream, "{head}{typed}traceparent: {traceparent}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    body["discussionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_server_that_takes_over_completes_the_trace_of_one_that_was_killed() {
    for signal in ["-KILL", "-TERM"] {
        let collector = Collector::start();
        let user = traced(&collector.base()).with("OTEL_BSP_SCHEDULE_DELAY", "50");
        let (server, address) = serve(&user);
        let id = order(&address, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        // Until a span of the first server has arrived.
        while collector.requests().is_empty() {
            json(&address, "/healthz");
        }
        server.signal(signal);
        keeps_the_secret(&server.end());
        let before = collector.spans().len();
        let (server, address) = serve(&user);
        assert!(is_completed(&address, &id));
        server.signal("-TERM");
        keeps_the_secret(&server.end().ends(0));
        let spans = collector.spans();
        assert!(before < spans.len(), "after {signal}: the second server sent nothing");
        let ids: BTreeSet<&str> = spans.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), spans.len(), "after {signal}: a span came twice: {}", collector.tree(&[]));
        let plain = id.replace('-', "");
        assert!(spans.iter().all(|it| it.trace == plain), "after {signal}");
        let roots: Vec<&CollectedSpan> = spans.iter().filter(|it| it.parent.is_empty()).collect();
        let links: Vec<&str> = roots.iter().flat_map(|it| &it.links).map(String::as_str).collect();
        assert_eq!(links, ["0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"], "after {signal}");
        let cut_off =
            |it: &&CollectedSpan| it.attributes.get("error.type").is_some_and(|it| it == "interrupted");
        let cut_off = spans[before..].iter().filter(cut_off).count();
        // Calls under way are waited for unless the server is killed.
        assert!(signal == "-KILL" || cut_off == 0, "after {signal}: {}", collector.tree(&["error.type"]));
    }
}
