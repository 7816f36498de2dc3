//! The folder a program runs in, with a lock file beside it that tells whether the folder's owner still lives.
//!
//! A killed process can't remove its folders. Its locks are released by the kernel though, so the next process that
//! starts a program recognises folders without an owner, ends what still runs in them and removes them.

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

/// How the names of all folders and locks begin.
const PREFIX: &str = "quorum-seat-";
const LOCK: &str = "lock";

/// The environment variable that has a program's folder: whatever the program starts inherits it, so that it can be found.
pub(super) const MARK: &str = "QUORUM_SEAT";

/// Programs that were just killed may be in the middle of writing to the folder; a moment later they are not.
const REMOVALS: u32 = 20;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

/// An empty folder of its own for one program. Dropping it removes the folder.
pub(super) struct Seat {
    path: PathBuf,
    /// Last, so that the folder has an owner as long as it exists. Its file is locked and is removed with it.
    _lock: NamedTempFile,
}

impl Seat {
    /// A new folder. The first one of a process also removes those that dead processes left behind.
    pub(super) fn new() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        let place = env::temp_dir();
        SWEPT.call_once(|| sweep(&place));
        Seat::within(&place)
    }

    fn within(place: &Path) -> io::Result<Self> {
        loop {
            let suffix = format!(".{LOCK}");
            let lock = tempfile::Builder::new().prefix(PREFIX).suffix(&suffix).tempfile_in(place)?;
            // Another process may take a lock it finds for one without an owner before it is locked here.
            if lock.as_file().try_lock().is_err() {
                continue;
            }
            let path = lock.path().with_extension("");
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Seat { path, _lock: lock }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts files into the folder, for programs that look for their settings where they run.
    pub(super) fn furnish(&self, files: &[(&str, &str)]) -> io::Result<()> {
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

impl Drop for Seat {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the folder of a program that has ended, and its lock. For a process that doesn't own the folder.
pub(super) fn clear(folder: &Path) {
    if is_seat(folder) {
        remove(folder);
        // Without a lock nothing is left to be removed.
        drop(fs::remove_file(folder.with_extension(LOCK)));
    }
}

/// Whether the path is the folder of a program, as its name and its lock tell. Nothing else is ever removed.
fn is_seat(folder: &Path) -> bool {
    let has_name = folder.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(PREFIX));
    has_name && is_ours(&folder.with_extension(LOCK))
}

fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| !it.is_symlink() && it.uid() == geteuid().as_raw())
}

fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(BETWEEN_REMOVALS),
            _ => return,
        }
    }
    tracing::warn!(folder = %folder.display(), "a program's folder could not be removed");
}

/// Ends and removes what dead processes of this user left behind in this place.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    for lock in entries.filter(|it| it.extension().is_some_and(|it| it == LOCK)) {
        let folder = lock.with_extension("");
        if is_seat(&folder)
            && let Some(_held) = taken_over(&lock)
        {
            processes::end_marked(&folder);
            clear(&folder);
        }
    }
}

/// The lock, if nobody holds it and it is still the file of that name.
fn taken_over(lock: &Path) -> Option<File> {
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

    fn names(place: &Path) -> Vec<String> {
        let names = fs::read_dir(place).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn f16_a_folder_is_private_and_goes_with_its_lock() {
        let place = tempfile::tempdir().unwrap();
        let seat = Seat::within(place.path()).unwrap();
        seat.furnish(&[("a/b.json", "{}")]).unwrap();
        assert_eq!(seat.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(names(place.path()).len(), 2);
        drop(seat);
        assert_eq!(names(place.path()), Vec::<String>::new());
    }

    #[test]
    fn f16_only_folders_without_an_owner_are_swept() {
        let place = tempfile::tempdir().unwrap();
        let alive = Seat::within(place.path()).unwrap();
        let make = |name: &str| fs::create_dir_all(place.path().join(name)).unwrap();
        let touch = |name: &str| fs::write(place.path().join(name), "").unwrap();
        // What a killed process leaves: a folder with things in it and a lock nobody holds.
        make("quorum-seat-dead/left/behind");
        touch("quorum-seat-dead.lock");
        // What isn't ours: other names, a folder without a lock, and links to somewhere else.
        make("other");
        touch("other.lock");
        make("quorum-seat-bare");
        make("precious/things");
        symlink(place.path().join("other.lock"), place.path().join("quorum-seat-link.lock")).unwrap();
        symlink(place.path().join("precious"), place.path().join("quorum-seat-aimed")).unwrap();
        touch("quorum-seat-aimed.lock");
        sweep(place.path());
        assert!(alive.path().exists() && place.path().join("precious/things").exists());
        let stem = alive.path().file_name().unwrap().to_str().unwrap().to_owned();
        let lock = format!("{stem}.lock");
        let mut expected =
            ["other", "other.lock", "precious", "quorum-seat-bare", "quorum-seat-link.lock", &stem, &lock];
        expected.sort_unstable();
        let left: Vec<String> =
            names(place.path()).into_iter().filter(|it| it != "quorum-seat-aimed").collect();
        assert_eq!(left, expected);
    }
}
