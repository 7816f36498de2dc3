//! Commands to try, each with what it does.

use std::io::{IsTerminal, stderr};

use crate::{
    render::{line::width, note},
    terminal,
};

/// A command and what it does.
pub(crate) type Hint = (&'static str, &'static str);

/// The width of the commands where the explanations are beside them.
const COMMAND: usize = 36;

/// Prints commands to stderr, unless notes are suppressed.
pub(crate) fn note_hints(hints: &[Hint]) {
    let columns = if stderr().is_terminal() { terminal::size().columns } else { usize::MAX };
    lines(hints, columns).iter().for_each(|line| note(line));
}

/// The explanations beside the commands, or below them if one wouldn't fit there.
fn lines(hints: &[Hint], columns: usize) -> Vec<String> {
    let beside = |(command, what): &Hint| format!("  {command:<COMMAND$}{what}");
    let all: Vec<String> = hints.iter().map(beside).collect();
    if all.iter().all(|line| width(line) <= columns) {
        return all;
    }
    let below = |(command, what): &Hint| [format!("  {command}"), format!("      {what}")];
    hints.iter().flat_map(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_narrow_terminal_explanations_are_below_their_commands() {
        let hints =
            [("ax replay last", "play it again"), ("ax export last -o debate.html", "a page to share")];
        let beside = [
            "  ax replay last                      play it again",
            "  ax export last -o debate.html       a page to share",
        ];
        let below = [
            "  ax replay last",
            "      play it again",
            "  ax export last -o debate.html",
            "      a page to share",
        ];
        assert_eq!(lines(&hints, 53), beside);
        assert_eq!(lines(&hints, 52), below);
    }
}
