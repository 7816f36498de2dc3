//! Words for people. Everything that reaches a terminal goes through here, and is harmless afterwards.

pub(crate) mod card;
pub(crate) mod closing;
pub(crate) mod colour;
pub(crate) mod course;
pub(crate) mod line;
pub(crate) mod markdown;
pub(crate) mod progress;
pub(crate) mod result;
mod table;

use std::io::{ErrorKind, IsTerminal, Write};

use quorum::text::{clean, escaped};
use serde::Serialize;

use crate::{
    live::terminal,
    render::line::{Line, joined},
};

/// Wider text is hard to read.
const WIDEST: usize = 100;

/// A line on stderr. If nobody can read it, nobody is missing it.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", clean(line));
}

/// The result on stdout. A reader that has seen enough, like `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write(&format!("{}\n", clean(text).trim_end()))
}

/// Lines on stderr.
pub(crate) fn tell(lines: &[Line]) {
    let _ = std::io::stderr().lock().write_all(joined(lines, colour::of_stderr()).as_bytes());
}

/// Markdown on stdout: as people read it where that is a terminal, as it is where it goes on elsewhere.
pub(crate) fn print_markdown(text: &str) -> anyhow::Result<()> {
    if !(std::io::stdout().is_terminal() && terminal::is_lively()) {
        return print(text);
    }
    let columns = terminal::columns_of_stdout().min(WIDEST);
    write(&joined(&markdown::lines(text, columns), colour::of_stdout()))
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
