//! One running program, with its process group, its supervisor and its folder: whatever happens, nothing of it stays.

use std::{
    fs, io,
    net::Shutdown,
    os::{
        fd::OwnedFd,
        unix::{
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use quorum_core::model::error::{ErrorClass, ProviderError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::oneshot,
};

use super::{
    processes,
    seat::{self, Seat},
    supervisor::{self, Supervisor},
    surroundings::Launch,
};

/// A running program. Dropping it kills its group and removes its folder.
pub(super) struct Process {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    /// How the program itself ended. By then its group is killed.
    pub(super) ended: oneshot::Receiver<ExitStatus>,
    /// Last, so that the pipes are closed when the group is killed.
    leash: Leash,
}

impl Process {
    /// Starts it. Must be called within a runtime.
    pub(super) fn start(launch: Launch) -> Result<Self, ProviderError> {
        let name = launch.name.clone();
        start(launch).map_err(|error| {
            let message = format!("the program {name} could not be started: {error}");
            // An argument that is too long or a broken program stays so; a full process table does not.
            let class = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => ErrorClass::ApiError,
                _ => ErrorClass::Validation,
            };
            ProviderError::new(class, message)
        })
    }

    /// Ends it and everything in its group, now.
    pub(super) fn kill(&self) {
        self.leash.0.kill();
    }
}

fn start(launch: Launch) -> io::Result<Process> {
    let seat = Seat::new()?;
    seat.furnish(launch.files)?;
    let group = Arc::new(Group { reach: Mutex::new(None), folder: seat.path().to_owned() });
    let (ended, leash) = (oneshot::channel(), Leash(group.clone()));
    // The keeper is there before the program is, so that no program is ever without one.
    let (hand_over, to_keep) = mpsc::channel();
    thread::Builder::new()
        .name("quorum-keeper".to_owned())
        .spawn(move || keep(&to_keep, &group, seat, ended.0))?;
    let Started { mut child, stdin, reach } = spawn(launch, &leash.0)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    leash.0.reach_by(reach);
    // A keeper only ends when it was given a program or when there is none.
    drop(hand_over.send(child));
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
        return Err(io::Error::other("it has no pipes"));
    };
    Ok(Process {
        stdin: Some(ChildStdin::from_std(stdin)?),
        stdout: Some(ChildStdout::from_std(stdout)?),
        stderr: Some(ChildStderr::from_std(stderr)?),
        ended: ended.1,
        leash,
    })
}

/// A program that was just started, or its supervisor.
struct Started {
    child: Child,
    stdin: std::process::ChildStdin,
    reach: Reach,
}

fn spawn(launch: Launch, group: &Group) -> io::Result<Started> {
    let (stdin, prompt) = io::pipe()?;
    let stdin = OwnedFd::from(stdin);
    let (mut command, control) = match &launch.supervisor {
        Some(supervisor) => supervised(supervisor, &launch, group, &stdin)?,
        None => {
            let mut command = Command::new(&launch.path);
            command.stdin(Stdio::from(stdin));
            (command, None)
        }
    };
    command.args(&launch.arguments).env_clear().envs(launch.environment);
    if control.is_none() {
        // A supervisor marks what it starts, and not itself.
        command.env(seat::MARK, &group.folder);
    }
    command.current_dir(&group.folder).process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let reach = control.map_or_else(|| Reach::Group(Pid::from_child(&child)), Reach::Supervisor);
    Ok(Started { child, stdin: OwnedFd::from(prompt).into(), reach })
}

/// The command of a supervisor, and the socket by which it is told to end the program.
fn supervised(
    supervisor: &Supervisor,
    launch: &Launch,
    group: &Group,
    stdin: &OwnedFd,
) -> io::Result<(Command, Option<UnixStream>)> {
    let (ours, theirs) = UnixStream::pair()?;
    supervisor::hand_over(&ours, stdin)?;
    let mut command = supervisor.command(&group.folder, &launch.path);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    Ok((command, Some(ours)))
}

/// A program and everything it started.
struct Group {
    /// How it is ended, as long as it can be.
    reach: Mutex<Option<Reach>>,
    folder: PathBuf,
}

/// How a program is ended.
enum Reach {
    /// By killing its process group. The number can't be that of another one until the leader is reaped.
    Group(Pid),
    /// By closing this socket: its supervisor does the rest.
    Supervisor(UnixStream),
}

impl Group {
    fn reach_by(&self, reach: Reach) {
        *self.reach.lock().unwrap_or_else(PoisonError::into_inner) = Some(reach);
    }

    fn kill(&self) {
        match &*self.reach.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Reach::Group(leader)) => kill(*leader),
            // A supervisor that has ended can't be told anything, and needn't.
            Some(Reach::Supervisor(control)) => drop(control.shutdown(Shutdown::Both)),
            None => {}
        }
    }

    /// Waits until the leader has ended, ends those it left behind, and only then gives its number free.
    fn outlive(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let look = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let seen = rustix::io::retry_on_intr(look);
        let mut reach = self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        let is_supervised = !matches!(reach.take(), Some(Reach::Group(_)));
        drop(reach);
        if seen.is_ok() && !is_supervised {
            kill(pid);
        }
        let status = child.wait()?;
        // A supervisor that was killed itself could not do its work.
        if is_supervised && status.signal().is_some() {
            processes::end_marked(&self.folder);
        }
        Ok(status)
    }
}

fn kill(leader: Pid) {
    // A group that is already empty is what we want.
    let _ = kill_process_group(leader, Signal::KILL);
}

/// Kills the group when it is let go.
struct Leash(Arc<Group>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill();
        // The keeper does this again; but it may not get to it when this process is about to end.
        drop(fs::remove_dir_all(&self.0.folder));
    }
}

/// Stays with one program until it has ended. A thread of its own, so that it does so whatever becomes of the runtime.
fn keep(children: &mpsc::Receiver<Child>, group: &Group, seat: Seat, ended: oneshot::Sender<ExitStatus>) {
    if let Ok(mut child) = children.recv() {
        match group.outlive(&mut child) {
            // Nobody listens any more after a cancelled call.
            Ok(status) => drop(ended.send(status)),
            Err(error) => tracing::debug!(%error, "how a program ended is not known"),
        }
    }
    drop(seat);
}
