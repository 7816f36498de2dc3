//! Words for people. Everything that reaches a terminal goes through here, and is harmless afterwards.

pub(crate) mod card;
pub(crate) mod closing;
pub(crate) mod colour;
pub(crate) mod course;
pub(crate) mod line;
pub(crate) mod listing;
pub(crate) mod markdown;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod result;
mod table;
pub(crate) mod usage;

use std::{
    io::{ErrorKind, IsTerminal, Write, stderr, stdout},
    sync::atomic::{AtomicBool, Ordering},
};

use quorum::{
    model::id::DiscussionId,
    text::{clean, escaped},
};
use serde::Serialize;

use crate::{
    render::line::{Line, hung, joined},
    terminal,
};

/// Wider text is hard to read.
const WIDEST: usize = 100;

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
        insist(line);
    }
}

/// A line on stderr in any case: what went wrong, or what was asked for. If nobody can read it, nobody is missing it.
pub(crate) fn insist(text: &str) {
    let lines: String = clean(text).split('\n').flat_map(fitted).map(|line| line + "\n").collect();
    let _ = stderr().lock().write_all(lines.as_bytes());
}

/// A line for stderr: as it is, or where that is a terminal in lines that fit it.
pub(crate) fn fitted(line: &str) -> Vec<String> {
    if stderr().is_terminal() { hung(line, terminal::size().columns) } else { vec![line.to_owned()] }
}

/// The result on stdout. A reader that has seen enough, like `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let text = clean(text);
    if !(stdout().is_terminal() && terminal::is_lively()) {
        return write(&format!("{}\n", text.trim_end()));
    }
    let columns = terminal::columns_of_stdout();
    let lines: Vec<String> = text.trim_end().split('\n').flat_map(|line| hung(line, columns)).collect();
    write(&format!("{}\n", lines.join("\n")))
}

/// How wide what goes to stdout may be; without bounds where that is no terminal.
pub(crate) fn room() -> usize {
    let is_terminal = stdout().is_terminal() && terminal::is_lively();
    if is_terminal { terminal::columns_of_stdout() } else { usize::MAX }
}

/// Lines on stderr, unless nobody wants any.
pub(crate) fn tell(lines: &[Line]) {
    if is_hushed() {
        return;
    }
    let _ = stderr().lock().write_all(joined(lines, colour::of_stderr()).as_bytes());
}

/// Markdown on stdout: as people read it where that is a terminal, as it is where it goes on elsewhere.
pub(crate) fn print_markdown(text: &str) -> anyhow::Result<()> {
    if !(stdout().is_terminal() && terminal::is_lively()) {
        return print(text);
    }
    let columns = terminal::columns_of_stdout().min(WIDEST);
    print_lines(&markdown::lines(text, columns))
}

/// Lines on stdout, in colour where that is wanted.
pub(crate) fn print_lines(lines: &[Line]) -> anyhow::Result<()> {
    write(&joined(lines, colour::of_stdout()))
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
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Unwritable { error, kept: None }.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Standard output takes nothing: its disk is full, say.
#[derive(Debug)]
pub(crate) struct Unwritable {
    error: std::io::Error,
    kept: Option<DiscussionId>,
}

impl Unwritable {
    /// The same, where a discussion was to be printed that is recorded.
    pub(crate) fn of(self, id: DiscussionId) -> Unwritable {
        Unwritable { kept: Some(id), ..self }
    }
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "standard output can't be written: {}", self.error)?;
        match self.kept {
            Some(id) => write!(f, "; nothing is lost: `ax resume {id}` goes on, or prints the result again"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unwritable {}
