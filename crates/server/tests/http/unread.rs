//! A refusal that leaves the body unread closes its connection and says so: the rest of the body
//! must not be taken for the next request, and the client must not send one there.

use quorum_server::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{ANN, FAST, TestServer, tenants};

/// A body of these looks like many requests, and takes several reads.
const SMUGGLED: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The request after it, the last one on its connection.
const NEXT: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Sends a request with such a body, and the next one right after it; returns the heads of all
/// responses.
async fn answers(server: &TestServer, request: &str, headers: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap();
    let body = SMUGGLED.repeat(2_000);
    let length = body.len();
    let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n");
    // The server may reset a connection whose input it does not read to the end.
    let _ = stream.write_all(format!("{head}{body}{NEXT}").as_bytes()).await;
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    let said = String::from_utf8_lossy(&said).into_owned();
    let answers = said.split("HTTP/1.1 ").skip(1);
    answers.map(|it| it.split("\r\n\r\n").next().unwrap_or_default().to_lowercase()).collect()
}

fn says_close(head: &str) -> bool {
    head.lines().any(|line| line == "connection: close")
}

async fn check(server: &TestServer, request: &str, headers: &str, status: u16) {
    let answers = answers(server, request, headers).await;
    let [only] = &answers[..] else { panic!("{request}: {answers:#?}") };
    assert!(only.starts_with(&format!("{status} ")) && says_close(only), "{request}: {only}");
}

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn s10_a_refusal_that_leaves_the_body_unread_closes_the_connection() {
    let server = TestServer::open(FAST).await;
    check(&server, "POST /nowhere", JSON, 404).await;
    check(&server, "POST /api/discussions/nobody/pause", JSON, 404).await;
    check(&server, "PUT /api/discussions", JSON, 405).await;
    check(&server, "POST /api/discussions", "Content-Type: text/plain\r\n", 415).await;
    check(
        &server,
        "POST /api/discussions",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
        415,
    )
    .await;
    check(
        &server,
        "POST /api/discussions",
        "Content-Type: application/json\r\nOrigin: http://evil.example\r\n",
        403,
    )
    .await;
    check(&server, "GET /nowhere", JSON, 404).await;

    let server = TestServer::open(&tenants()).await;
    check(&server, "POST /api/discussions", JSON, 401).await;

    let small = Limits { body_bytes: 8, burst: 2, requests_per_second: 1, ..Limits::default() };
    let server = TestServer::with(FAST, small).await;
    check(&server, "POST /api/discussions", JSON, 413).await;
    check(&server, "POST /api/discussions", JSON, 413).await;
    check(&server, "POST /api/discussions", JSON, 429).await;
}

#[tokio::test]
async fn a_refusal_of_a_body_that_was_read_keeps_the_connection() {
    let server = TestServer::open(&tenants()).await;
    let headers = format!("{JSON}Authorization: Bearer {ANN}\r\n");
    let answers = answers(&server, "POST /api/discussions", &headers).await;
    let statuses: Vec<&str> = answers.iter().map(|it| &it[..3]).collect();
    assert_eq!(statuses, ["400", "200"], "{answers:#?}");
    assert!(!says_close(&answers[0]), "{answers:#?}");
}
