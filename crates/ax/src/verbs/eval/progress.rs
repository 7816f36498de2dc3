//! The progress of an evaluation: a bar on a terminal, an occasional line elsewhere.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use quorum::{
    eval::{Progress, Watch},
    text::{count, grouped, time},
};

use crate::{
    render::{is_quiet, note},
    terminal,
};

/// The width of the bar, in characters.
const WIDTH: usize = 24;

/// How often the bar is drawn at most.
const EVERY: Duration = Duration::from_millis(100);

/// The number of lines where no bar is drawn: one for each tenth.
const LINES: usize = 10;

/// Shows progress, and stops the evaluation when a person asks for it.
pub(super) struct Bar {
    stopped: Arc<AtomicBool>,
    is_drawn: bool,
    began: Instant,
    state: Mutex<Drawn>,
}

#[derive(Default)]
struct Drawn {
    last: Option<Instant>,
    tenths: usize,
    is_open: bool,
}

impl Bar {
    pub(super) fn new(stopped: Arc<AtomicBool>) -> Bar {
        let is_drawn = stderr().is_terminal() && terminal::allows_live_view() && !is_quiet();
        Bar { stopped, is_drawn, began: Instant::now(), state: Mutex::default() }
    }

    /// Removes the bar.
    pub(super) fn done(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.is_open) {
            let _ = write!(stderr().lock(), "\r\u{1b}[K");
        }
    }
}

impl Watch for Bar {
    fn report(&self, progress: &Progress) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = progress.done >= progress.all;
        if self.is_drawn {
            if state.last.is_none_or(|it| it.elapsed() >= EVERY) || is_over {
                state.last = Some(Instant::now());
                state.is_open = true;
                let line = line(progress, self.began.elapsed());
                let _ = write!(stderr().lock(), "\r\u{1b}[K{line}");
                let _ = stderr().lock().flush();
            }
            return;
        }
        let tenths = LINES * progress.done / progress.all.max(1);
        if tenths > state.tenths {
            state.tenths = tenths;
            note(&line(progress, self.began.elapsed()));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

fn line(progress: &Progress, took: Duration) -> String {
    let Progress { done, all, found, usd } = *progress;
    let full = WIDTH * done / all.max(1);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH.saturating_sub(full)));
    let cost = if usd > 0.0 { format!(" · ${usd:.4}") } else { String::new() };
    let new = done.saturating_sub(found);
    // Work done by an earlier process took no time in this one.
    let left = (new >= 10 && done < all).then(|| took.mul_f64((all - done) as f64 / new as f64));
    let left = left.map(|it| format!(" · {} left", time(it.as_millis() as u64))).unwrap_or_default();
    format!("{bar} {} of {}{cost}{left}", grouped(done as u64), count(all as u64, "discussion"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_how_long_it_takes() {
        let check = |progress: Progress, expected: &str| {
            assert_eq!(line(&progress, Duration::from_secs(60)), expected);
        };
        let half = Progress { done: 600, all: 1_200, found: 0, usd: 0.25 };
        check(half, "████████████░░░░░░░░░░░░ 600 of 1,200 discussions · $0.2500 · 1 min left");
        let first = Progress { done: 0, all: 1_200, found: 0, usd: 0.0 };
        check(first, "░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 1,200 discussions");
        let last = Progress { done: 1_200, all: 1_200, found: 600, usd: 0.0 };
        check(last, "████████████████████████ 1,200 of 1,200 discussions");
    }
}
