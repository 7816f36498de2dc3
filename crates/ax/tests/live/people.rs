//! A person's turn, typed at the terminal where the discussion runs.

use rustix::process::Signal;

use crate::pty::{Setup, Terminal};

fn table(rounds: &str, more: &[&str], setup: &Setup<'_>) -> Terminal {
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "roundtable", "-r", rounds];
    let args = ["discuss", "What shall we build?", "--offline", "--simulate", "latency=100ms"];
    let mut terminal = Terminal::run(&[&args[..], &table, more].concat(), setup);
    terminal.sees("Your turn, me (round 1, speaking)");
    terminal
}

#[test]
fn events_are_printed_once_even_with_turns_of_people_in_between() {
    let setup = Setup { columns: 100, piped_stdout: true, ..Setup::default() };
    let mut terminal = table("2", &["--output-format", "jsonl"], &setup);
    terminal.types("A bridge.\n.\n");
    terminal.sees("Your turn, me (round 2, speaking)");
    terminal.types("A bridge indeed.\n.\n");
    terminal.ends(0);
    let lines = terminal.stdout();
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let (headers, events): (Vec<_>, Vec<_>) = lines.partition(|it| it.get("schema").is_some());
    let told: Vec<u64> = events.iter().filter_map(|it| it["seq"].as_u64()).collect();
    assert_eq!(headers.len(), 1);
    assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
}

#[test]
fn ctrl_c_and_a_closed_window_leave_the_turn_for_later() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut terminal = table("1", &[], &Setup { columns: 100, ..Setup::default() });
        terminal.types("A brid");
        terminal.sees("A brid");
        terminal.signal(signal);
        let shown = terminal.ends(130);
        assert!(shown.contains("Nothing was sent.\n  ax say "), "{shown}");
        assert_eq!(shown.matches("round 1, speaking").count(), 1, "asked once:\n{shown}");
    }
}

#[test]
fn a_line_cut_by_the_terminal_is_not_sent() {
    let mut terminal = table("1", &[], &Setup { columns: 100, ..Setup::default() });
    terminal.types(&format!("{}\n.\n", "x".repeat(5_000)));
    let shown = terminal.ends(0);
    assert!(shown.contains("The terminal cuts lines after 4,095 bytes"), "{shown}");
    assert!(shown.contains("Waiting for me (round 1, speaking)"), "{shown}");
}
