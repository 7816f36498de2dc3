//! The terminal's own settings: taken when the screen comes up, given back on every way out.

use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, Once, PoisonError},
};

use rustix::{
    io::{ioctl_fionread, read},
    process::{Signal, getpgrp, getpid, kill_process},
    stdio::{stderr, stdin, stdout},
    termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    },
};

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// A narrower terminal gets lines one after the other.
const NARROWEST: usize = 40;

/// A terminal keeps no more for us.
const MOST_TYPED: usize = 4_096;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
/// The cursor and the wrapping of lines, whatever of a frame was written.
const RESTORE: &str = "\u{1b}[?2026l\u{1b}[?7h\u{1b}[?25h";

/// What was changed and has to be given back.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

#[derive(Debug)]
struct Taken {
    modes: Termios,
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

/// Hides the cursor and what is typed; where there are keys, they come one by one. Signals stay as they are.
pub(crate) fn take() -> std::io::Result<()> {
    give_back_on_panic();
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Who was stopped from outside still has the terminal, though others may have changed it since.
    let usual = match taken.take() {
        Some(Taken { modes }) => modes,
        None => tcgetattr(stderr())?,
    };
    let modes = if has_keys() { one_by_one(usual.clone()) } else { unseen(usual.clone()) };
    tcsetattr(stderr(), OptionalActions::Now, &modes)?;
    *taken = Some(Taken { modes: usual });
    std::io::stderr().write_all(HIDE_CURSOR.as_bytes())
}

/// Keys come at once, and asking for one that was not pressed doesn't wait.
fn one_by_one(modes: Termios) -> Termios {
    let mut modes = unseen(modes);
    modes.local_modes.remove(LocalModes::ICANON);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

/// What is typed, `^C` too, does not go right through the screen.
fn unseen(mut modes: Termios) -> Termios {
    modes.local_modes.remove(LocalModes::ECHO);
    modes
}

/// Gives everything back; does nothing when nothing is taken.
pub(crate) fn give_back() {
    // Who panics while this is locked has locked it here, and is at it.
    let Ok(mut taken) = TAKEN.try_lock() else { return };
    let Some(Taken { modes }) = taken.take() else { return };
    // A terminal that is gone needs nothing back.
    let _ = std::io::stderr().write_all(RESTORE.as_bytes());
    // In the background it is the shell's, and asking for a change would stop us.
    if is_foreground() {
        let _ = tcsetattr(stderr(), OptionalActions::Now, &modes);
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

/// What was typed since the last time. Never waits, whatever somebody did to the terminal's modes.
pub(crate) fn typed() -> Vec<u8> {
    let there = if has_keys() { ioctl_fionread(stdin()).unwrap_or_default() } else { 0 };
    let mut bytes = vec![0; usize::try_from(there).unwrap_or_default().min(MOST_TYPED)];
    let read = if bytes.is_empty() { 0 } else { read(stdin(), &mut *bytes).unwrap_or_default() };
    bytes.truncate(read);
    bytes
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, OpenOptions},
        io::Read,
        process::Command,
    };

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// Set in the process that is to panic.
    const PANICS: &str = "AX_TEST_PANICS";
    const NAME: &str = "terminal::tests::a_panic_gives_the_terminal_back";

    #[test]
    fn a_panic_gives_the_terminal_back() {
        if std::env::var_os(PANICS).is_some() {
            take().unwrap();
            panic!("on purpose");
        }
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
        let before = tcgetattr(&master).unwrap().local_modes;
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]).env(PANICS, "1");
        let mut child = command.stdin(slave()).stdout(slave()).stderr(slave()).spawn().unwrap();
        drop(command);
        let mut bytes = Vec::new();
        // Ends with an error when nobody has the other end open any more.
        let _ = File::from(master.try_clone().unwrap()).read_to_end(&mut bytes);
        assert!(!child.wait().unwrap().success());
        let said = String::from_utf8_lossy(&bytes);
        let places = [HIDE_CURSOR, RESTORE, "on purpose"].map(|it| said.find(it));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said:?}");
        assert_eq!(tcgetattr(&master).unwrap().local_modes, before);
    }
}
