//! A user without a key, at a terminal.

use crate::pty::{Setup, Terminal};

const NO_SERVER: [(&str, &str); 1] = [("OLLAMA_HOST", "")];

/// The first line for a user without a provider.
const FIRST: &str = "Simulated: no provider is available, so everything below is made up. For real answers set \
                     a key such as ANTHROPIC_API_KEY, start Ollama, or log in to the claude command; \
                     `ax doctor` says more.\r\n";

#[test]
fn without_providers_a_terminal_shows_simulated_voices_and_says_so_first() {
    let setup = Setup { columns: 300, env: &NO_SERVER, ..Setup::default() };
    let mut terminal = Terminal::run(&["Tabs or spaces?", "-r", "1"], &setup);
    let shown = terminal.ends(0);
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert!(raw.starts_with(FIRST), "{raw}");
    assert!(shown.contains("Simulated: no model was asked, and what follows is made up."), "{shown}");
    let listed = terminal.next(&["history"]).ends(0);
    assert!(listed.contains("[simulated] Tabs or spaces?"), "{listed}");
}

#[test]
fn a_run_of_a_workflow_is_simulated_where_a_question_is() {
    let setup = Setup { columns: 300, env: &NO_SERVER, ..Setup::default() };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/flows/parallel-review.yaml");
    let mut terminal = Terminal::run(&["run", file, "--set", "change=cache"], &setup);
    terminal.ends(0);
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert!(raw.starts_with(FIRST), "{raw}");
}

#[test]
fn a_redirected_result_is_refused_even_at_a_terminal() {
    let setup = Setup { columns: 100, env: &NO_SERVER, piped_stdout: true, ..Setup::default() };
    let mut terminal = Terminal::run(&["Tabs or spaces?", "-r", "1"], &setup);
    let shown = terminal.ends(4);
    assert!(shown.contains("no provider is available"), "{shown}");
    assert_eq!(terminal.stdout(), "");
}
