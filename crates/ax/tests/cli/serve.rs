//! `ax serve` as a process: closed by a signal, killed, restarted, refused.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::user::{Running, User};

pub(crate) fn request(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let typed = format!("Content-Type: application/json\r\nContent-Length: {length}");
    write!(stream, "{head} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{typed}\r\n\r\n{body}")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn json(address: &str, path: &str) -> Value {
    let answer = request(address, &format!("GET {path}"), "");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

pub(crate) fn serve(user: &User) -> (Running, String) {
    let mut server = user.run(&["serve", "--port", "0", "--offline"]);
    let line = server.wait_for_line("Listening on http://");
    let address = line.split_once("http://").unwrap().1.split_whitespace().next().unwrap().to_owned();
    (server, address)
}

fn order(address: &str) -> String {
    let order =
        r#"{"topic":"Tabs or spaces?","pattern":"round-robin","rounds":3,"simulate":{"latencyMs":200}}"#;
    let answer = request(address, "POST /api/discussions", order);
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    body["discussionId"].as_str().unwrap().to_owned()
}

pub(crate) fn is_completed(address: &str, id: &str) -> bool {
    // The stream ends with the discussion.
    let told = request(address, &format!("GET /api/discussions/{id}/events"), "");
    told.contains("event: discussion-completed")
        && json(address, &format!("/api/discussions/{id}/result"))["success"] == true
}

#[test]
fn b08_a_server_offers_no_agents_of_the_folder_it_was_started_in() {
    let user = User::new();
    for (folder, id) in [("agents", "ours"), (".quorum/agents", "theirs"), (".automatosx/agents", "others")] {
        let folder = user.home().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{id}.yaml")), format!("agentId: {id}\n")).unwrap();
    }
    let ids = |listed: &Value| -> Vec<String> {
        listed.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&user.ax(&["agents", "--json"]).ends(0).json()), ["theirs", "ours", "others"]);
    let (_server, address) = serve(&user);
    assert_eq!(ids(&json(&address, "/api/agents")), ["ours"]);
}

#[test]
fn f13_a_server_shuts_down_in_time_and_the_next_one_continues() {
    let user = User::new();
    for signal in ["-TERM", "-INT", "-KILL"] {
        let (server, address) = serve(&user);
        let id = order(&address);
        while json(&address, &format!("/api/discussions/{id}/state"))["conversationHistory"][0].is_null() {}
        let asked = Instant::now();
        server.signal(signal);
        let said = server.end();
        // F13: within `[server] drain`.
        assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
        assert_eq!(said.code, if signal == "-KILL" { -1 } else { 0 }, "{said:#?}");

        let (mut server, address) = serve(&user);
        server.wait_for_line("Continuing 1 discussion");
        assert!(is_completed(&address, &id), "after {signal}");
        let result = json(&address, &format!("/api/discussions/{id}/result"));
        // Only a kill can lose a call that was under way.
        let repeated = result["integrity"]["repeatedCalls"].as_u64().unwrap();
        assert!(repeated <= u64::from(signal == "-KILL"), "after {signal}: {result}");
        server.signal("-TERM");
        server.end();
    }
}

#[test]
fn s2_a_server_open_to_everybody_is_refused() {
    let user = User::new();
    let said = user.ax(&["serve", "--listen", "0.0.0.0:0"]);
    said.ends(3).says(&["set tokens under [server]", "127.0.0.1"]).prints_nothing();
    user.ax(&["serve", "--listen", "here"]).ends(2);
    user.configure("[server]\nlisten = \"0.0.0.0:0\"\n");
    user.ax(&["serve"]).ends(3).says(&["no token is set"]);
    user.configure("[server]\ntokens = [{ name = \"ann\", token = \"short\" }]\n");
    user.ax(&["serve"]).ends(3).says(&["16 characters or more"]);
}

#[test]
fn a_port_that_cannot_be_used_is_reported_in_plain_words() {
    let user = User::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let said = user.ax(&["serve", "--offline", "--port", &port]).ends(3).prints_nothing();
    let expected = format!("error: another program uses port {port} of 127.0.0.1; choose one with --port\n");
    assert_eq!(said.err, expected);
    for wrong in ["99999", "web", "-1"] {
        let expected = "for '--port <PORT>': must be a whole number from 0 to 65535";
        user.ax(&["serve", "--port", wrong]).ends(2).says(&[expected]).prints_nothing();
    }
}

#[test]
fn discussions_of_other_processes_can_be_watched_and_steered() {
    let user = User::new();
    let running = user.start(&["--pattern", "round-robin", "--rounds", "2"]);
    let (server, address) = serve(&user);
    let id = running.id.clone();
    let answer = request(&address, &format!("POST /api/discussions/{id}/stop"), "{}");
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    assert!(is_completed(&address, &id));
    assert_eq!(json(&address, &format!("/api/discussions/{id}/result"))["stoppingReason"], "user_stop");
    running.end().ends(0);
    server.signal("-TERM");
    server.end().ends(0);
}

#[test]
fn a_server_without_providers_says_so_and_refuses_orders() {
    let user = User::new();
    user.configure("");
    let mut server = user.run(&["serve", "--port", "0"]);
    let line = server.wait_for_line("Listening on http://");
    let address = line.split_once("http://").unwrap().1.split_whitespace().next().unwrap().to_owned();
    server
        .wait_for_line("No provider is available, so orders are refused unless they have \"offline\": true.");
    let order = |body: &str| request(&address, "POST /api/discussions", body);
    let refused = order(r#"{"topic":"Tabs or spaces?"}"#);
    assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
    assert!(refused.contains("DISCUSSION_INSUFFICIENT_PROVIDERS"), "{refused}");
    assert!(refused.contains("no provider is available"), "{refused}");
    let simulated = order(r#"{"topic":"Tabs or spaces?","offline":true,"simulate":{"latencyMs":0}}"#);
    assert!(simulated.starts_with("HTTP/1.1 202 "), "{simulated}");
    assert!(json(&address, "/api/discussions").as_array().unwrap().iter().all(|it| it["simulated"] == true));
    server.signal("-TERM");
    server.end().ends(0);
}
