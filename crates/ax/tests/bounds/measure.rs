//! A folder with a configuration to run the program in, and the processor time it takes.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use quorum_testkit::coverage;
use tempfile::TempDir;

/// The time allowed, as a multiple of the parsing time.
pub(crate) const TIMES: u32 = 3;

/// Simulated voices without latency.
pub(crate) const QUICK: &str = "[defaults]\nsimulate = \"latency=0ms\"\n";

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        folder.write("config.toml", QUICK);
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let file: PathBuf = self.0.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    pub(crate) fn ax(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ax"));
        command.current_dir(self.0.path()).env_clear().env("HOME", self.0.path()).env("OLLAMA_HOST", "");
        command.env("AX_CONFIG", self.0.path().join("config.toml"));
        command.env("AX_DATA_DIR", self.0.path().join("data"));
        command.envs(coverage::profile()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The processor time of one run, and the number of bytes it printed.
    pub(crate) fn run(&self, args: &[&str]) -> (Duration, usize) {
        let before = time_of_children();
        let output = self.ax().args(args).output().unwrap();
        (time_of_children() - before, output.stdout.len() + output.stderr.len())
    }
}

/// The processor time of all finished children, to a hundredth of a second.
fn time_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[13..=14].iter().map(|it| it.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// The processor time of all threads of a process.
pub(crate) fn time_of(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let spent = threads.filter_map(|thread| {
        let told = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

/// The shortest time that this takes.
pub(crate) fn shortest(work: impl Fn()) -> Duration {
    let times = (0..5).map(|_| {
        let began = Instant::now();
        work();
        began.elapsed()
    });
    times.min().unwrap()
}
