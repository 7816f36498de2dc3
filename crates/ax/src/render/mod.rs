//! Words for people. Everything that reaches a terminal goes through here, and is harmless afterwards.

pub(crate) mod closing;
pub(crate) mod course;
pub(crate) mod progress;
pub(crate) mod result;

use std::io::{ErrorKind, Write};

use quorum::text::{clean, escaped};
use serde::Serialize;

/// A line on stderr. If nobody can read it, nobody is missing it.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", clean(line));
}

/// The result on stdout. A reader that has seen enough, like `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write(&format!("{}\n", clean(text).trim_end()))
}

/// The result as one JSON document on stdout.
pub(crate) fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    write(&format!("{}\n", escaped(&serde_json::to_string_pretty(document)?)))
}

/// What is harmless already, as it is.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}
