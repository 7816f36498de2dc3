//! One running program, with its process group and its folder: whatever happens, nothing of it stays.

use std::{
    fs, io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use quorum_core::model::error::{ErrorClass, ProviderError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tempfile::TempDir;
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::oneshot,
};

use super::surroundings::Launch;

/// Those who were just killed may be in the middle of writing to the folder; a moment later they are not.
const REMOVALS: u32 = 20;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

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
    let folder = tempfile::Builder::new().prefix("quorum-").tempdir()?;
    let mut command = Command::new(&launch.path);
    command.args(&launch.arguments).env_clear().envs(launch.environment);
    command.current_dir(folder.path()).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let group = Arc::new(Group { leader: Mutex::new(None), folder: folder.path().to_owned() });
    let (ended, leash) = (oneshot::channel(), Leash(group.clone()));
    // The keeper is there before the program is, so that no program is ever without one.
    let (hand_over, to_keep) = mpsc::channel();
    thread::Builder::new()
        .name("quorum-keeper".to_owned())
        .spawn(move || keep(&to_keep, &group, folder, ended.0))?;
    let mut child = command.spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    leash.0.lead(&child);
    // A keeper only ends when it was given a program or when there is none.
    drop(hand_over.send(child));
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
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

/// A program and everything it started that stayed in its group.
struct Group {
    /// Its number, as long as it can't be anyone else's: until the leader is reaped.
    leader: Mutex<Option<Pid>>,
    folder: PathBuf,
}

impl Group {
    fn lead(&self, child: &Child) {
        *self.leader.lock().unwrap_or_else(PoisonError::into_inner) = Some(Pid::from_child(child));
    }

    fn kill(&self) {
        let leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leader) = *leader {
            kill(leader);
        }
    }

    /// Waits until the leader has ended, ends those it left behind, and only then gives its number free.
    fn outlive(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let look = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let seen = rustix::io::retry_on_intr(look);
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_ok() {
            kill(pid);
        }
        *leader = None;
        child.wait()
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
fn keep(
    children: &mpsc::Receiver<Child>,
    group: &Group,
    folder: TempDir,
    ended: oneshot::Sender<ExitStatus>,
) {
    if let Ok(mut child) = children.recv() {
        match group.outlive(&mut child) {
            // Nobody listens any more after a cancelled call.
            Ok(status) => drop(ended.send(status)),
            Err(error) => tracing::debug!(%error, "how a program ended is not known"),
        }
    }
    remove(folder);
}

fn remove(folder: TempDir) {
    let path = folder.keep();
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(BETWEEN_REMOVALS),
            _ => return,
        }
    }
    tracing::warn!(folder = %path.display(), "a program's folder could not be removed");
}
