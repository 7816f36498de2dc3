//! Tests of programs with a supervisor: what it forwards, and that nothing survives a `kill -9` of
//! the process that started it.
//!
//! This binary has its own `main`, because it plays three roles: the tests, the embedding program
//! that is killed, and its supervisor.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

#[path = "command/call.rs"]
mod call;
#[path = "supervised/kills.rs"]
mod kills;
#[path = "supervised/passed_on.rs"]
mod passed_on;
#[path = "command/stage.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod stage;

use std::{future::Future, pin::Pin, process::ExitCode};

use quorum_providers::command::supervisor;

type Test = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

const TESTS: &[Test] = &[
    ("f16_what_a_program_says_and_how_it_ends_is_passed_on", || Box::pin(passed_on::words_and_ends())),
    ("f16_what_left_the_group_ends_too", || Box::pin(passed_on::those_that_left())),
    ("f16_a_dropped_answer_ends_everything", || Box::pin(passed_on::dropped())),
    ("f16_nothing_outlives_a_kill_9", || Box::pin(kills::with_supervisor())),
    ("f16_without_a_supervisor_the_next_start_cleans_up", || Box::pin(kills::without_supervisor())),
];

fn main() -> ExitCode {
    if let Some(code) = supervisor::serve() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|it| it == flag);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match arguments.first().map(String::as_str) {
        Some(kills::EMBED) => runtime.block_on(kills::embed(&arguments[1..])),
        _ if has("--list") => list(has("--ignored")),
        _ => run(&runtime, &arguments),
    }
    ExitCode::SUCCESS
}

/// Lists the tests in the format that test runners expect.
fn list(is_ignored: bool) {
    for (name, _) in TESTS.iter().filter(|_| !is_ignored) {
        println!("{name}: test");
    }
}

fn run(runtime: &tokio::runtime::Runtime, arguments: &[String]) {
    let filter: Vec<&String> = arguments.iter().filter(|it| !it.starts_with('-')).collect();
    let is_wanted = |name: &str| filter.is_empty() || filter.iter().any(|it| name.contains(it.as_str()));
    for (name, test) in TESTS.iter().filter(|(name, _)| is_wanted(name)) {
        println!("test {name} …");
        runtime.block_on(test());
    }
}
