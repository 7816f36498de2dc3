//! A folder with programs written for the test, and a search for what is left of them.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt;
use quorum_core::{
    call::Call,
    model::error::ProviderError,
    seams::{Chunk, Provider},
};
use quorum_providers::{
    command::CommandProvider,
    source::{Program, Timeouts},
};
use tempfile::TempDir;

use crate::call::call;

/// Long enough for anything that works.
pub(crate) const PATIENT: Timeouts = Timeouts { first_ms: 10_000, idle_ms: 10_000 };

/// A folder whose path every script gets as its first argument. The path is unique, so that
/// remaining processes can be found by it.
pub(crate) struct Stage {
    folder: TempDir,
}

/// Records the folder of each run.
const NOTE_FOLDER: &str = "#!/bin/sh\npwd >> \"$1/folders\"\n";

impl Stage {
    pub(crate) fn new() -> Self {
        Stage { folder: tempfile::Builder::new().prefix("stage-").tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program of this dialect that runs the script.
    pub(crate) fn program(&self, dialect: &str, script: &str) -> Program {
        let path = self.executable(dialect, &format!("{NOTE_FOLDER}{script}"));
        let arguments = vec![self.folder.path().to_str().unwrap().to_owned()];
        Program { path, arguments, dialect: dialect.to_owned(), ..Program::default() }
    }

    /// Creates an executable through another process: if it were open for writing here while
    /// another test starts a program, it could not be run.
    pub(crate) fn executable(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path(name);
        let mut writer = Command::new("/bin/sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        path
    }

    /// Processes whose arguments name this folder, and run folders that still exist.
    fn remains(&self) -> Vec<String> {
        let marker = self.folder.path().to_str().unwrap();
        let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let arguments = fs::read(entry.path().join("cmdline")).ok()?;
            let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
            arguments.contains(marker).then_some(arguments)
        });
        let noted = self.read("folders");
        let folders = noted.lines().filter(|it| fs::exists(it).unwrap()).map(str::to_owned);
        processes.chain(folders).chain(zombies()).collect()
    }

    /// Waits until nothing is left; the limit only guards against a hang.
    pub(crate) async fn is_empty_soon(&self) {
        let late = Instant::now() + Duration::from_secs(30);
        loop {
            let remains = self.remains();
            if remains.is_empty() {
                return;
            }
            assert!(Instant::now() < late, "left behind: {remains:?}");
            // This sleeps because the kernel needs time to end real processes.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Children of this process that ended and were not reaped.
fn zombies() -> Vec<String> {
    let me = std::process::id().to_string();
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| stat.rsplit_once(") Z ").is_some_and(|(_, rest)| rest.starts_with(&format!("{me} "))))
        .collect()
}

/// A voice's answer: its text, and its end or its error.
pub(crate) async fn ask(
    program: Program,
    timeouts: Timeouts,
    call: Call,
) -> (String, Result<Chunk, ProviderError>) {
    let voice = CommandProvider::new(program, None, timeouts).unwrap();
    let mut answer = voice.reply(Arc::new(call));
    let mut text = String::new();
    while let Some(chunk) = answer.next().await {
        match chunk {
            Ok(Chunk::Text(piece)) => text.push_str(&piece),
            Ok(Chunk::AnsweredBy(_)) => {}
            Ok(Chunk::Convene { topic }) => text.push_str(&format!("<{topic}>")),
            end => {
                assert!(answer.next().await.is_none(), "something came after {end:?}");
                return (text, end);
            }
        }
    }
    panic!("no end after {text}");
}

/// The same with a plain question and long timeouts.
pub(crate) async fn answer(program: Program) -> (String, Result<Chunk, ProviderError>) {
    ask(program, PATIENT, call("What do you think?")).await
}
