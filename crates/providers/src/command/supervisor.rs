//! A small process between this one and a program: it kills the program, with everything the
//! program started, as soon as this process dies, for whatever reason.
//!
//! The supervisor is a hidden mode of a program that uses this crate; `ax` has it. Such a program
//! calls [`serve`] first thing in its `main`:
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
//! and passes [`Supervisor::this_program`] to [`crate::setup::Setup::supervised_by`], or puts it
//! into [`crate::source::Program::supervisor`]. Another binary that calls [`serve`] can be named
//! with [`Supervisor::new`].
//!
//! Without a supervisor, programs are killed with their process group when their answer is
//! complete, dropped or too late; but a `kill -9` of this process leaves them running, and so does
//! leaving the group. Leftovers are killed and removed when this crate starts the next program.
//!
//! The two processes are connected by a socket. It is the supervisor's standard input, and its end
//! of file means that the program must be killed. The kernel closes it when a process dies, so
//! neither a signal nor a race can be missed. The one message on it carries the descriptor of the
//! program's own standard input; output and errors are inherited. Nothing is copied.

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
    run_folder,
};

/// The argument that selects the hidden mode.
const MODE_ARGUMENT: &str = "__supervise";

/// Held while a process is reaped or killed: the number of a reaped process may be reused, and the
/// process that got it must not be killed.
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

    /// The running program; `None` if it has not called [`serve`], or on systems other than Linux.
    #[must_use]
    pub fn this_program() -> Option<Self> {
        // This path stays valid even if an update replaces the file while the program runs.
        let serves = SERVES.load(Ordering::Relaxed) && cfg!(target_os = "linux");
        serves.then(|| Supervisor::new(PathBuf::from("/proc/self/exe")))
    }

    /// The command of a supervisor for this program, which runs in this folder.
    pub(super) fn command(&self, folder: &Path, program: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0("quorum-supervisor").arg(MODE_ARGUMENT).arg(folder).arg(program);
        command
    }
}

/// Sends the program's standard input to its supervisor, which has the other end of this socket.
pub(super) fn send_stdin(control: &UnixStream, stdin: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    let descriptors = [stdin.as_fd()];
    if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("there is no room for a descriptor"));
    }
    sendmsg(control, &[IoSlice::new(b"0")], &mut message, SendFlags::empty())?;
    Ok(())
}

/// Supervises a program if this process was started for that; otherwise returns `None` at once.
/// Call it before anything else: a supervisor starts before every program.
pub fn serve() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|it| it != MODE_ARGUMENT) {
        SERVES.store(true, Ordering::Relaxed);
        return None;
    }
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        eprintln!("this mode is for internal use");
        return Some(ExitCode::from(2));
    };
    let supervised = supervise(Path::new(&folder), &program, arguments);
    Some(supervised.unwrap_or_else(|error| {
        eprintln!("the program could not be started: {error}");
        // The exit code of shells for a program that can't be started.
        ExitCode::from(127)
    }))
}

fn supervise(
    folder: &Path,
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<ExitCode> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdin = receive_stdin(&control)?;
    // From now on, processes whose parent ends become children of this one.
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new(program)
        .args(arguments)
        .env(run_folder::MARK, folder)
        .process_group(0)
        .stdin(Stdio::from(stdin))
        .spawn()?;
    let child = Pid::from_child(&child);
    release_output()?;
    thread::spawn(|| kill_when_closed(control));
    let status = wait_for(child)?;
    processes::end_descendants(reap);
    run_folder::remove_ended(folder);
    Ok(exit_like(status))
}

fn receive_stdin(control: &UnixStream) -> io::Result<OwnedFd> {
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

/// Closes this process's copies of output and errors, so that the reader sees their end when the
/// program closes them.
fn release_output() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    Ok(rustix::stdio::dup2_stderr(&nowhere)?)
}

/// Waits until the parent closes its end or dies; then kills until no process is left.
fn kill_when_closed(mut control: UnixStream) {
    let mut byte = [0];
    while matches!(control.read(&mut byte), Ok(1..)) {}
    loop {
        let guard = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
        processes::kill_descendants();
        drop(guard);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reaps every process that ends, until the program itself does.
fn wait_for(child: Pid) -> io::Result<WaitStatus> {
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

/// Ends this process with the program's exit code or signal.
fn exit_like(status: WaitStatus) -> ExitCode {
    let Some(signal) = status.terminating_signal() else {
        return ExitCode::from(status.exit_status().and_then(|it| u8::try_from(it).ok()).unwrap_or(1));
    };
    // The program's own core dump is enough.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
    // The exit code of shells for a program that a signal ended. Reached if the signal doesn't end
    // this process.
    ExitCode::from(128_u8.saturating_add(u8::try_from(signal).unwrap_or_default()))
}
