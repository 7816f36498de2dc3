//! Shows a running discussion: on a screen if the terminal allows it, else line by line.

use std::io::IsTerminal;

use anstyle::Style;
use quorum::{Signal, Snapshot};

use crate::{
    args::{Output, Shape},
    live::{Clock, Key, Keys, LiveView},
    render::{
        fitted, is_quiet,
        line::{BOLD, Line, PLAIN},
        note_lines,
        progress::ProgressLines,
    },
    terminal,
};

/// The view of a running discussion.
pub(crate) enum Watch {
    Lines(ProgressLines),
    Screen(Box<LiveView>),
}

impl Watch {
    /// Whether the screen is used for a discussion with this output format.
    pub(crate) fn is_screen(output: Output) -> bool {
        // Events written to the same terminal would disturb the screen.
        let torn = output.shape() == Shape::Jsonl && std::io::stdout().is_terminal();
        !torn && !output.lines && !is_quiet() && terminal::can_show_live_view()
    }

    /// Shows a discussion in this state.
    pub(crate) fn over(state: &Snapshot, output: Output, keys: Keys) -> Watch {
        let lines = || Watch::Lines(ProgressLines::of(state, state.registry()));
        if !Watch::is_screen(output) {
            return lines();
        }
        // A terminal that can't show the screen can still show lines.
        LiveView::open(state, keys).map_or_else(|_| lines(), |view| Watch::Screen(Box::new(view)))
    }

    /// Shows a signal.
    pub(crate) fn handle_signal(&mut self, signal: &Signal) {
        match self {
            Watch::Screen(view) => view.handle_signal(signal),
            Watch::Lines(progress) => {
                progress.hear(signal);
                let text = progress.line(signal);
                text.iter().flat_map(|text| text.lines()).for_each(say);
            }
        }
    }

    /// Shows a notice about the discussion.
    pub(crate) fn say(&mut self, text: &str) {
        match self {
            Watch::Screen(view) => view.say(text),
            Watch::Lines(_) => say(text),
        }
    }

    /// Waits for a frame and returns the pressed keys. Without a screen there are none, and it
    /// never returns.
    pub(crate) async fn next_keys(&mut self) -> Vec<Key> {
        match self {
            Watch::Screen(view) => view.next_keys().await,
            Watch::Lines(_) => std::future::pending().await,
        }
    }

    /// Sets the clock, for a replay.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        if let Watch::Screen(view) = self {
            view.set_clock(clock);
        }
    }

    /// Removes the screen.
    pub(crate) fn close(self) {
        match self {
            Watch::Screen(view) => view.close(),
            Watch::Lines(_) => {}
        }
    }
}

/// Prints a notice, in bold unless it is indented.
fn say(text: &str) {
    let style: Style = if text.starts_with(' ') { PLAIN } else { BOLD };
    note_lines(&fitted(text).iter().map(|row| Line::of(row, style)).collect::<Vec<_>>());
}
