//! Runs this program once more in another role, so that its resources are not counted as ours.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};

/// A child process that is killed on drop.
pub(crate) struct Helper {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts the program in this role.
    pub(crate) fn start(role: &str, arguments: &[String]) -> Result<Helper> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(role)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().context("its output")?);
        Ok(Helper { input: child.stdin.take(), child, output })
    }

    /// Its process id.
    pub(crate) fn process(&self) -> String {
        self.child.id().to_string()
    }

    /// Writes these lines to its input and closes it.
    pub(crate) fn write_lines(&mut self, lines: &[String]) -> Result<()> {
        let mut input = self.input.take().context("its input")?;
        Ok(input.write_all(lines.join("\n").as_bytes())?)
    }

    /// The next line of its output.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the other process ended");
        Ok(line.trim().to_owned())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It exits when its input ends, and removes its files; the kill makes sure.
        drop(self.input.take());
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
