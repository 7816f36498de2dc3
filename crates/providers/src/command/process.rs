//! One running program with its process group, supervisor and folder, all of which are removed
//! whatever happens.

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
    environment::Launch,
    processes,
    run_folder::{self, RunFolder},
    supervisor::{self, Supervisor},
};

/// A running program. Dropping it kills its group and removes its folder.
pub(super) struct Process {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    /// The program's exit status. Its group is killed by the time it arrives.
    pub(super) ended: oneshot::Receiver<ExitStatus>,
    /// Last, so that the pipes are closed when the group is killed.
    kill_on_drop: KillOnDrop,
}

impl Process {
    /// Starts the program. Must be called within a tokio runtime.
    pub(super) fn start(launch: Launch) -> Result<Self, ProviderError> {
        let name = launch.name.clone();
        start(launch).map_err(|error| {
            let message = format!("the program {name} could not be started: {error}");
            // A too long argument or a broken program is permanent; a full process table is not.
            let class = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => ErrorClass::ApiError,
                _ => ErrorClass::Validation,
            };
            ProviderError::new(class, message)
        })
    }

    /// Kills the program and everything in its group at once.
    pub(super) fn kill(&self) {
        self.kill_on_drop.0.kill();
    }
}

fn start(launch: Launch) -> io::Result<Process> {
    let folder = RunFolder::new()?;
    folder.add_files(launch.files)?;
    let group = Arc::new(Group { kill_handle: Mutex::new(None), folder: folder.path().to_owned() });
    let (ended, kill_on_drop) = (oneshot::channel(), KillOnDrop(group.clone()));
    // The reaper thread starts before the program, so that no program is ever without one.
    let (hand_over, to_reap) = mpsc::channel();
    thread::Builder::new()
        .name("quorum-reaper".to_owned())
        .spawn(move || reap(&to_reap, &group, folder, ended.0))?;
    let Started { mut child, stdin, kill_handle } = spawn(launch, &kill_on_drop.0)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    kill_on_drop.0.set_kill_handle(kill_handle);
    // The reaper thread waits until it receives a program or the channel closes.
    drop(hand_over.send(child));
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
        return Err(io::Error::other("its output is not piped"));
    };
    Ok(Process {
        stdin: Some(ChildStdin::from_std(stdin)?),
        stdout: Some(ChildStdout::from_std(stdout)?),
        stderr: Some(ChildStderr::from_std(stderr)?),
        ended: ended.1,
        kill_on_drop,
    })
}

/// A program that was just started, or its supervisor.
struct Started {
    child: Child,
    stdin: std::process::ChildStdin,
    kill_handle: KillHandle,
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
        // A supervisor marks the program it starts, not itself.
        command.env(run_folder::MARK, &group.folder);
    }
    command.current_dir(&group.folder).process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let kill_handle =
        control.map_or_else(|| KillHandle::Group(Pid::from_child(&child)), KillHandle::Supervisor);
    Ok(Started { child, stdin: OwnedFd::from(prompt).into(), kill_handle })
}

/// The command of a supervisor, and the socket whose closing makes it end the program.
fn supervised(
    supervisor: &Supervisor,
    launch: &Launch,
    group: &Group,
    stdin: &OwnedFd,
) -> io::Result<(Command, Option<UnixStream>)> {
    let (ours, theirs) = UnixStream::pair()?;
    supervisor::send_stdin(&ours, stdin)?;
    let mut command = supervisor.command(&group.folder, &launch.path);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    Ok((command, Some(ours)))
}

/// A program with everything it started.
struct Group {
    /// How it is killed; `None` before its start and after its end.
    kill_handle: Mutex<Option<KillHandle>>,
    folder: PathBuf,
}

/// How a program is killed.
enum KillHandle {
    /// By killing its process group. The group's number can't be reused until the leader is reaped.
    Group(Pid),
    /// By closing this socket; the supervisor does the rest.
    Supervisor(UnixStream),
}

impl Group {
    fn set_kill_handle(&self, kill_handle: KillHandle) {
        *self.kill_handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(kill_handle);
    }

    fn kill(&self) {
        match &*self.kill_handle.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(KillHandle::Group(leader)) => kill(*leader),
            // Fails if the supervisor has ended, which is fine.
            Some(KillHandle::Supervisor(control)) => drop(control.shutdown(Shutdown::Both)),
            None => {}
        }
    }

    /// Waits until the leader has ended, kills the rest of its group, and only then reaps the
    /// leader.
    fn wait_and_kill_rest(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let look = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let seen = rustix::io::retry_on_intr(look);
        let mut kill_handle = self.kill_handle.lock().unwrap_or_else(PoisonError::into_inner);
        let is_supervised = !matches!(kill_handle.take(), Some(KillHandle::Group(_)));
        drop(kill_handle);
        if seen.is_ok() && !is_supervised {
            kill(pid);
        }
        let status = child.wait()?;
        // A supervisor that was killed could not end the program.
        if is_supervised && status.signal().is_some() {
            processes::end_marked(&self.folder);
        }
        Ok(status)
    }
}

fn kill(leader: Pid) {
    // Fails if the group is already empty, which is fine.
    let _ = kill_process_group(leader, Signal::KILL);
}

/// Kills the group when dropped.
struct KillOnDrop(Arc<Group>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
        // The reaper thread does this again, but it may not get to it if this process is about to
        // end.
        drop(fs::remove_dir_all(&self.0.folder));
    }
}

/// Waits for one program and cleans up after it, on a thread of its own so that it works without
/// the runtime.
fn reap(
    children: &mpsc::Receiver<Child>,
    group: &Group,
    folder: RunFolder,
    ended: oneshot::Sender<ExitStatus>,
) {
    if let Ok(mut child) = children.recv() {
        match group.wait_and_kill_rest(&mut child) {
            // The receiver is gone after a cancelled call.
            Ok(status) => drop(ended.send(status)),
            Err(error) => tracing::debug!(%error, "a program's exit status is unknown"),
        }
    }
    drop(folder);
}
