//! The terminal's settings: changed when the screen is shown, restored on every exit path.

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

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// A narrower terminal gets plain lines in place of the screen.
const NARROWEST: usize = 40;

/// The size of the terminal's input buffer.
const MOST_TYPED: usize = 4_096;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
/// Shows the cursor and turns line wrapping back on, even after a partly written frame.
const RESTORE: &str = "\u{1b}[?2026l\u{1b}[?7h\u{1b}[?25h";

/// The original settings, while they are changed.
static SAVED: Mutex<Option<SavedModes>> = Mutex::new(None);

#[derive(Debug)]
struct SavedModes {
    modes: Termios,
}

/// Whether stderr can show the live screen, not only lines.
pub(crate) fn can_show_live_view() -> bool {
    let wide = NARROWEST <= size().columns && !crate::log::is_on();
    std::io::stderr().is_terminal() && wide && allows_live_view() && is_foreground()
}

/// Whether the environment allows more than plain lines.
pub(crate) fn allows_live_view() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    !dumb && std::env::var_os("CI").is_none_or(|ci| ci.is_empty() || ci == "false")
}

/// Whether a person can press keys here.
pub(crate) fn has_keys() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The size of stderr's terminal; 80 by 24 if unknown.
pub(crate) fn size() -> Size {
    let known = tcgetwinsize(stderr()).ok().filter(|it| 0 < it.ws_col && 0 < it.ws_row);
    known.map_or(Size { columns: 80, rows: 24 }, |it| Size {
        columns: usize::from(it.ws_col),
        rows: usize::from(it.ws_row),
    })
}

/// The width of stdout's terminal.
pub(crate) fn columns_of_stdout() -> usize {
    let known = tcgetwinsize(stdout()).ok().filter(|it| 0 < it.ws_col);
    known.map_or(80, |it| usize::from(it.ws_col))
}

/// Whether this process may draw on the terminal: a background job must not.
pub(crate) fn is_foreground() -> bool {
    tcgetpgrp(stderr()).map_or(true, |group| group == getpgrp())
}

/// Hides the cursor and turns off echo; with a keyboard, keys are also read one by one. Signals
/// keep working.
pub(crate) fn set_up() -> std::io::Result<()> {
    restore_on_panic();
    let mut saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    // After a stop from outside, the settings saved first still count as the original ones: other
    // programs may have changed the terminal since.
    let usual = match saved.take() {
        Some(SavedModes { modes }) => modes,
        None => tcgetattr(stderr())?,
    };
    let modes = if has_keys() { unbuffered(usual.clone()) } else { without_echo(usual.clone()) };
    tcsetattr(stderr(), OptionalActions::Now, &modes)?;
    *saved = Some(SavedModes { modes: usual });
    std::io::stderr().write_all(HIDE_CURSOR.as_bytes())
}

/// Delivers keys immediately; reading without a pressed key returns at once.
fn unbuffered(modes: Termios) -> Termios {
    let mut modes = without_echo(modes);
    modes.local_modes.remove(LocalModes::ICANON);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

/// Turns off echo, so that typed text and `^C` don't disturb the screen.
fn without_echo(mut modes: Termios) -> Termios {
    modes.local_modes.remove(LocalModes::ECHO);
    modes
}

/// The terminal while a line is edited: keys one by one and without echo. Signals keep working.
/// Restored when this is dropped.
pub(crate) struct LineMode(Termios);

impl LineMode {
    pub(crate) fn begin() -> std::io::Result<LineMode> {
        let usual = tcgetattr(stdin())?;
        let mode = LineMode(usual);
        mode.again()?;
        Ok(mode)
    }

    /// Sets it again, after this process was stopped or another program had the terminal.
    pub(crate) fn again(&self) -> std::io::Result<()> {
        let mut modes = without_echo(self.0.clone());
        // Without the extensions, Ctrl-V and Ctrl-O arrive as keys.
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::IEXTEN);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(stdin(), OptionalActions::Now, &modes)?)
    }

    /// Restores the usual settings for a while.
    pub(crate) fn pause(&self) {
        // A closed terminal needs no restoring.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

impl Drop for LineMode {
    fn drop(&mut self) {
        self.pause();
    }
}

/// Waits for a key; `None` at the end of the input.
pub(crate) fn next_byte() -> Option<u8> {
    let mut byte = [0];
    loop {
        match read(stdin(), &mut byte[..]) {
            Ok(1) => return Some(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return None,
        }
    }
}

/// Restores all settings; does nothing if none were changed.
pub(crate) fn restore() {
    // A held lock means that the panic came from this module, in the middle of changing the
    // settings.
    let Ok(mut saved) = SAVED.try_lock() else { return };
    let Some(SavedModes { modes }) = saved.take() else { return };
    // A closed terminal needs no restoring.
    let _ = std::io::stderr().write_all(RESTORE.as_bytes());
    // In the background the terminal belongs to the shell, and changing it would stop this process.
    if is_foreground() {
        let _ = tcsetattr(stderr(), OptionalActions::Now, &modes);
    }
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            usual(panic);
        }));
    });
}

/// Stops this process as Ctrl-Z would, until it is continued.
pub(crate) fn suspend() {
    let _ = kill_process(getpid(), Signal::STOP);
}

/// The bytes typed since the last call. Never blocks, whatever modes the terminal is in.
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

    /// Set in the child process that is to panic.
    const PANICS: &str = "AX_TEST_PANICS";
    const NAME: &str = "terminal::tests::a_panic_gives_the_terminal_back";

    #[test]
    fn a_panic_gives_the_terminal_back() {
        if std::env::var_os(PANICS).is_some() {
            set_up().unwrap();
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
        // Returns an error once the other end is closed.
        let _ = File::from(master.try_clone().unwrap()).read_to_end(&mut bytes);
        assert!(!child.wait().unwrap().success());
        let said = String::from_utf8_lossy(&bytes);
        let places = [HIDE_CURSOR, RESTORE, "on purpose"].map(|it| said.find(it));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said:?}");
        assert_eq!(tcgetattr(&master).unwrap().local_modes, before);
    }
}
