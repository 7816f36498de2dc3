//! A small process between this one and a program: it ends the program, with everything the program started, as soon as this
//! process dies, however that happens.
//!
//! The supervisor is a hidden mode of a program that uses this crate; `ax` has it. Such a program calls [`serve`] first thing in
//! its `main`:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     if let Some(code) = quorum_providers::command::supervisor::serve() {
//!         return code;
//!     }
//!     // … what the program does otherwise.
//!     std::process::ExitCode::SUCCESS
//! }
//! ```
//!
//! and gives [`Supervisor::this_program`] to [`crate::setup::Setup::supervised_by`], or puts it into
//! [`crate::source::Program::supervisor`]. Another binary that calls [`serve`] can be named with [`Supervisor::new`].
//!
//! Without a supervisor programs are ended with their process group when their answer is complete, dropped or too late; but a
//! `kill -9` of this process leaves them running, and so does leaving the group. What is left is ended and removed when the next
//! program is started by this crate.
//!
//! The two processes are connected by a socket: it is the supervisor's standard input, and the end of it means that the program
//! is to be ended. The kernel closes it with a process that dies, so that neither a signal nor a race can be missed. The one
//! message on it carries the descriptor of the program's own standard input; output and errors are inherited. Nothing is copied.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, IoSlice, IoSliceMut, Read},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::{
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
    process::{
        Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, kill_process,
        set_child_subreaper, setrlimit, wait, waitid,
    },
};

use super::{
    processes::{self, Reaped},
    seat,
};

/// The argument that asks for the hidden mode.
const WORD: &str = "__supervise";

/// Held while a process is reaped or killed: a reaped process may have given its number to another one, which must not be killed
/// in its place.
static REAPING: Mutex<()> = Mutex::new(());

/// Whether this program called [`serve`], and so has the hidden mode.
static SERVES: AtomicBool = AtomicBool::new(false);

/// A binary with the hidden mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    path: PathBuf,
}

impl Supervisor {
    /// The binary at this path. It must call [`serve`] first thing in its `main`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Supervisor { path }
    }

    /// The program that runs now; `None` if it has not called [`serve`], or where supervision needs what only Linux has.
    #[must_use]
    pub fn this_program() -> Option<Self> {
        // This path is right even when the file was replaced by an update while the program runs.
        let serves = SERVES.load(Ordering::Relaxed) && cfg!(target_os = "linux");
        serves.then(|| Supervisor::new(PathBuf::from("/proc/self/exe")))
    }

    /// The command that supervises this program, which runs in this folder.
    pub(super) fn command(&self, folder: &Path, program: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0("quorum-supervisor").arg(WORD).arg(folder).arg(program);
        command
    }
}

/// Hands the program's standard input over to its supervisor, which has the other end of this socket.
pub(super) fn hand_over(control: &UnixStream, stdin: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    let descriptors = [stdin.as_fd()];
    if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("there is no room for a descriptor"));
    }
    sendmsg(control, &[IoSlice::new(b"0")], &mut message, SendFlags::empty())?;
    Ok(())
}

/// Supervises a program if that is what this process was started for, and else returns `None` at once. To be called before
/// anything else is done: a supervisor starts before every program.
pub fn serve() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|it| it != WORD) {
        SERVES.store(true, Ordering::Relaxed);
        return None;
    }
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        eprintln!("this mode is for the program's own use");
        return Some(ExitCode::from(2));
    };
    let supervised = supervise(Path::new(&folder), &program, arguments);
    Some(supervised.unwrap_or_else(|error| {
        eprintln!("the program could not be started: {error}");
        // What shells say of a program they can't start.
        ExitCode::from(127)
    }))
}

fn supervise(
    folder: &Path,
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<ExitCode> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdin = handed_over(&control)?;
    // From now on processes that lose their parent become children of this one.
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new(program)
        .args(arguments)
        .env(seat::MARK, folder)
        .process_group(0)
        .stdin(Stdio::from(stdin))
        .spawn()?;
    let child = Pid::from_child(&child);
    let_go()?;
    thread::spawn(|| obey(control));
    let status = outlast(child)?;
    processes::end_descendants(reap);
    seat::clear(folder);
    Ok(pass_on(status))
}

fn handed_over(control: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(control, &mut [IoSliceMut::new(&mut byte)], &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = message.drain().find_map(|it| match it {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::Error::other("no standard input was handed over"))
}

/// Lets go of output and errors, which are the program's alone: the end of them must be seen when the program closes them.
fn let_go() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    Ok(rustix::stdio::dup2_stderr(&nowhere)?)
}

/// Waits until the parent says so by closing its end, or dies; then kills until nothing is left.
fn obey(mut control: UnixStream) {
    let mut byte = [0];
    while matches!(control.read(&mut byte), Ok(1..)) {}
    loop {
        let guard = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
        processes::kill_descendants();
        drop(guard);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reaps everything that ends, until the program itself does.
fn outlast(child: Pid) -> io::Result<WaitStatus> {
    loop {
        let look = || waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        rustix::io::retry_on_intr(look)?;
        let _guard = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
        match wait(WaitOptions::NOHANG)? {
            Some((pid, status)) if pid == child => return Ok(status),
            Some(_) | None => {}
        }
    }
}

fn reap() -> Reaped {
    let _guard = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
    match wait(WaitOptions::NOHANG) {
        Ok(Some(_)) => Reaped::One,
        Ok(None) | Err(Errno::INTR) => Reaped::NoneYet,
        Err(_) => Reaped::All,
    }
}

/// Ends this process as the program ended.
fn pass_on(status: WaitStatus) -> ExitCode {
    let Some(signal) = status.terminating_signal() else {
        return ExitCode::from(status.exit_status().and_then(|it| u8::try_from(it).ok()).unwrap_or(1));
    };
    // One dump of the program's memory is enough.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
    // What shells say of a program that a signal ended; a signal that doesn't end a process leads here.
    ExitCode::from(128_u8.saturating_add(u8::try_from(signal).unwrap_or_default()))
}
