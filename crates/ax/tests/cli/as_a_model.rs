//! The panel as one model through the real binary: a server that is killed during a stream.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use quorum_testkit::server::{Server, server};
use serde_json::{Value, json};

use crate::user::{Running, User};

fn serve(user: &User) -> (Running, String) {
    let mut server = user.run(&["serve", "--port", "0"]);
    let line = server.wait_for_line("Listening on http://");
    let address = line.split_once("http://").unwrap().1.split_whitespace().next().unwrap().to_owned();
    (server, address)
}

/// Sends the order with its key; the answer is read from the stream.
fn ask(address: &str, stream: bool) -> TcpStream {
    let body =
        json!({ "model": "quorum", "stream": stream, "messages": [{ "role": "user", "content": "Tabs?" }] });
    let body = body.to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nIdempotency-Key: once\r\n\
         Content-Type: application/json\r\nContent-Length: {}",
        body.len()
    );
    write!(connection, "{head}\r\n\r\n{body}").unwrap();
    connection
}

/// The content of a streamed answer that ended properly.
fn content(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    assert!(text.contains("data: [DONE]"), "{text}");
    let data = text.lines().filter_map(|it| serde_json::from_str::<Value>(it.strip_prefix("data: ")?).ok());
    data.filter_map(|it| it["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect()
}

/// The questions that were answered completely, each as often as it was.
fn answered(vendor: &Server) -> Vec<String> {
    let requests = vendor.requests();
    let complete = requests.iter().filter(|it| it.end() == quorum_testkit::server::End::Complete);
    complete.filter_map(|it| it.asked()).map(|it| format!("{} {}", it.model, it.last())).collect()
}

#[test]
fn a4_a_stream_that_was_killed_is_continued_by_its_key_and_no_finished_call_is_repeated() {
    let vendor = server().takes("alpha-1", 50, 0, 1).takes("beta-1", 400, 0, 1).on_thread();
    let user = User::new();
    let row = |name: &str| {
        let base = format!("{}/v1", vendor.url());
        format!("[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = '{name}-1'\n")
    };
    user.configure(&(row("alpha") + &row("beta")));
    let (killed, address) = serve(&user);
    let connection = ask(&address, true);
    // The first answer is recorded, the second is under way.
    while answered(&vendor).is_empty() {
        // It sleeps because the vendor's requests have no signal.
        std::thread::sleep(Duration::from_millis(5));
    }
    // It sleeps because the record of another process has no signal.
    std::thread::sleep(Duration::from_millis(100));
    killed.signal("-KILL");
    killed.end();
    drop(connection);

    let (server, address) = serve(&user);
    let first = content(ask(&address, true));
    assert!(!first.is_empty());
    let mut questions = answered(&vendor);
    let count = questions.len();
    questions.sort();
    questions.dedup();
    // Only the call that was under way when the process died may have been answered twice.
    assert!(count - questions.len() <= 1, "{count} answers to {} questions", questions.len());
    assert!(questions.iter().filter(|it| it.starts_with("alpha-1")).count() >= 2);
    assert_eq!(content(ask(&address, true)), first, "the recorded answer, for nothing");
    assert_eq!(answered(&vendor).len(), count);
    server.signal("-TERM");
    server.end();
}
