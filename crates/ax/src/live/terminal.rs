//! The terminal's own settings: taken when the screen comes up, given back on every way out.

use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, Once, PoisonError},
};

use rustix::{
    process::{Signal, getpgrp, getpid, kill_process},
    stdio::{stderr, stdin, stdout},
    termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    },
};

use crate::live::layout::Size;

/// A narrower terminal gets lines one after the other.
const NARROWEST: usize = 40;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
/// The cursor and the wrapping of lines, whatever of a frame was written.
const RESTORE: &str = "\u{1b}[?2026l\u{1b}[?7h\u{1b}[?25h";

/// What was changed and has to be given back.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

#[derive(Debug)]
struct Taken {
    modes: Option<Termios>,
}

/// Whether stderr is a place for a screen, or only for lines.
pub(crate) fn suits() -> bool {
    let wide = NARROWEST <= size().columns;
    std::io::stderr().is_terminal() && wide && is_lively() && is_foreground()
}

/// Whether the environment allows for more than lines.
pub(crate) fn is_lively() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    !dumb && std::env::var_os("CI").is_none_or(|ci| ci.is_empty() || ci == "false")
}

/// Whether somebody can press keys here.
pub(crate) fn has_keys() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// How large stderr's terminal is; what can't be known is taken to be usual.
pub(crate) fn size() -> Size {
    let known = tcgetwinsize(stderr()).ok().filter(|it| 0 < it.ws_col && 0 < it.ws_row);
    known.map_or(Size { columns: 80, rows: 24 }, |it| Size {
        columns: usize::from(it.ws_col),
        rows: usize::from(it.ws_row),
    })
}

/// How wide stdout's terminal is.
pub(crate) fn columns_of_stdout() -> usize {
    let known = tcgetwinsize(stdout()).ok().filter(|it| 0 < it.ws_col);
    known.map_or(80, |it| usize::from(it.ws_col))
}

/// Whether the terminal is ours to draw on: a job in the background must leave it alone.
pub(crate) fn is_foreground() -> bool {
    tcgetpgrp(stderr()).map_or(true, |group| group == getpgrp())
}

/// Hides the cursor and, where there are keys, has them come one by one and unseen. Signals stay as they are.
pub(crate) fn take() -> std::io::Result<()> {
    give_back_on_panic();
    let modes = if has_keys() { Some(tcgetattr(stdin())?) } else { None };
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.is_some() {
        return Ok(());
    }
    if let Some(modes) = &modes {
        tcsetattr(stdin(), OptionalActions::Now, &one_by_one(modes.clone()))?;
    }
    *taken = Some(Taken { modes });
    std::io::stderr().write_all(HIDE_CURSOR.as_bytes())
}

/// Keys come at once, and asking for one that was not pressed doesn't wait.
fn one_by_one(mut modes: Termios) -> Termios {
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

/// Gives everything back; does nothing when nothing is taken.
pub(crate) fn give_back() {
    // Who panics while this is locked has locked it here, and is at it.
    let Ok(mut taken) = TAKEN.try_lock() else { return };
    let Some(Taken { modes }) = taken.take() else { return };
    // A terminal that is gone needs nothing back.
    let _ = std::io::stderr().write_all(RESTORE.as_bytes());
    if let Some(modes) = modes {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}

fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            usual(panic);
        }));
    });
}

/// Stops this process as Ctrl-Z would have, until somebody has it go on.
pub(crate) fn suspend() {
    let _ = kill_process(getpid(), Signal::STOP);
}

/// What was typed since the last time.
pub(crate) fn typed() -> Vec<u8> {
    let mut bytes = [0; 64];
    let read = rustix::io::read(stdin(), &mut bytes).unwrap_or_default();
    bytes[..read].to_vec()
}
