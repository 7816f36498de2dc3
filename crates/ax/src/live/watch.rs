//! How a discussion is watched: on a screen where there is a terminal for it, else line by line.

use std::io::IsTerminal;

use anstyle::Style;
use quorum::{
    Signal,
    model::{id::DiscussionId, state::State},
};

use crate::{
    args::{Output, Shape},
    live::{Clock, Key, Keys, LiveView},
    render::{
        fitted, is_hushed,
        line::{BOLD, Line, PLAIN},
        progress, tell,
    },
    terminal,
};

/// A discussion that is watched.
pub(crate) enum Watch {
    Lines,
    Screen(Box<LiveView>),
}

impl Watch {
    /// Whether there is a screen for a discussion whose result has this form.
    pub(crate) fn is_screen(output: Output) -> bool {
        // Events on the same terminal would go right through the screen.
        let torn = output.shape() == Shape::Jsonl && std::io::stdout().is_terminal();
        !torn && !is_hushed() && terminal::suits()
    }

    /// Watches a discussion that has come this far.
    pub(crate) fn over(state: State, output: Output, keys: Keys) -> Watch {
        if !Watch::is_screen(output) {
            return Watch::Lines;
        }
        // A terminal that can't be had for a screen is still good for lines.
        LiveView::open(state, keys).map_or(Watch::Lines, |view| Watch::Screen(Box::new(view)))
    }

    /// Shows what happened.
    pub(crate) fn hear(&mut self, root: DiscussionId, signal: &Signal) {
        match self {
            Watch::Screen(view) => view.hear(signal),
            Watch::Lines => {
                let text = progress::of_signal(root, signal);
                text.iter().flat_map(|text| text.lines()).for_each(say);
            }
        }
    }

    /// Says something about the discussion.
    pub(crate) fn say(&mut self, text: &str) {
        match self {
            Watch::Screen(view) => view.say(text),
            Watch::Lines => say(text),
        }
    }

    /// Waits until keys were pressed, perhaps; lines have none, and wait for ever.
    pub(crate) async fn stir(&mut self) -> Vec<Key> {
        match self {
            Watch::Screen(view) => view.stir().await,
            Watch::Lines => std::future::pending().await,
        }
    }

    /// Sets the clock, as a recording does.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        if let Watch::Screen(view) = self {
            view.set_clock(clock);
        }
    }

    /// Takes the screen down.
    pub(crate) fn close(self) {
        match self {
            Watch::Screen(view) => view.close(),
            Watch::Lines => {}
        }
    }
}

/// A line; what is not below something else stands out.
fn say(text: &str) {
    let style: Style = if text.starts_with(' ') { PLAIN } else { BOLD };
    tell(&fitted(text).iter().map(|row| Line::of(row, style)).collect::<Vec<_>>());
}
