//! A run of a workflow on the screen.

use crate::pty::{Setup, Terminal};

#[test]
fn b11_a_run_has_a_line_for_each_step_with_its_state() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/flows/parallel-review.yaml");
    let args = ["run", file, "--offline", "--simulate", "latency=1500ms", "--set", "change=cache"];
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
    let shown = terminal.until(|shown| shown.contains("✓ outline") && shown.contains("●   security"));
    let line = |name: &str| {
        let found = shown.lines().rfind(|it| it.split_whitespace().nth(1) == Some(name));
        found.unwrap_or_else(|| panic!("{name} has no line:\n{shown}")).to_owned()
    };
    assert!(line("outline").contains("prompt") && line("outline").contains("done in "), "{shown}");
    assert!(line("reviews").contains("parallel    running"), "{shown}");
    assert!(line("security").contains("running for "), "{shown}");
    assert!(line("merge").starts_with(" · merge") && line("merge").ends_with("waiting"), "{shown}");
    assert!(shown.contains("parallel-review 1.2.0"), "{shown}");
    let shown = terminal.ends(0);
    assert!(shown.contains("merge is done after") && shown.contains("Done in"), "{shown}");
}
