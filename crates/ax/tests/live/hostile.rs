//! Escape sequences and bidirectional marks in other people's text never reach the terminal.

use crate::pty::{Setup, Terminal};

/// The sequences that the screen itself uses, without colours.
const OURS: [&str; 8] = ["[?2026h", "[?2026l", "[?7h", "[?7l", "[?25h", "[?25l", "[J", "[K"];

/// A hundred sequences that move, erase, query, rename, link, copy and reverse.
fn hostile() -> String {
    let finals = "ABCDEFGHIPSTXZ`abcdefghijklnpqrstux@";
    let moves = finals.chars().map(|it| format!("\u{1b}[3;7{it}"));
    let private = (0..24).map(|it| format!("\u{1b}[?{}h", 1000 + it));
    let c1 = "ABCDEFGHST".chars().map(|it| format!("\u{9b}2{it}"));
    let strings = (0..10).map(|it| format!("\u{1b}]{it};evil\u{7}"));
    let others =
        ["c", "7", "8", "M", "D", "E", "H", "=", ">", "(0", "#8", " F"].map(|it| format!("\u{1b}{it}"));
    let turns =
        ["\u{202a}", "\u{202b}", "\u{202d}", "\u{202e}", "\u{2066}", "\u{2067}", "\u{200f}", "\u{61c}"]
            .map(str::to_owned);
    let all: Vec<String> = moves.chain(private).chain(c1).chain(strings).chain(others).chain(turns).collect();
    assert_eq!(all.len(), 100);
    all.into_iter().enumerate().map(|(at, sequence)| format!("w{at}{sequence}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn s7_a_hundred_hostile_sequences_never_reach_the_terminal() {
    let topic = format!("Should we keep {}?", hostile());
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "roundtable", "-r", "1"];
    let args = [&["discuss", &topic, "--offline", "-v", "--simulate", "latency=300ms"], &table[..]].concat();
    let setup = Setup { columns: 100, env: &[("NO_COLOR", "1")], ..Setup::default() };
    let mut terminal = Terminal::run(&args, &setup);
    terminal.sees("Type your answer");
    terminal.types("Why not.\n.\n");
    terminal.ends(0);
    let raw = String::from_utf8(terminal.raw.clone()).unwrap();
    for rest in raw.split('\u{1b}').skip(1) {
        // Up in the live view, right in the line editor.
        let moves = rest.strip_prefix('[').map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
        let known =
            OURS.iter().any(|it| rest.starts_with(it)) || moves.is_some_and(|it| it.starts_with(['A', 'C']));
        assert!(known, "a sequence that is not ours: {:?}", rest.chars().take(20).collect::<String>());
    }
    let turns =
        |it: char| matches!(it, '\u{61c}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let control = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\u{1b}' | '\t');
    assert!(!raw.contains(turns) && !raw.contains(control));
    assert!(raw.contains("w0 w1 w2"), "the words themselves are there");
}
