//! The screen while a discussion runs, and what remains when it is over.

use crate::pty::{Setup, Terminal};

const SIX: &str = "claude,gemini,qwen,glm,mistral,grok";
const TOPIC: &str = "What shall we build next year?";

fn six(columns: u16) -> Terminal {
    let voices = "latency=1000ms,failure=0.25,dead=mistral";
    let args = ["discuss", TOPIC, "--offline", "-p", SIX, "-r", "1", "--seed", "5", "--simulate", voices];
    Terminal::run(&args, &Setup { columns, ..Setup::default() })
}

/// The block: the lines from the header on.
fn block(shown: &str) -> Vec<&str> {
    let from = shown.lines().collect::<Vec<_>>();
    let header = from.iter().rposition(|line| line.starts_with(&format!(" {}", &TOPIC[..20]))).unwrap();
    from[header..].to_vec()
}

#[track_caller]
fn check(columns: u16) {
    let mut terminal = six(columns);
    let shown = terminal.until(|shown| shown.contains("retry ") && shown.contains("? keys"));
    let block = block(&shown);
    assert!(block.iter().any(|line| line.contains("round 1/1")), "{shown}");
    let status = |name: &str| {
        let line = block.iter().find(|line| line.chars().skip(3).collect::<String>().starts_with(name));
        line.unwrap_or_else(|| panic!("{name} has no line:\n{shown}")).chars().nth(1).unwrap()
    };
    let glyphs: Vec<char> = SIX.split(',').map(status).collect();
    assert!(glyphs.iter().all(|it| "○◐●✖✔".contains(*it)), "{glyphs:?}\n{shown}");
    assert_eq!(status("mistral"), '✖', "{shown}");
    assert_eq!(block.last().unwrap().trim(), "? keys", "{shown}");
    assert!(block.len() <= 9, "{shown}");
    let shown = terminal.ends(0);
    for part in ["Done in", "calls", "again", "ax replay last"] {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    assert_eq!(String::from_utf8_lossy(&terminal.raw).matches("result").count(), 1, "{shown}");
}

#[test]
fn six_voices_a_retry_and_a_failure_on_60_columns() {
    check(60);
}

#[test]
fn six_voices_a_retry_and_a_failure_on_100_columns() {
    check(100);
}

#[test]
fn six_voices_a_retry_and_a_failure_on_160_columns() {
    check(160);
}

#[test]
fn a_persons_turn_is_taken_right_there() {
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "roundtable", "-r", "1"];
    let args = [&["discuss", TOPIC, "--offline", "--simulate", "latency=300ms"], &table[..]].concat();
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
    terminal.sees("Your turn, me (round 1, speaking)");
    assert!(!terminal.parser.screen().hide_cursor());
    terminal.types("A *bridge*, I should think.\n.\n");
    let shown = terminal.ends(0);
    assert_eq!(terminal.modes(), terminal.before.local_modes, "the line editor gives the terminal back");
    assert!(shown.contains("A bridge, I should think."), "{shown}");
    assert!(shown.contains("Done in"), "{shown}");
}

#[test]
fn a_replay_has_the_same_screen() {
    let args =
        ["discuss", TOPIC, "--offline", "-p", "claude,gemini", "-r", "1", "--simulate", "latency=300ms"];
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
    let shown = terminal.ends(0);
    let id = shown.lines().find_map(|line| line.trim().strip_prefix("id ")).unwrap().trim().to_owned();
    let mut replay = terminal.next(&["replay", &id, "--speed", "0.2"]);
    replay.sees("thinking");
    replay.types("s");
    replay.ends(0);
    // The result has scrolled some lines of the discussion off the screen.
    replay.parser.screen_mut().set_scrollback(5);
    assert!(replay.contents().contains("● gemini"), "{}", replay.contents());
}

#[test]
fn a_result_on_the_same_terminal_is_printed_once() {
    let args = ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=100ms", "-r", "1"];
    let both = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() }).ends(0);
    let mut apart = Terminal::run(&args, &Setup { columns: 100, piped_stdout: true, ..Setup::default() });
    apart.ends(0);
    let answer = apart.stdout().lines().nth(2).unwrap().replace("**", "");
    let first = answer.chars().take(60).collect::<String>();
    assert_eq!(both.matches(&first).count(), 1, "{first:?} in\n{both}");
    assert!(!apart.contents().contains(&first), "{}", apart.contents());
}

#[test]
fn turns_are_wrapped_between_words() {
    let mut terminal = Terminal::run(&["demo", "--fast"], &Setup { columns: 60, ..Setup::default() });
    terminal.ends(0);
    let raw = String::from_utf8_lossy(&terminal.raw).replace("\r\n", "\n");
    let whole = "This is a real run of Quorum with a debate written for the\ndemo. It needs no key, and no model is asked. Qwen argues\n";
    assert!(raw.starts_with(whole), "{raw}");
    assert_eq!(raw.matches("ax replay last").count(), 1, "the next steps are named once:\n{raw}");
}

#[test]
fn a_list_of_the_past_fits_its_terminal() {
    let args = ["discuss", "A question that is rather long and goes on for quite a while, does it not?"];
    let mut terminal = Terminal::run(
        &[&args[..], &["--offline", "--simulate", "latency=0ms", "-q"]].concat(),
        &Setup { columns: 80, ..Setup::default() },
    );
    terminal.ends(0);
    let shown = terminal.next(&["history"]).ends(0);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("id             started "), "{shown}");
    let id = lines[1].split_whitespace().next().unwrap();
    assert!(id.len() == 13 && lines[1].ends_with('…'), "{shown}");
    terminal.next(&["show", id, "-q"]).ends(0);
}
