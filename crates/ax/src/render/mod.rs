//! Words for people. Everything that reaches a terminal goes through here, and is harmless afterwards.

pub(crate) mod closing;
pub(crate) mod course;
pub(crate) mod progress;
pub(crate) mod result;
pub(crate) mod usage;

use std::{
    io::{ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use quorum::text::{clean, escaped};
use serde::Serialize;

/// Whether only what went wrong is said.
static HUSHED: AtomicBool = AtomicBool::new(false);

/// From now on nothing is said but what goes wrong and what was asked for.
pub(crate) fn hush() {
    HUSHED.store(true, Ordering::Relaxed);
}

/// Whether nothing is to be said but what goes wrong.
pub(crate) fn is_hushed() -> bool {
    HUSHED.load(Ordering::Relaxed)
}

/// A line on stderr, unless nobody wants any.
pub(crate) fn note(line: &str) {
    if !is_hushed() {
        tell(line);
    }
}

/// A line on stderr in any case: what went wrong, or what was asked for. If nobody can read it, nobody is missing it.
pub(crate) fn tell(line: &str) {
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

/// The same on one line.
pub(crate) fn print_json_line(document: &impl Serialize) -> anyhow::Result<()> {
    write(&format!("{}\n", escaped(&serde_json::to_string(document)?)))
}

/// What is harmless already, as it is.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("standard output can't be written"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
