//! The terminal is restored on every exit path.

use rustix::{
    process::{Signal, WaitOptions, waitpid},
    termios::LocalModes,
};

use crate::pty::{Setup, Terminal};

fn running() -> Terminal {
    let args = ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=3s", "-r", "1"];
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
    // Once a participant is asked, there is a call to wait for.
    terminal.until(|shown| shown.contains("? keys") && shown.contains('◐'));
    assert!(!terminal.modes().intersects(LocalModes::ICANON | LocalModes::ECHO), "keys come one by one");
    assert!(terminal.modes().contains(LocalModes::ISIG), "signals stay");
    assert!(terminal.parser.screen().hide_cursor());
    terminal
}

#[test]
fn after_sigterm_sigquit_and_sighup() {
    for signal in [Signal::TERM, Signal::QUIT, Signal::HUP] {
        let mut terminal = running();
        terminal.signal(signal);
        assert!(terminal.ends(130).contains("Left. `ax resume"));
    }
}

#[test]
fn after_ctrl_c_which_stops_and_ctrl_c_again_which_aborts() {
    let mut terminal = running();
    terminal.signal(Signal::INT);
    terminal.sees("Stopping");
    terminal.signal(Signal::INT);
    let shown = terminal.ends(130);
    assert!(shown.contains("Aborted in") && !shown.contains("── result"), "nobody spoke:\n{shown}");
}

#[test]
fn while_it_is_stopped_with_ctrl_z() {
    let mut terminal = running();
    terminal.signal(Signal::TSTP);
    let (_, status) = waitpid(Some(terminal.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped());
    assert_eq!(terminal.modes(), terminal.before.local_modes);
    // The last output may still be on its way.
    let shown = terminal.until_screen(|it| !it.contents().contains("? keys") && !it.hide_cursor());
    assert!(!shown.contains("claude"), "the block is gone:\n{shown}");
    terminal.signal(Signal::CONT);
    terminal.sees("? keys");
    assert!(!terminal.modes().contains(LocalModes::ICANON), "it has the keys again");
    terminal.types("q");
    terminal.ends(130);
}

#[test]
fn after_a_resize_to_one_column() {
    let mut terminal = running();
    terminal.resize(1);
    terminal.until(|shown| shown.lines().all(|line| line.chars().count() <= 1));
    terminal.resize(100);
    terminal.sees("? keys");
    terminal.resize(1);
    let shown = terminal.ends(0);
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("panicked"), "{shown}");
}

#[test]
fn narrow_terminals_get_lines_instead_of_the_screen() {
    let args = ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=100ms", "-r", "1"];
    for (columns, env) in [(39, &[][..]), (100, &[("CI", "true")]), (100, &[("TERM", "dumb")])] {
        let mut terminal = Terminal::run(&args, &Setup { columns, env, ..Setup::default() });
        terminal.ends(0);
        let raw = String::from_utf8_lossy(&terminal.raw);
        assert!(raw.contains("claude is asked"), "{env:?}: {raw}");
        assert!(!raw.contains("\u{1b}[?25l") && !raw.contains("\u{1b}[J"), "{env:?}: {raw}");
    }
}

#[test]
fn without_a_keyboard_typed_text_does_not_disturb_the_screen() {
    let args = ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=2s", "-r", "1"];
    let mut terminal = Terminal::run(&args, &Setup { columns: 70, no_stdin: true, ..Setup::default() });
    terminal.sees("◐");
    assert!(!terminal.modes().contains(LocalModes::ECHO), "not even ^C");
    terminal.signal(Signal::INT);
    terminal.sees("only a verdict, the answer and votes are still asked\n  for. Ctrl-C again aborts.");
    terminal.ends(130);
}
