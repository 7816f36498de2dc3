//! Text for people. All output to a terminal goes through here and is cleaned of control sequences.

pub(crate) mod card;
pub(crate) mod closing;
pub(crate) mod colour;
pub(crate) mod course;
mod fields;
pub(crate) mod hints;
pub(crate) mod line;
pub(crate) mod listing;
pub(crate) mod markdown;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod result;
pub(crate) mod scores;
mod table;
pub(crate) mod usage;
pub(crate) mod wording;

use std::{
    io::{ErrorKind, IsTerminal, Write, stderr, stdout},
    sync::atomic::{AtomicBool, Ordering},
};

use quorum::{
    model::{id::DiscussionId, participant::Role},
    text::{clean, escaped},
};
use serde::Serialize;

use crate::{
    render::line::{Line, hung, joined},
    terminal,
};

/// A role as it is shown: that of people is called what it is.
pub(crate) fn role_name(role: &str) -> &str {
    if role == Role::USER.name() { "person" } else { role }
}

/// The widest that text is wrapped: wider lines are hard to read.
const WIDEST: usize = 100;

/// Whether notes are suppressed (`--quiet`).
static HUSHED: AtomicBool = AtomicBool::new(false);

/// Suppresses notes from now on. Errors and requested output are still printed.
pub(crate) fn set_quiet() {
    HUSHED.store(true, Ordering::Relaxed);
}

/// Whether notes are suppressed.
pub(crate) fn is_quiet() -> bool {
    HUSHED.load(Ordering::Relaxed)
}

/// Prints a line to stderr, unless notes are suppressed.
pub(crate) fn note(line: &str) {
    if !is_quiet() {
        note_always(line);
    }
}

/// Prints a line to stderr in any case: an error, or output that was requested. A failed write is
/// ignored.
pub(crate) fn note_always(text: &str) {
    let lines: String = clean(text).split('\n').flat_map(fitted).map(|line| line + "\n").collect();
    let _ = stderr().lock().write_all(lines.as_bytes());
}

/// A line for stderr, wrapped if stderr is a terminal.
pub(crate) fn fitted(line: &str) -> Vec<String> {
    if stderr().is_terminal() { hung(line, terminal::size().columns) } else { vec![line.to_owned()] }
}

/// Prints the result to stdout. A reader that closes early, like `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let text = clean(text);
    if !(stdout().is_terminal() && terminal::allows_live_view()) {
        return write(&format!("{}\n", text.trim_end()));
    }
    let columns = terminal::columns_of_stdout();
    let lines: Vec<String> = text.trim_end().split('\n').flat_map(|line| hung(line, columns)).collect();
    write(&format!("{}\n", lines.join("\n")))
}

/// The width available on stdout; unlimited if it is no terminal.
pub(crate) fn room() -> usize {
    let is_terminal = stdout().is_terminal() && terminal::allows_live_view();
    if is_terminal { terminal::columns_of_stdout() } else { usize::MAX }
}

/// Prints lines to stderr, unless notes are suppressed.
pub(crate) fn note_lines(lines: &[Line]) {
    if !is_quiet() {
        note_lines_always(lines);
    }
}

/// Prints lines to stderr in any case.
pub(crate) fn note_lines_always(lines: &[Line]) {
    let _ = stderr().lock().write_all(joined(lines, colour::of_stderr()).as_bytes());
}

/// Prints Markdown to stdout: rendered for a terminal, unchanged elsewhere.
pub(crate) fn print_markdown(text: &str) -> anyhow::Result<()> {
    if !(stdout().is_terminal() && terminal::allows_live_view()) {
        return print(text);
    }
    let columns = terminal::columns_of_stdout().min(WIDEST);
    print_lines(&markdown::lines(text, columns))
}

/// Prints lines to stdout, in colour if wanted.
pub(crate) fn print_lines(lines: &[Line]) -> anyhow::Result<()> {
    write(&joined(lines, colour::of_stdout()))
}

/// Prints the result to stdout as one JSON document.
pub(crate) fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    write(&format!("{}\n", escaped(&serde_json::to_string_pretty(document)?)))
}

/// Prints a JSON document on one line.
pub(crate) fn print_json_line(document: &impl Serialize) -> anyhow::Result<()> {
    write(&format!("{}\n", escaped(&serde_json::to_string(document)?)))
}

/// Writes text that is already clean to stdout, unchanged.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(WriteError { error, kept: None }.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// An error writing to standard output, such as a full disk.
#[derive(Debug)]
pub(crate) struct WriteError {
    error: std::io::Error,
    kept: Option<DiscussionId>,
}

impl WriteError {
    /// The same error while printing a recorded discussion, which it then names.
    pub(crate) fn of(self, id: DiscussionId) -> WriteError {
        WriteError { kept: Some(id), ..self }
    }
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "can't write to standard output: {}", self.error)?;
        match self.kept {
            Some(id) => {
                write!(f, "; nothing is lost: `ax resume {id}` continues it, or prints the result again")
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for WriteError {}
