//! Keys while a discussion runs.

use rustix::process::Signal;

use crate::pty::{Setup, Terminal};

fn running(latency: &str) -> Terminal {
    let simulate = format!("latency={latency}");
    let args = [
        "discuss",
        "Tabs or spaces?",
        "--offline",
        "--pattern",
        "round-robin",
        "-p",
        "claude,gemini,qwen",
        "--simulate",
        &simulate,
    ];
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
    // Once a participant is asked, there is a call to wait for.
    terminal.until(|shown| shown.contains("? keys") && shown.contains('◐'));
    terminal
}

#[test]
fn the_key_help_is_shown_and_hidden() {
    let mut terminal = running("4s");
    terminal.types("?");
    let shown = terminal.sees("p pause · s stop");
    assert!(shown.contains("\n1") && shown.contains("\n3○ qwen"), "the seats have their keys:\n{shown}");
    terminal.types("?");
    terminal.until(|shown| shown.contains("? keys") && !shown.contains("p pause"));
    terminal.types("q");
    terminal.ends(130);
}

#[test]
fn one_participant_can_be_followed() {
    let mut terminal = running("4s");
    terminal.types("1");
    terminal.until(|shown| shown.contains("\n claude ──") && shown.contains("\n  My position:"));
    terminal.types("\t");
    terminal.until(|shown| !shown.contains("\n claude ──"));
    terminal.types("q");
    terminal.ends(130);
}

#[test]
fn a_pause_takes_effect_and_is_resumed() {
    let mut terminal = running("600ms");
    terminal.types("p");
    terminal.sees("Paused. p resumes");
    terminal.types("p");
    terminal.sees("deciding");
    assert!(terminal.ends(0).contains("Done in"));
}

#[test]
fn the_keys_of_a_paused_discussion_are_its_own() {
    let mut terminal = running("600ms");
    terminal.types("p");
    terminal.sees("Paused. p resumes");
    terminal.types("?");
    terminal.sees("p resume · s conclude with what was said");
    terminal.types("?");
    terminal.until(|shown| shown.contains("Paused. p resumes") && !shown.contains("p resume ·"));
    terminal.types("q");
    terminal.ends(0);
}

#[test]
fn the_number_of_a_seat_that_there_is_not_ended_following() {
    let mut terminal = running("4s");
    terminal.types("1");
    terminal.until(|shown| shown.contains("\n claude ──"));
    terminal.types("9?");
    terminal.until(|shown| shown.contains("p pause") && shown.contains("\n claude ──"));
    terminal.types("q");
    terminal.ends(130);
}

#[test]
fn a_paused_discussion_is_concluded_with_s() {
    let mut terminal = running("600ms");
    terminal.types("p");
    terminal.sees("Paused. p resumes");
    terminal.types("s");
    assert!(terminal.ends(0).contains("it was stopped early"));
}

#[test]
fn s_stops_and_concludes() {
    let mut terminal = running("600ms");
    terminal.types("s");
    terminal.sees("Stopping");
    assert!(terminal.ends(0).contains("it was stopped early"));
}

#[test]
fn q_leaves_the_discussion_to_be_resumed() {
    let mut terminal = running("4s");
    terminal.types("q");
    assert!(terminal.ends(130).contains("`ax resume "));
}

#[test]
fn ctrl_c_leaves_a_paused_discussion_as_an_interruption() {
    let mut terminal = running("600ms");
    terminal.types("p");
    terminal.sees("Paused. p resumes");
    terminal.signal(Signal::INT);
    assert!(terminal.ends(130).contains("Paused. `ax resume "));
}

#[test]
fn on_a_narrow_screen_no_key_is_left_out() {
    let args = ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=4s"];
    let mut terminal = Terminal::run(&args, &Setup { columns: 50, ..Setup::default() });
    terminal.sees("? keys");
    terminal.types("?");
    terminal.until(|shown| {
        ["p pause", "q leave", "Ctrl-C stop, abort", "? hide"].iter().all(|it| shown.contains(it))
    });
    terminal.types("q");
    terminal.ends(130);
}

#[test]
fn text_pasted_too_early_stops_nothing() {
    let mut terminal = running("1s");
    terminal.types("Spaces, please; quite simply because they stop all questions.");
    let shown = terminal.ends(0);
    assert!(shown.contains("Done in") && !shown.contains("it was stopped"), "{shown}");
}
