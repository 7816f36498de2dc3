//! Finds and kills processes by what `/proc` says about them: descendants, and those with a
//! program's mark.
//!
//! A program may start others that leave its process group. Where there is no `/proc`, none of them
//! is found.

use std::{
    collections::HashMap,
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::run_folder::MARK;

/// Timeouts for killing processes. One that can't be killed (it may run as another user, or wait
/// for a disk) must not block anything for ever: a supervisor, which has nothing else to do, or the
/// start of a program.
const DESCENDANTS_TIMEOUT: Duration = Duration::from_secs(60);
const MARKED_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// Kills all direct and indirect children of this process.
pub(super) fn kill_descendants() {
    descendants(getpid(), &parents()).into_iter().for_each(kill);
}

/// Kills every process with the mark of this folder.
pub(super) fn end_marked(folder: &Path) {
    let deadline = Instant::now() + MARKED_TIMEOUT;
    loop {
        let marked = marked(folder);
        if marked.is_empty() || Instant::now() > deadline {
            return;
        }
        marked.into_iter().for_each(kill);
        // The kernel needs a moment to end a process.
        thread::sleep(PAUSE);
    }
}

/// Reaps and kills until this process has no children left. It is a subreaper, so processes whose
/// parent is killed become its children.
pub(super) fn end_descendants(mut reap: impl FnMut() -> Reaped) {
    let deadline = Instant::now() + DESCENDANTS_TIMEOUT;
    while Instant::now() < deadline {
        // Most programs leave no processes behind, so reaping comes first.
        match reap() {
            Reaped::One => {}
            Reaped::NoneYet => {
                kill_descendants();
                thread::sleep(PAUSE);
            }
            Reaped::All => return,
        }
    }
}

/// The result of an attempt to reap a child.
pub(super) enum Reaped {
    /// A child that had ended.
    One,
    /// Children, but none of them has ended.
    NoneYet,
    /// No children.
    All,
}

fn kill(pid: Pid) {
    // Fails if it has already ended, which is fine.
    let _ = kill_process(pid, Signal::KILL);
}

/// All processes with their parents.
fn parents() -> HashMap<Pid, Pid> {
    let parent = |pid: Pid| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // A program's name may contain any character, including brackets and spaces.
        let (_, fields) = stat.rsplit_once(") ")?;
        Some((pid, number(fields.split(' ').nth(1)?)?))
    };
    all().filter_map(parent).collect()
}

fn descendants(of: Pid, parents: &HashMap<Pid, Pid>) -> Vec<Pid> {
    let is_below = |pid: &Pid| {
        // A chain longer than the number of processes would be a cycle of reused numbers.
        let chain = std::iter::successors(Some(*pid), |it| parents.get(it).copied());
        chain.skip(1).take(parents.len()).any(|it| it == of)
    };
    parents.keys().copied().filter(is_below).collect()
}

fn marked(folder: &Path) -> Vec<Pid> {
    let mark = [MARK.as_bytes(), b"=", folder.as_os_str().as_bytes()].concat();
    let has_mark = |pid: &Pid| {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environment.split(|it| *it == 0).any(|it| it == mark)
    };
    all().filter(|it| *it != getpid()).filter(has_mark).collect()
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| number(entry.file_name().to_str()?))
}

fn number(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn f16_descendants_are_found_through_every_generation() {
        let pid = |raw: i32| Pid::from_raw(raw).unwrap();
        let parents = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 4), (7, 8), (8, 7)];
        let parents = parents.into_iter().map(|(it, by)| (pid(it), pid(by))).collect();
        let found = |of: i32| {
            let found = descendants(pid(of), &parents).into_iter().map(|it| it.as_raw_nonzero().get());
            found.collect::<BTreeSet<i32>>()
        };
        assert_eq!(found(2), BTreeSet::from([3, 4, 6]));
        assert_eq!(found(1), BTreeSet::from([2, 3, 4, 5, 6]));
        assert_eq!(found(6), BTreeSet::new());
    }

    #[test]
    fn f16_this_process_is_among_the_descendants_of_its_parent() {
        let parent = rustix::process::getppid().unwrap();
        assert!(descendants(parent, &parents()).contains(&getpid()));
    }
}
