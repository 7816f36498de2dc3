//! A user of the command, with a home, a configuration and discussions of their own.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
};

use quorum_testkit::coverage;
use serde_json::Value;
use tempfile::TempDir;

/// Simulated voices without latency, so that command lines can be tried as they are printed.
const QUICK: &str = "[defaults]\nsimulate = \"latency=0ms\"\n";

pub(crate) struct User {
    home: TempDir,
    variables: Vec<(String, String)>,
}

/// A command's output and exit code.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Said {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that stderr contains all of these.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Said {
        words.iter().for_each(|word| assert!(self.err.contains(word), "{word:?} is not in {self:#?}"));
        self
    }

    /// Checks that stdout is empty.
    #[track_caller]
    pub(crate) fn prints_nothing(self) -> Said {
        assert_eq!(self.out, "", "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl User {
    pub(crate) fn new() -> Self {
        let user = User { home: TempDir::new().unwrap(), variables: Vec::new() };
        user.configure(QUICK);
        user
    }

    /// The same with a variable set.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.home.path().join("config.toml")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("quorum.db")
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_ax"), args)
    }

    /// Another program, in the same folder and with the same few variables.
    pub(crate) fn program(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(name);
        command.args(args).current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        command.env("AX_CONFIG", self.config()).env("AX_DATA_DIR", self.data());
        // An empty value keeps the command from looking for an Ollama server on this machine.
        command.env("OLLAMA_HOST", "").envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(coverage::profile()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn ax(&self, args: &[&str]) -> Said {
        output_of(self.command(args).spawn().unwrap())
    }

    /// Runs a line in a shell, with `ax` on its path.
    pub(crate) fn shell(&self, line: &str) -> Said {
        let mut command = self.program("sh", &["-c", line]);
        output_of(command.env("PATH", self.path()).spawn().unwrap())
    }

    /// The search path, with our own program first.
    fn path(&self) -> String {
        let bin = self.home.path().join("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ax"), bin.join("ax")).unwrap();
        }
        format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())
    }

    /// Waits until no process runs this discussion any more.
    #[track_caller]
    pub(crate) fn wait_for(&self, id: &str) -> Value {
        self.wait_until(id, "completed")
    }

    /// Waits until a discussion that another process runs has this status.
    pub(crate) fn wait_until(&self, id: &str, status: &str) -> Value {
        for _ in 0..200 {
            let shown = self.ax(&["show", id, "--json"]).ends(0).json();
            if shown["status"] == status {
                return shown;
            }
            // It sleeps because the discussion is run by a process that is not a child of this one.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{id} is not {status}")
    }

    /// Runs a command with this piped in.
    pub(crate) fn ax_hearing(&self, args: &[&str], input: impl AsRef<[u8]>) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
        output_of(child)
    }

    /// Runs a command with more piped in than it may read.
    pub(crate) fn ax_hearing_as_much_as_it_takes(&self, args: &[&str], input: &str) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // A command that has read enough closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        output_of(child)
    }

    /// Writes a file into the user's folder, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let file = self.home.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// Starts a discussion slow enough to be steered while it runs.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut all = vec!["discuss", "Tabs or spaces?", "--simulate", "latency=400ms"];
        all.extend(args);
        self.begin(&all)
    }

    /// Starts a command that runs a discussion.
    pub(crate) fn begin(&self, args: &[&str]) -> Running {
        let mut running = self.run(args);
        let line = running.wait_for_line("id ");
        running.id = line.split_whitespace().nth(1).unwrap().to_owned();
        running
    }

    /// Starts a command that runs for a while.
    pub(crate) fn run(&self, args: &[&str]) -> Running {
        self.follow(&mut self.command(args))
    }

    /// The same for a line in a shell.
    pub(crate) fn run_shell(&self, line: &str) -> Running {
        self.follow(self.program("sh", &["-c", line]).env("PATH", self.path()))
    }

    fn follow(&self, command: &mut Command) -> Running {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Running { child, lines, heard: String::new(), id: String::new() }
    }

    /// Runs a discussion and returns its result.
    #[track_caller]
    pub(crate) fn result(&self, args: &[&str]) -> Value {
        let mut all = vec!["discuss", "Tabs or spaces?", "--json"];
        all.extend(args);
        self.ax(&all).ends(0).json()
    }
}

pub(crate) fn output_of(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A discussion running in its own process.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<ChildStderr>,
    heard: String,
    pub(crate) id: String,
}

impl Running {
    /// Waits for a line on stderr that contains this.
    #[track_caller]
    pub(crate) fn wait_for_line(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).unwrap();
            assert!(read > 0, "{word:?} is not in {}", self.heard);
            self.heard.push_str(&line);
            if line.contains(word) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Said {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.lines.read_to_string(&mut self.heard).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Said { code, out, err: std::mem::take(&mut self.heard) }
    }
}

/// A process that a test did not end, as when it fails, does not outlive it.
impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
