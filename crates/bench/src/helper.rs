//! This program once more, in a part of its own: what it uses there is not counted as ours.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// A process that is gone when this is.
pub(crate) struct Helper {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts it in this part.
    pub(crate) fn start(part: &str, arguments: &[String]) -> Result<Helper> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(part)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().context("its output")?);
        Ok(Helper { input: child.stdin.take(), child, output })
    }

    /// Tells it these lines; there will be no others.
    pub(crate) fn tell(&mut self, lines: &[String]) -> Result<()> {
        let mut input = self.input.take().context("its input")?;
        Ok(input.write_all(lines.join("\n").as_bytes())?)
    }

    /// The next line it says.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the other process ended");
        Ok(line.trim().to_owned())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It ends when its input does; whatever happens, it must not stay.
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
