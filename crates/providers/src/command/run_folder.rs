//! The folder a program runs in, with a lock file beside it that tells whether the folder's owner
//! is still alive.
//!
//! A killed process can't remove its folders. The kernel releases its locks though, so the next
//! process that starts a program recognises folders without an owner, kills what still runs in them
//! and removes them.

use std::{
    env, fs,
    fs::{DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    sync::Once,
    thread,
    time::Duration,
};

use rustix::process::geteuid;
use tempfile::NamedTempFile;

use super::processes;

/// The prefix of all folder and lock names.
const PREFIX: &str = "quorum-seat-";
const LOCK: &str = "lock";

/// The environment variable with a program's folder. Everything the program starts inherits it, so
/// that it can be found.
pub(super) const MARK: &str = "QUORUM_SEAT";

/// A program that was just killed may still be writing to the folder for a moment, so removal is
/// retried.
const REMOVE_ATTEMPTS: u32 = 20;
const REMOVE_PAUSE: Duration = Duration::from_millis(10);

/// An empty folder for one program, removed on drop.
pub(super) struct RunFolder {
    path: PathBuf,
    /// Last, so that the folder has an owner as long as it exists. Its file is locked and is
    /// removed with it.
    _lock: NamedTempFile,
}

impl RunFolder {
    /// Creates a folder. The first call in a process also removes folders that dead processes left
    /// behind.
    pub(super) fn new() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        let parent = env::temp_dir();
        SWEPT.call_once(|| sweep(&parent));
        RunFolder::within(&parent)
    }

    fn within(parent: &Path) -> io::Result<Self> {
        loop {
            let suffix = format!(".{LOCK}");
            let lock = tempfile::Builder::new().prefix(PREFIX).suffix(&suffix).tempfile_in(parent)?;
            // Before the file is locked here, another process may take it for a lock without an
            // owner.
            if lock.as_file().try_lock().is_err() {
                continue;
            }
            let path = lock.path().with_extension("");
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(RunFolder { path, _lock: lock }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts files into the folder, for programs that look for their settings where they run.
    pub(super) fn add_files(&self, files: &[(&str, &str)]) -> io::Result<()> {
        for (name, text) in files {
            let file = self.path.join(name);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(file, text)?;
        }
        Ok(())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the folder of a program that has ended, and its lock. For a process that doesn't own the
/// folder.
pub(super) fn remove_ended(folder: &Path) {
    if is_run_folder(folder) {
        remove(folder);
        // Fails if there is no lock, which is fine.
        drop(fs::remove_file(folder.with_extension(LOCK)));
    }
}

/// Whether the path is a program's folder, judging by its name and its lock. Nothing else is ever
/// removed.
fn is_run_folder(folder: &Path) -> bool {
    let has_name = folder.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(PREFIX));
    has_name && is_ours(&folder.with_extension(LOCK))
}

fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| !it.is_symlink() && it.uid() == geteuid().as_raw())
}

fn remove(folder: &Path) {
    for _ in 0..REMOVE_ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(REMOVE_PAUSE),
            _ => return,
        }
    }
    tracing::warn!(folder = %folder.display(), "a program's folder could not be removed");
}

/// Kills the programs and removes the folders that dead processes of this user left in this
/// directory.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    for lock in entries.filter(|it| it.extension().is_some_and(|it| it == LOCK)) {
        let folder = lock.with_extension("");
        if is_run_folder(&folder)
            && let Some(_held) = lock_if_unowned(&lock)
        {
            processes::end_marked(&folder);
            remove_ended(&folder);
        }
    }
}

/// The lock, if no process holds it and it is still the file of that name.
fn lock_if_unowned(lock: &Path) -> Option<File> {
    let named = lock.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
    let file = File::open(lock).ok()?;
    file.try_lock().ok()?;
    let is_same = file.metadata().is_ok_and(|it| (it.dev(), it.ino()) == (named.dev(), named.ino()));
    is_same.then_some(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(parent: &Path) -> Vec<String> {
        let names = fs::read_dir(parent).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn f16_a_folder_is_private_and_goes_with_its_lock() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::within(parent.path()).unwrap();
        folder.add_files(&[("a/b.json", "{}")]).unwrap();
        assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(names(parent.path()).len(), 2);
        drop(folder);
        assert_eq!(names(parent.path()), Vec::<String>::new());
    }

    #[test]
    fn f16_only_folders_without_an_owner_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let alive = RunFolder::within(parent.path()).unwrap();
        let make = |name: &str| fs::create_dir_all(parent.path().join(name)).unwrap();
        let touch = |name: &str| fs::write(parent.path().join(name), "").unwrap();
        // Left by a killed process: a folder with content and a lock that no process holds.
        make("quorum-seat-dead/left/behind");
        touch("quorum-seat-dead.lock");
        // Not ours: other names, a folder without a lock, and links to elsewhere.
        make("other");
        touch("other.lock");
        make("quorum-seat-bare");
        make("precious/things");
        symlink(parent.path().join("other.lock"), parent.path().join("quorum-seat-link.lock")).unwrap();
        symlink(parent.path().join("precious"), parent.path().join("quorum-seat-aimed")).unwrap();
        touch("quorum-seat-aimed.lock");
        sweep(parent.path());
        assert!(alive.path().exists() && parent.path().join("precious/things").exists());
        let stem = alive.path().file_name().unwrap().to_str().unwrap().to_owned();
        let lock = format!("{stem}.lock");
        let mut expected =
            ["other", "other.lock", "precious", "quorum-seat-bare", "quorum-seat-link.lock", &stem, &lock];
        expected.sort_unstable();
        let left: Vec<String> =
            names(parent.path()).into_iter().filter(|it| it != "quorum-seat-aimed").collect();
        assert_eq!(left, expected);
    }
}
