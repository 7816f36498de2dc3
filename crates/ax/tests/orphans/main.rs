//! Kills `ax discuss` with -9 while local programs answer it: no process of theirs survives,
//! however they behave (F16). 50 kills, 200 with `QUORUM_LONG=1`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use quorum_testkit::coverage;
use tempfile::TempDir;

const USUAL: usize = 50;
const LONG: usize = 200;

/// Most of the time is spent waiting, so several run in parallel.
const AT_ONCE: usize = 4;

/// The limit for any wait on a busy machine. It measures nothing.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Forks, ignores every signal it can, leaves its process group and its session, and floods its
/// folder. A file `begun-PID` says that all of this has started.
const SCRIPT: &str = r#"#!/bin/sh
trap '' TERM INT HUP PIPE
if [ "$2" = child ]; then
    while :; do echo x > "left-behind-$$"; sleep 0.05; done
fi
/bin/sh "$0" "$1" child & setsid /bin/sh "$0" "$1" child & (setsid /bin/sh "$0" "$1" child &)
while [ "$(ls | wc -l)" -lt 3 ]; do sleep 0.01; done
: > "$1/begun-$$"
while :; do sleep 1; done
"#;

#[test]
fn f16_nothing_outlives_a_kill_9() {
    let wanted = if std::env::var("QUORUM_LONG").is_ok() { LONG } else { USUAL };
    let next = AtomicUsize::new(0);
    let work = || {
        while next.fetch_add(1, Ordering::SeqCst) < wanted {
            killed();
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
}

fn killed() {
    let place = Place::new();
    let mut ax = place.discuss();
    place.wait("both programs have begun", || place.begun() == 2);
    ax.kill().unwrap();
    ax.wait().unwrap();
    place.wait("nothing runs", || place.running().is_empty());
    place.wait("no folder is left", || place.folders().is_empty());
}

/// A folder for a discussion, its programs and their folders.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { folder: tempfile::Builder::new().prefix("orphans-").tempdir().unwrap() };
        let (script, folder) = (place.path("script"), place.folder.path().display());
        fs::create_dir(place.path("temporary")).unwrap();
        fs::write(&script, SCRIPT).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        // Run by a shell: a file that is open for writing in another thread's new process can't be
        // executed.
        let command = format!(r#"command = ["/bin/sh", "{}", "{folder}"]"#, script.display());
        fs::write(place.path("config.toml"), format!("[providers.mine]\n{command}\n")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn discuss(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_ax"))
            .args(["discuss", "Tabs or spaces?", "-p", "mine,mine"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("AX_CONFIG", self.path("config.toml"))
            .env("AX_DATA_DIR", self.path("data"))
            .env("TMPDIR", self.path("temporary"))
            .env("OLLAMA_HOST", "")
            .envs(coverage::profile())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn begun(&self) -> usize {
        names(self.folder.path()).iter().filter(|it| it.starts_with("begun-")).count()
    }

    fn folders(&self) -> Vec<String> {
        names(&self.path("temporary"))
    }

    /// Every process whose arguments name this folder: programs, their children, and supervisors.
    fn running(&self) -> Vec<String> {
        let marker = self.folder.path().to_str().unwrap();
        let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let arguments = fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&arguments).replace('\0', " "))
        });
        processes.filter(|it| it.contains(marker)).collect()
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let late = Instant::now() + TIMEOUT;
        while !is_so() {
            assert!(Instant::now() < late, "not yet: {what}; {:?} {:?}", self.running(), self.folders());
            // This sleeps because the kernel takes time to start and end real processes.
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
