//! Which processes are alive: each open store locks a file of its own, and the operating system
//! releases the lock when the process ends, for whatever reason.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

use crate::private;

const LOCK: &str = "lock";
const UNFINISHED: &str = "new";

/// The lock of this open store, which other processes can check.
pub(crate) struct Liveness {
    pub(crate) name: Arc<str>,
    has_swept: bool,
    folder: PathBuf,
    /// Locked while it is open.
    _file: File,
}

/// The folder of the locks, next to the database.
pub(crate) fn folder(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(".runners");
    database.with_file_name(name)
}

impl Liveness {
    pub(crate) fn start(database: &Path) -> io::Result<Self> {
        let folder = folder(database);
        private::folder(&folder)?;
        private::narrow(&folder);
        let name = Uuid::new_v4().simple().to_string();
        // It gets its final name only once it is locked: another process that found it unlocked
        // would take this one for dead.
        let unfinished = folder.join(&name).with_extension(UNFINISHED);
        let file = private::new_file(&unfinished)?;
        file.lock()?;
        fs::rename(&unfinished, path(&folder, &name))?;
        Ok(Liveness { name: name.into(), has_swept: false, folder, _file: file })
    }

    /// Whether the process with this lock is alive. Only inside a write transaction: two processes
    /// that test the same lock at once would each take the other for its owner.
    pub(crate) fn is_alive(&self, name: &str) -> bool {
        *name == *self.name || is_locked(&path(&self.folder, name))
    }

    /// Sweeps unless it has done so before, because reading a folder takes longer than writing a
    /// claim.
    pub(crate) fn sweep_once(&mut self) {
        if !self.has_swept {
            self.sweep();
        }
    }

    /// Removes the lock files of dead processes. Only inside a write transaction, for the same
    /// reason.
    pub(crate) fn sweep(&mut self) {
        self.has_swept = true;
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let locks =
            entries.flatten().map(|entry| entry.path()).filter(|it| it.extension() == Some(LOCK.as_ref()));
        let dead = locks.filter(|lock| *lock != path(&self.folder, &self.name) && !is_locked(lock));
        // A file that can't be removed does no harm.
        dead.for_each(|lock| drop(fs::remove_file(lock)));
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        drop(fs::remove_file(path(&self.folder, &self.name)));
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(LOCK)
}

fn is_locked(lock: &Path) -> bool {
    match File::open(lock).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
        // Where locks can't be tested, claims end only with their leases.
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
    }
}
