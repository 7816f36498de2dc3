//! While models talk under labels, the screen shows names.

use quorum_testkit::labels::has_label;

use crate::pty::{Setup, Terminal};

const PATTERNS: [&str; 7] =
    ["synthesis", "round-robin", "critique", "voting", "dialogue", "debate", "roundtable"];

#[test]
fn the_screen_never_shows_a_label_whatever_the_pattern() {
    let mut named = 0;
    for pattern in PATTERNS {
        let mut args =
            vec!["discuss", "Tabs or spaces?", "--offline", "--pattern", pattern, "-r", "2", "--seed", "7"];
        args.extend(["--simulate", "latency=30ms", "--verbose"]);
        if ["voting", "settle"].contains(&pattern) {
            args.extend(["-o", "tabs,spaces"]);
        }
        let mut terminal = Terminal::run(&args, &Setup { columns: 100, ..Setup::default() });
        terminal.ends(0);
        let shown = String::from_utf8_lossy(&terminal.raw).into_owned();
        assert!(!has_label(&shown), "{pattern}:\n{shown}");
        named += usize::from(shown.contains("@claude") || shown.contains("@gemini"));
    }
    assert!(0 < named, "the voices call each other by name");
}
