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
        // Perhaps only the terminal's own echo: then the signal comes while the editor still draws,
        // and nothing may be drawn into what follows.
        terminal.sees("A brid");
        terminal.signal(signal);
        let shown = terminal.ends(130);
        assert!(
            shown.contains("Nothing was sent. The discussion keeps waiting for me.\n  ax say "),
            "{shown}"
        );
        assert_eq!(shown.matches("round 1, speaking").count(), 1, "asked once:\n{shown}");
    }
}

#[test]
fn a_watched_turn_is_shown_with_its_question() {
    let mut terminal = table("1", &[], &Setup { columns: 100, ..Setup::default() });
    terminal.signal(Signal::INT);
    terminal.ends(130);
    let mut watching = terminal.next(&["watch", "last"]);
    let shown = watching.sees("Your turn, me");
    for expected in
        ["which waits for me", "Question: What shall we build?", "── round 1 ", "● claude", "● gemini"]
    {
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
    assert!(!shown.contains("claude:\n"), "{shown}");
    watching.signal(Signal::INT);
    watching.ends(130);
}

/// What the person said, from the record.
fn said_in(terminal: &Terminal) -> Vec<String> {
    let mut shown = terminal.next_piped(&["show", "last", "--json"]);
    shown.ends(0);
    let result: serde_json::Value = serde_json::from_str(&shown.stdout()).unwrap();
    let rounds = result["rounds"].as_array().unwrap().iter();
    let responses = rounds.flat_map(|it| it["responses"].as_array().unwrap().clone());
    let own = responses.filter(|it| it["provider"] == "me" || it["participant"] == "me");
    own.map(|it| it["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_line_of_any_length_is_sent_whole() {
    let mut terminal = table("1", &[], &Setup { columns: 100, ..Setup::default() });
    terminal.types(&format!("{}\r.\r", "x".repeat(5_000)));
    terminal.ends(0);
    assert_eq!(said_in(&terminal), ["x".repeat(5_000)]);
}

#[test]
fn a_turn_is_edited_and_holds_no_escape_bytes() {
    let mut terminal = table("2", &[], &Setup { columns: 100, ..Setup::default() });
    terminal.types("A brdge\u{1b}[D\u{1b}[D\u{1b}[Di\u{1b}[F,\u{1b}[31m of Stone\u{17}stone.\r");
    terminal.sees("> A bridge, of stone.");
    terminal.types(".\r");
    terminal.sees("Your turn, me (round 2, speaking)");
    // Up brings back what was said before.
    terminal.types("\u{1b}[A And soon.\r.\r");
    terminal.ends(0);
    assert_eq!(said_in(&terminal), ["A bridge, of stone.", "A bridge, of stone. And soon."]);
}

#[test]
fn a_turn_can_be_written_in_an_editor_of_ones_own() {
    let editor = "sed -i s/brigde/bridge/";
    let setup =
        Setup { columns: 100, env: &[("EDITOR", editor), ("PATH", "/usr/bin:/bin")], ..Setup::default() };
    let mut terminal = table("1", &[], &setup);
    terminal.types("A brigde.\r\u{18}\u{5}");
    terminal.sees("> A bridge.");
    terminal.types(".\r");
    terminal.ends(0);
    assert_eq!(said_in(&terminal), ["A bridge."]);
}
