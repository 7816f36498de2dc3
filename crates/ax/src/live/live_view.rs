//! The live view on a terminal: handles signals and keys, and repaints at most ten times a second.

use std::{
    io::Stderr,
    time::{Duration, Instant},
};

use quorum::{Signal, Snapshot};
use rustix::process::Signal as Number;
use tokio::{
    signal::unix::{Signal as Caught, SignalKind, signal},
    time::{Interval, MissedTickBehavior},
};

use crate::{
    live::{
        keys::{self, Key},
        painter::Painter,
        screen::{Footer, Keys, Screen},
        scrollback::Scrollback,
    },
    render::colour,
    terminal::{self, Size},
};

const FRAME: Duration = Duration::from_millis(100);

/// A live screen. Dropping it removes it and restores the terminal.
pub(crate) struct LiveView {
    screen: Screen,
    painter: Painter<Stderr>,
    size: Size,
    clock: Clock,
    frames: Interval,
    resized: Caught,
    stopped: Caught,
    continued: Caught,
    hung_up: Caught,
    /// Lines that go above the screen with the next frame.
    scrollback: Scrollback,
    /// Whether something changed since the last frame, and the second of that frame.
    stirred: bool,
    second: u64,
    owner: Owner,
    /// Whether this process stopped itself, so that a SIGCONT is expected.
    suspended: bool,
    /// Whether the last input was pasted.
    pasting: bool,
}

/// The process the terminal belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Ours,
    /// The shell or another job, until this process is in the foreground again.
    Others,
    /// Nothing: the terminal no longer accepts output.
    Gone,
}

/// The screen's time: real time, or that of a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    from: Instant,
    at: u64,
    speed: f64,
}

impl Clock {
    /// A clock that shows this millisecond now and runs at this speed.
    pub(crate) fn at(ms: u64, speed: f64) -> Clock {
        Clock { from: Instant::now(), at: ms, speed }
    }

    fn now(self) -> u64 {
        self.at + self.from.elapsed().mul_f64(self.speed).as_millis() as u64
    }
}

impl LiveView {
    /// Shows the screen.
    pub(crate) fn open(state: &Snapshot, keys: Keys) -> anyhow::Result<LiveView> {
        let footer = if terminal::has_keys() { Footer::Hint } else { Footer::Absent };
        let clock = Clock::at(0, 1.0);
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let caught = |number: Number| signal(SignalKind::from_raw(number.as_raw()));
        let view = LiveView {
            screen: Screen::of(state, (footer, keys), clock.now()),
            painter: Painter::new(std::io::stderr(), colour::of_stderr()),
            size: terminal::size(),
            clock,
            frames,
            resized: signal(SignalKind::window_change())?,
            stopped: caught(Number::TSTP)?,
            continued: caught(Number::CONT)?,
            hung_up: caught(Number::HUP)?,
            scrollback: Scrollback::default(),
            stirred: true,
            second: 0,
            owner: Owner::Ours,
            suspended: false,
            pasting: false,
        };
        terminal::set_up()?;
        Ok(view)
    }

    /// Handles a signal from the engine.
    pub(crate) fn handle_signal(&mut self, signal: &Signal) {
        self.screen.handle_signal(signal, self.clock.now());
        self.scrollback.handle_signal(&self.screen.state, &self.screen.progress, signal, self.size.columns);
        self.stirred = true;
    }

    /// Sets the clock, for a replay.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Shows a notice in the last line, or above the screen if there is no such line.
    pub(crate) fn say(&mut self, text: &str) {
        if self.screen.footer == Footer::Absent {
            self.scrollback.remark(text, self.size.columns);
        } else {
            self.screen.footer = Footer::Notice(text.to_owned());
        }
        self.stirred = true;
    }

    /// Waits for the next frame, paints it if needed, and returns the pressed keys that concern the
    /// discussion.
    pub(crate) async fn next_keys(&mut self) -> Vec<Key> {
        tokio::select! {
            biased;
            // The window is being closed: leave the discussion as it is, and restore the terminal.
            _ = self.hung_up.recv() => return vec![Key::Quit],
            _ = self.stopped.recv() => self.suspend(),
            _ = self.continued.recv() => self.go_on(),
            _ = self.resized.recv() => self.fit(),
            _ = self.frames.tick() => return self.frame(),
        }
        Vec::new()
    }

    fn frame(&mut self) -> Vec<Key> {
        // A shell that brings a running job to the foreground doesn't signal it.
        if self.owner == Owner::Others && terminal::is_foreground() {
            self.repaint_after_suspend();
        }
        let typed = if self.owner == Owner::Ours { self.typed() } else { Vec::new() };
        let (own, others): (Vec<Key>, Vec<Key>) =
            typed.into_iter().partition(|it| matches!(it, Key::Follow(_) | Key::All | Key::Help));
        self.stirred |= !own.is_empty();
        own.into_iter().for_each(|key| self.screen.press(key));
        self.paint();
        others
    }

    /// The pressed keys. Pasted text arrives in pieces, and the last one may be short.
    fn typed(&mut self) -> Vec<Key> {
        let typed = terminal::typed();
        let pasting = std::mem::replace(&mut self.pasting, keys::is_pasted(&typed));
        if pasting || self.pasting { Vec::new() } else { keys::read(&typed) }
    }

    fn paint(&mut self) {
        let now = self.clock.now();
        let ticked = self.screen.is_timed() && self.second != now / 1_000;
        if self.owner != Owner::Ours || !(self.stirred || ticked) {
            return;
        }
        (self.stirred, self.second) = (false, now / 1_000);
        let above = self.scrollback.take_lines();
        let painted = self.painter.paint(&above, &self.screen.lines(self.size, now));
        self.note_failed_write(&painted);
    }

    /// Notes a failed write: a terminal that is gone must not end a discussion that is paid for.
    fn note_failed_write(&mut self, written: &std::io::Result<()>) {
        if written.is_err() {
            self.owner = Owner::Gone;
        }
    }

    /// Ctrl-Z: restores the terminal before this process stops.
    fn suspend(&mut self) {
        self.restore_terminal();
        (self.owner, self.suspended) = (Owner::Others, true);
        terminal::suspend();
    }

    /// Handles SIGCONT, in the foreground or not. After a stop from outside, other programs may
    /// have changed the terminal.
    fn go_on(&mut self) {
        let surprised = !std::mem::take(&mut self.suspended);
        if surprised && self.owner == Owner::Ours {
            self.owner = Owner::Others;
        }
        if self.owner == Owner::Others && terminal::is_foreground() {
            self.repaint_after_suspend();
        }
    }

    fn repaint_after_suspend(&mut self) {
        self.owner = Owner::Ours;
        let taken = terminal::set_up();
        self.note_failed_write(&taken);
        self.painter.forget();
        self.fit();
    }

    fn fit(&mut self) {
        self.size = terminal::size();
        self.stirred = true;
        if self.owner == Owner::Ours {
            let erased = self.painter.resized(self.size.columns);
            self.note_failed_write(&erased);
        }
    }

    /// Removes the screen; finished lines stay.
    pub(crate) fn close(mut self) {
        let above = self.scrollback.end();
        // Like every line for people, it is dropped if the terminal is gone.
        let _ = self.painter.paint(&above, &[]);
    }

    fn restore_terminal(&mut self) {
        let _ = self.painter.erase();
        terminal::restore();
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.restore_terminal();
    }
}
