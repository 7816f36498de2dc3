//! A vendor to speak to: the test server in a process of its own, so that nothing it uses is counted as ours.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use quorum_testkit::server::server;

/// The argument by which this program becomes a vendor.
pub(crate) const VENDOR: &str = "--vendor";

/// How a vendor's answers come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Milliseconds to the first piece.
    pub(crate) first: u64,
    /// Milliseconds between pieces.
    pub(crate) next: u64,
    /// How many.
    pub(crate) pieces: usize,
}

/// A vendor that is gone when this is.
pub(crate) struct Vendor {
    child: Child,
    pub(crate) url: String,
}

impl Vendor {
    /// Starts one whose answers come like this.
    pub(crate) fn start(pace: Pace) -> Result<Vendor> {
        let Pace { first, next, pieces } = pace;
        let mut child = Command::new(std::env::current_exe()?)
            .args([VENDOR, &first.to_string(), &next.to_string(), &pieces.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("its output")?).read_line(&mut url)?;
        Ok(Vendor { child, url: url.trim().to_owned() })
    }
}

impl Drop for Vendor {
    fn drop(&mut self) {
        // It ends when its input does; whatever happens, it must not stay.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is a vendor until the input ends.
pub(crate) fn be_one(arguments: &[String]) -> Result<()> {
    let number = |index: usize| -> Result<u64> { Ok(arguments.get(index).context("a number")?.parse()?) };
    let pieces = usize::try_from(number(2)?)?;
    // About four characters a piece, as models speak; at least what a speech has.
    let speech = "It depends on what is measured, and how. ".repeat(30.max(pieces / 10));
    let script = server().forgetful().says("*", &speech).paced(number(0)?, number(1)?, pieces);
    let server = script.on_thread();
    println!("{}", server.url());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(server);
    Ok(())
}
