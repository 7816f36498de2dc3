//! Two `ax serve` on one database: one is killed, stopped or told to end, and the other goes on.

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use quorum_testkit::own_postgres::{OwnPostgres, Stop};
use serde_json::Value;

use crate::{
    serve::{is_completed, json, request, serve},
    user::User,
};

/// The shortest lease, so that nothing is waited for longer than needed.
const LEASE: &str = "[store]\nlease = 3\n";

fn order(address: &str, rounds: u32) -> String {
    let order = format!(
        r#"{{"topic":"Tabs or spaces?","pattern":"round-robin","rounds":{rounds},"simulate":{{"latencyMs":150}}}}"#
    );
    let answer = request(address, "POST /api/discussions", &order);
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    body["discussionId"].as_str().unwrap().to_owned()
}

fn has_begun(address: &str, id: &str) -> bool {
    !json(address, &format!("/api/discussions/{id}/state"))["conversationHistory"][0].is_null()
}

fn repeated(address: &str, id: &str) -> u64 {
    let result = json(address, &format!("/api/discussions/{id}/result"));
    result["integrity"]["repeatedCalls"].as_u64().unwrap()
}

fn steer(address: &str, id: &str, action: &str) {
    let answer = request(address, &format!("POST /api/discussions/{id}/{action}"), "{}");
    assert!(answer.starts_with("HTTP/1.1 202 "), "{action}: {answer}");
}

fn status(address: &str, id: &str) -> String {
    let listed = json(address, "/api/discussions");
    let mut entries = listed.as_array().unwrap().iter();
    let found = entries.find(|it| it["discussionId"] == id);
    found.and_then(|it| it["status"].as_str()).unwrap_or_default().to_owned()
}

/// Looks until it is so.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        // It sleeps because other processes have to get there.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn f17_a_living_server_goes_on_with_what_a_killed_one_left() {
    let user = User::new();
    user.configure(LEASE);
    let ((one, first), (two, second)) = (serve(&user), serve(&user));
    let ids: Vec<String> = (0..5).map(|_| order(&first, 4)).collect();
    until(|| ids.iter().all(|id| has_begun(&first, id)));
    let killed = Instant::now();
    one.signal("-KILL");
    one.end();
    for id in &ids {
        assert!(is_completed(&second, id));
        // At most the call that was under way.
        assert!(repeated(&second, id) <= 1);
    }
    // Three more rounds of three calls, one after the other, take less than 3 s themselves.
    assert!(killed.elapsed() < Duration::from_secs(30), "{:?}", killed.elapsed());
    let metrics = request(&second, "GET /metrics", "");
    assert!(metrics.contains("ax_node_takeovers_total 5\n"), "{metrics}");
    assert!(metrics.contains("ax_nodes 1\n"), "{metrics}");
    two.signal("-TERM");
    two.end().ends(0);
}

#[test]
fn f17_commands_and_watchers_reach_a_discussion_from_the_other_server() {
    let user = User::new();
    user.configure(LEASE);
    let ((one, first), (two, second)) = (serve(&user), serve(&user));
    let id = order(&first, 4);
    until(|| has_begun(&second, &id));
    steer(&second, &id, "pause");
    until(|| status(&second, &id) == "paused");
    assert_eq!(status(&first, &id), "paused");
    steer(&second, &id, "resume");
    steer(&first, &id, "stop");
    // The stream of each server has the whole record.
    let [heard, other] = [&first, &second].map(|address| {
        let told = request(address, &format!("GET /api/discussions/{id}/events?view=facts"), "");
        told.lines().filter(|it| it.starts_with("id: ")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(heard, other);
    assert!(!heard.is_empty());
    for server in [one, two] {
        server.signal("-TERM");
        server.end().ends(0);
    }
}

#[test]
fn f17_a_pause_of_an_idle_discussion_is_obeyed_by_the_next_server() {
    let user = User::new();
    user.configure(LEASE);
    let (one, first) = serve(&user);
    let id = order(&first, 4);
    until(|| has_begun(&first, &id));
    one.signal("-KILL");
    one.end();
    user.ax(&["pause", &id]).ends(0).says(&["the pause is recorded"]);
    let (two, second) = serve(&user);
    until(|| status(&second, &id) == "paused");
    steer(&second, &id, "resume");
    assert!(is_completed(&second, &id));
    two.signal("-TERM");
    two.end().ends(0);
}

#[test]
fn f13_a_server_that_is_told_to_end_under_load_repeats_no_answered_call() {
    let user = User::new();
    user.configure(LEASE);
    let ((one, first), (two, second)) = (serve(&user), serve(&user));
    let ids: Vec<String> = (0..20).map(|_| order(&first, 3)).collect();
    until(|| ids.iter().all(|id| has_begun(&first, id)));
    one.signal("-TERM");
    one.end().ends(0);
    for id in &ids {
        assert!(is_completed(&second, id));
        assert_eq!(repeated(&second, id), 0, "{id}");
    }
    two.signal("-TERM");
    two.end().ends(0);
}

#[test]
fn f17_a_stopped_server_is_fenced_and_comes_back() {
    let user = User::new();
    user.configure(LEASE);
    let ((one, first), (two, second)) = (serve(&user), serve(&user));
    let id = order(&first, 4);
    until(|| has_begun(&first, &id));
    one.signal("-STOP");
    assert!(is_completed(&second, &id));
    assert!(repeated(&second, &id) <= 1);
    one.signal("-CONT");
    // It notices that it was considered dead, and continues as another node.
    until(|| json(&first, "/readyz")["nodes"] == 2);
    assert!(is_completed(&first, &order(&first, 1)));
    for server in [one, two] {
        server.signal("-TERM");
        server.end().ends(0);
    }
}

#[test]
fn the_doctor_lists_the_nodes() {
    let user = User::new();
    user.configure(LEASE);
    let (one, _) = serve(&user);
    let said = user.ax(&["doctor"]);
    assert!(said.out.contains("ax (process "), "{said:#?}");
    assert!(said.out.contains("runs 0 discussions"), "{said:#?}");
    one.signal("-TERM");
    one.end().ends(0);
}

#[test]
fn a_node_with_another_configuration_is_warned_of() {
    let user = User::new();
    user.configure(LEASE);
    let (one, _) = serve(&user);
    user.configure(&format!("{LEASE}[defaults]\nrounds = 4\n"));
    let mut two = user.run(&["serve", "--port", "0"]);
    two.wait_for_line("uses the same database with another configuration");
    let said = user.ax(&["doctor"]);
    assert!(said.out.contains("its configuration differs from this one"), "{said:#?}");
    for server in [one, two] {
        server.signal("-TERM");
        server.end().ends(0);
    }
}

/// The clock of the database is set two hours ahead, for its tables only.
#[test]
fn clocks_two_hours_apart_are_told_by_the_doctor_and_by_readyz() {
    let database = quorum_testkit::postgres::Database::fresh();
    let user = User::new().with("AX_DATABASE_URL", &database.url());
    user.configure(LEASE);
    user.ax(&["db", "migrate"]).ends(0);
    database.run(
        "CREATE OR REPLACE FUNCTION now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
         $$ SELECT (extract(epoch FROM clock_timestamp() + interval '2 hours') * 1000000)::bigint $$",
    );
    let said = user.ax(&["doctor"]).ends(3);
    assert!(said.out.contains("s behind that of the database"), "{said:#?}");
    let (one, address) = serve(&user);
    until(|| json(&address, "/readyz")["clockOffByMs"].as_i64().is_some_and(|it| 7_190_000 < it));
    assert!(is_completed(&address, &order(&address, 1)), "discussions are run all the same");
    one.signal("-TERM");
    one.end().ends(0);
}

/// With PostgreSQL, event ids have the epoch of the log; an older one makes a client start over.
#[test]
fn event_ids_carry_the_epoch_of_the_log() {
    let database = quorum_testkit::postgres::Database::fresh();
    let user = User::new().with("AX_DATABASE_URL", &database.url());
    user.configure(LEASE);
    let (one, address) = serve(&user);
    let id = order(&address, 1);
    assert!(is_completed(&address, &id));
    let first = |last: &str| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let head = format!("GET /api/discussions/{id}/events?view=facts HTTP/1.1\r\nHost: {address}");
        write!(stream, "{head}\r\nConnection: close\r\nLast-Event-ID: {last}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().find_map(|it| it.strip_prefix("id: ")).unwrap_or_default().to_owned()
    };
    let begins = first("");
    let epoch: u64 = begins.strip_suffix("-1").unwrap_or_default().parse().unwrap();
    assert_eq!(first(&format!("{epoch}-5")), format!("{epoch}-6"));
    assert_eq!(first("5"), format!("{epoch}-6"), "a plain number is accepted");
    assert_eq!(first(&format!("{}-5", epoch - 1)), format!("{epoch}-1"), "an older epoch begins anew");
    one.signal("-TERM");
    one.end().ends(0);
}

#[test]
fn a_command_typed_elsewhere_reaches_a_server_on_postgres() {
    let database = quorum_testkit::postgres::Database::fresh();
    let user = User::new().with("AX_DATABASE_URL", &database.url());
    user.configure(LEASE);
    let (one, address) = serve(&user);
    let id = order(&address, 10);
    until(|| has_begun(&address, &id));
    user.ax(&["pause", &id]).ends(0);
    until(|| status(&address, &id) == "paused");
    user.ax(&["abort", &id]).ends(0);
    until(|| status(&address, &id) == "aborted");
    one.signal("-TERM");
    one.end().ends(0);
}

#[test]
fn while_the_database_is_away_readyz_and_metrics_say_so() {
    let folder = tempfile::tempdir().unwrap();
    // The database may be run by another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut database = OwnPostgres::start(&folder.path().join("database"), &["fsync=off"]).unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", database.port());
    let user = User::new().with("AX_DATABASE_URL", &url);
    user.configure(LEASE);
    let (server, address) = serve(&user);
    assert_eq!(json(&address, "/readyz")["status"], "ready");
    let metrics = request(&address, "GET /metrics", "");
    assert!(metrics.contains("ax_discussions_queued 0\n"), "{metrics}");
    assert!(metrics.contains("ax_store_appends_total 0\n"), "{metrics}");
    database.stop(Stop::Immediate).unwrap();
    until(|| json(&address, "/readyz")["status"] == "unreachable");
    let metrics = request(&address, "GET /metrics", "");
    assert!(metrics.starts_with("HTTP/1.1 200 "), "{metrics}");
    assert!(metrics.contains("ax_discussions_queued NaN\n"), "{metrics}");
    assert!(metrics.contains("ax_node_heartbeat_age_seconds "), "{metrics}");
    let refused = request(&address, "POST /api/discussions", r#"{"topic":"Tabs or spaces?"}"#);
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    database.go_on().unwrap();
    until(|| json(&address, "/readyz")["status"] == "ready");
    assert!(is_completed(&address, &order(&address, 1)));
    server.signal("-TERM");
    server.end().ends(0);
}

#[test]
fn an_outage_of_the_database_is_noted_once_on_stderr_and_so_is_its_end() {
    let folder = tempfile::tempdir().unwrap();
    // The database may be run by another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut database = OwnPostgres::start(&folder.path().join("database"), &["fsync=off"]).unwrap();
    let url = format!("postgres://postgres:hidden-word@127.0.0.1:{}/postgres", database.port());
    let user = User::new().with("AX_DATABASE_URL", &url);
    user.configure(LEASE);
    let (server, address) = serve(&user);
    // Its first answer shows that it has started, which it can't without the database.
    assert_eq!(json(&address, "/readyz")["status"], "ready");
    database.stop(Stop::Immediate).unwrap();
    until(|| json(&address, "/readyz")["status"] == "unreachable");
    database.go_on().unwrap();
    until(|| json(&address, "/readyz")["status"] == "ready");
    let read_only = |sql: &str| {
        database.sql(&format!("ALTER SYSTEM {sql}")).unwrap();
        database.sql("SELECT pg_reload_conf()").unwrap();
    };
    read_only("SET default_transaction_read_only = on");
    until(|| json(&address, "/readyz")["status"] == "unreachable");
    read_only("RESET default_transaction_read_only");
    until(|| json(&address, "/readyz")["status"] == "ready");
    server.signal("-TERM");
    let said = server.end().ends(0);
    let begins = format!("warning: the database postgres://postgres@127.0.0.1:{}", database.port());
    let told = |line: &&str| line.starts_with("warning: ") || line.starts_with("Discussions can be stored");
    let told: Vec<&str> = said.err.lines().filter(told).collect();
    assert_eq!(told.len(), 4, "{said:#?}");
    assert!(told[0].starts_with(&begins) && told[2].starts_with(&begins), "{told:#?}");
    assert!(told[2].contains("can be read but not written now"), "{told:#?}");
    assert!(
        [told[1], told[3]].iter().all(|it| it.starts_with("Discussions can be stored again")),
        "{told:#?}"
    );
    assert!(!said.err.contains("hidden-word"), "{said:#?}");
}
