//! A pseudo-terminal running `ax`, with methods to read the screen and type.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    rc::Rc,
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use quorum_testkit::coverage;
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize},
};
use tempfile::TempDir;

/// The limit for any wait; a machine under load may be slow.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Terminal {
    home: Rc<TempDir>,
    master: File,
    child: Child,
    output: Receiver<Vec<u8>>,
    pub(crate) parser: vt100::Parser,
    /// All bytes written, unprocessed.
    pub(crate) raw: Vec<u8>,
    pub(crate) before: Termios,
}

/// The differences from a plain terminal of 24 rows.
#[derive(Default)]
pub(crate) struct Setup<'a> {
    pub(crate) columns: u16,
    pub(crate) env: &'a [(&'a str, &'a str)],
    /// Whether stdout goes to a file instead of the terminal.
    pub(crate) piped_stdout: bool,
    /// Whether there is no keyboard.
    pub(crate) no_stdin: bool,
}

pub(crate) const ROWS: u16 = 40;

impl Terminal {
    pub(crate) fn run(args: &[&str], setup: &Setup<'_>) -> Terminal {
        Terminal::at(Rc::new(TempDir::new().unwrap()), args, setup)
    }

    /// Another command in the same environment.
    pub(crate) fn next(&self, args: &[&str]) -> Terminal {
        Terminal::at(self.home.clone(), args, &Setup { columns: 100, ..Setup::default() })
    }

    /// The same with stdout in a file.
    pub(crate) fn next_piped(&self, args: &[&str]) -> Terminal {
        Terminal::at(self.home.clone(), args, &Setup { columns: 100, piped_stdout: true, ..Setup::default() })
    }

    fn at(home: Rc<TempDir>, args: &[&str], setup: &Setup<'_>) -> Terminal {
        let (master, slave) = pair(setup.columns);
        let before = tcgetattr(&master).unwrap();
        let stdout = match setup.piped_stdout {
            true => Stdio::from(File::create(home.path().join("stdout")).unwrap()),
            false => Stdio::from(slave.try_clone().unwrap()),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_ax"));
        command.args(args).current_dir(home.path()).env_clear().env("HOME", home.path());
        command
            .env("AX_CONFIG", home.path().join("config.toml"))
            .env("AX_DATA_DIR", home.path().join("data"));
        command.env("TERM", "xterm-256color").envs(coverage::profile()).envs(setup.env.iter().copied());
        let stdin = if setup.no_stdin { Stdio::null() } else { Stdio::from(slave.try_clone().unwrap()) };
        command.stdin(stdin).stdout(stdout).stderr(slave);
        std::fs::write(home.path().join("config.toml"), "").unwrap();
        let child = command.spawn().unwrap();
        // The command keeps the other end open; it must close with the child.
        drop(command);
        let output = reader(master.as_fd().try_clone_to_owned().unwrap());
        let parser = vt100::Parser::new(ROWS, setup.columns, 10_000);
        Terminal { home, master: File::from(master), child, output, parser, raw: Vec::new(), before }
    }

    /// Reads until the screen is as expected.
    #[track_caller]
    pub(crate) fn until(&mut self, expected: impl Fn(&str) -> bool) -> String {
        self.until_screen(|screen| expected(&screen.contents()))
    }

    /// The same, including the cursor and the modes.
    #[track_caller]
    pub(crate) fn until_screen(&mut self, expected: impl Fn(&vt100::Screen) -> bool) -> String {
        let end = Instant::now() + TIMEOUT;
        loop {
            let shown = self.contents();
            if expected(self.parser.screen()) {
                return shown;
            }
            let Ok(bytes) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) else {
                panic!("not to be seen:\n{shown}");
            };
            self.take(&bytes);
        }
    }

    #[track_caller]
    pub(crate) fn sees(&mut self, words: &str) -> String {
        self.until(|shown| shown.contains(words))
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.raw.extend(bytes);
    }

    pub(crate) fn contents(&self) -> String {
        self.parser.screen().contents()
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn resize(&mut self, columns: u16) {
        tcsetwinsize(&self.master, winsize(columns)).unwrap();
        self.parser.screen_mut().set_size(ROWS, columns);
        self.signal(Signal::WINCH);
    }

    pub(crate) fn modes(&self) -> LocalModes {
        tcgetattr(&self.master).unwrap().local_modes
    }

    /// Waits for the end, and checks that the terminal is restored.
    #[track_caller]
    pub(crate) fn ends(&mut self, code: i32) -> String {
        let status = self.waited();
        assert_eq!(status.code(), Some(code), "{}", self.contents());
        let (screen, shown) = (self.parser.screen(), self.contents());
        assert!(!screen.hide_cursor(), "the cursor is still hidden:\n{shown}");
        assert_eq!(screen.cursor_position().1, 0, "the prompt would not be on a line of its own:\n{shown}");
        assert_eq!(self.modes(), self.before.local_modes);
        let text = String::from_utf8_lossy(&self.raw);
        assert!(text.rfind("\u{1b}[?7l") <= text.rfind("\u{1b}[?7h"), "lines are not wrapped any more");
        for left in ["▌", "? keys", "first token pending"] {
            assert!(!shown.contains(left), "{left} is left over:\n{shown}");
        }
        shown
    }

    /// Waits for the end.
    pub(crate) fn waited(&mut self) -> ExitStatus {
        let end = Instant::now() + TIMEOUT;
        while let Ok(bytes) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.take(&bytes);
        }
        self.child.wait().unwrap()
    }

    /// The content of stdout, if it was not a terminal.
    pub(crate) fn stdout(&self) -> String {
        std::fs::read_to_string(self.home.path().join("stdout")).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn winsize(columns: u16) -> Winsize {
    Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

pub(crate) fn pair(columns: u16) -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, winsize(columns)).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(Path::new(&name)).unwrap();
    (master, OwnedFd::from(slave))
}

/// Receives what is written to the terminal, until its last user closes it.
fn reader(master: OwnedFd) -> Receiver<Vec<u8>> {
    let (sender, output) = channel();
    std::thread::spawn(move || {
        let mut master = File::from(master);
        let mut bytes = [0; 4096];
        while let Ok(read) = master.read(&mut bytes)
            && 0 < read
            && sender.send(bytes[..read].to_vec()).is_ok()
        {}
    });
    output
}
