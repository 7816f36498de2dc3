//! Terminal control sequences never go into a pipe.

use std::process::{Command, Output};

use quorum_testkit::coverage;
use tempfile::TempDir;

use crate::pty::{Setup, Terminal};

const ARGS: [&str; 8] =
    ["discuss", "Tabs or spaces?", "--offline", "--simulate", "latency=10ms", "-r", "1", "--verbose"];

fn piped(env: &[(&str, &str)]) -> Output {
    let home = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ax"));
    command.args(ARGS).env_clear().env("HOME", home.path()).env("AX_DATA_DIR", home.path());
    command.envs(coverage::profile());
    command.env("TERM", "xterm-256color").envs(env.iter().copied());
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

fn escapes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| **it == 0x1b).count()
}

#[test]
fn no_escape_bytes_in_pipes_unless_stderr_is_forced() {
    for (env, in_stderr) in
        [(&[][..], false), (&[("NO_COLOR", "1")], false), (&[("CLICOLOR_FORCE", "1")], true)]
    {
        let said = piped(env);
        assert!(said.status.success() && !said.stdout.is_empty(), "{said:?}");
        assert_eq!((escapes(&said.stdout), 0 < escapes(&said.stderr)), (0, in_stderr), "{env:?}");
    }
}

#[test]
fn no_escape_bytes_in_a_file_beside_a_screen() {
    let mut terminal = Terminal::run(
        &ARGS,
        &Setup { columns: 100, piped_stdout: true, env: &[("CLICOLOR_FORCE", "1")], ..Setup::default() },
    );
    terminal.ends(0);
    let begins = "> Simulated: no model was asked, and what follows is made up.\n\n# Tabs or spaces?\n";
    assert!(terminal.stdout().starts_with(begins), "Markdown as it is");
    assert_eq!(escapes(terminal.stdout().as_bytes()), 0);
}

#[test]
fn no_color_keeps_the_screen_without_colours() {
    for (env, coloured) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut terminal = Terminal::run(&ARGS, &Setup { columns: 100, env, ..Setup::default() });
        terminal.ends(0);
        let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
        assert!(raw.contains("\u{1b}[?25l"), "the screen was there");
        assert_eq!(colours(&raw), coloured, "{env:?}");
    }
}

/// Whether there is a colour sequence, `ESC [ … m`.
fn colours(raw: &str) -> bool {
    let after = raw.split("\u{1b}[").skip(1);
    after
        .into_iter()
        .any(|it| it.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';').starts_with('m'))
}
