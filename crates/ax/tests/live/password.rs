//! A typed key is not echoed.

use rustix::termios::LocalModes;

use crate::pty::{Setup, Terminal};

const CANARY: &str = "sk-canary-4711";

fn asked() -> Terminal {
    let mut terminal = Terminal::run(&["keys", "set", "claude"], &Setup { columns: 100, ..Setup::default() });
    terminal.sees("ANTHROPIC_API_KEY (it is not shown):");
    assert!(!terminal.modes().intersects(LocalModes::ECHO | LocalModes::ISIG));
    terminal
}

#[test]
fn s1_a_key_is_typed_unseen() {
    let mut terminal = asked();
    terminal.types(&format!("{CANARY}\r"));
    let shown = terminal.ends(0);
    assert!(shown.contains("Stored ANTHROPIC_API_KEY in"), "{shown}");
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("canary"), "{shown}");
    assert!(terminal.next(&["keys", "list"]).ends(0).contains("ANTHROPIC_API_KEY    keys.toml"));
}

#[test]
fn s1_ctrl_c_gives_the_terminal_back_and_keeps_nothing() {
    let mut terminal = asked();
    terminal.types("sk-can\u{3}");
    assert!(terminal.ends(130).contains("Nothing was changed."));
    assert!(terminal.next(&["keys", "list"]).ends(0).contains("There are no keys"));
}
