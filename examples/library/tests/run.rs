//! Tests that the examples run and print their results.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::process::Command;

#[track_caller]
fn says(program: &str, expected: &str) {
    let output = Command::new(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(expected), "{text}");
}

#[test]
fn ask_prints_an_answer() {
    says(env!("CARGO_BIN_EXE_ask"), " ");
}

#[test]
fn ask_is_at_most_fifteen_lines() {
    assert!(include_str!("../src/bin/ask.rs").lines().count() <= 15);
}

#[test]
fn watch_prints_turns_and_the_answer() {
    says(env!("CARGO_BIN_EXE_watch"), "other signals, then: ");
}

#[test]
fn a_custom_voice_answers() {
    says(env!("CARGO_BIN_EXE_own_voice"), "heard a question of 13 letters.");
}
