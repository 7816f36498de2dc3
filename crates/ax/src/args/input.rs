//! Reads text from standard input (the topic for `-`, else context) and from files.

use std::{
    io::{ErrorKind, IsTerminal, Read},
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

use quorum::{request::limits::LONGEST_CONTEXT, text::count};

use crate::{exit::Usage, render::note};

/// A limit above that of any field: longer input is refused by its length, and not read to its end.
pub(super) const MOST_BYTES: u64 = 500_000;

/// How long to wait for a silent writer before the user is shown what the command waits for.
const SILENCE: Duration = Duration::from_secs(2);

/// The typed texts of a request.
pub(crate) struct Input<'a> {
    pub(crate) topic: Option<&'a str>,
    pub(crate) context: Option<&'a str>,
    pub(crate) files: &'a [PathBuf],
}

impl Input<'_> {
    /// Topic and context, including piped text and the contents of files.
    pub(crate) fn with_stdin(&self) -> Result<(Option<String>, Option<String>), Usage> {
        let as_files = self.files.iter().filter(|it| is_stdin(it)).count();
        let (as_topic, as_file) = (self.topic == Some("-"), 0 < as_files);
        if usize::from(as_topic) + as_files > 1 {
            return Err(Usage("`-` can be the topic or one --file: standard input is read once".to_owned()));
        }
        let piped = match (std::io::stdin().is_terminal(), as_topic || as_file) {
            (true, true) => return Err(at_a_terminal("a text")),
            (true, false) => String::new(),
            (false, _) => read()?,
        };
        let topic = if as_topic { Some(piped.clone()) } else { self.topic.map(str::to_owned) };
        let mut context = Context::default();
        context.add(self.context.unwrap_or_default());
        for file in self.files {
            match is_stdin(file) {
                true => context.add_file(file, &piped)?,
                false => context.add_file(file, &headed(file, &text_of(file)?))?,
            }
        }
        if !as_topic && !as_file {
            context.add_piped(&piped)?;
        }
        Ok((topic, (!context.0.is_empty()).then_some(context.0)))
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn at_a_terminal(what: &str) -> Usage {
    Usage(format!(
        "`-` reads {what} from standard input, which is a terminal here; pipe something into it, or type it in place of -"
    ))
}

/// The context for every participant, part by part.
#[derive(Default)]
struct Context(String);

impl Context {
    fn add(&mut self, part: &str) {
        if !part.trim().is_empty() {
            self.0.push_str(if self.0.is_empty() { "" } else { "\n\n" });
            self.0.push_str(part);
        }
    }

    /// Adds a file's text; the error names the file if it is too long.
    fn add_file(&mut self, file: &Path, part: &str) -> Result<(), Usage> {
        self.add(part);
        self.fits().map_err(|message| wrong(file, &message))
    }

    /// Adds text from standard input.
    fn add_piped(&mut self, part: &str) -> Result<(), Usage> {
        self.add(part);
        let piped = |message: String| Usage(format!("standard input: {message}"));
        if part.trim().is_empty() { Ok(()) } else { self.fits().map_err(piped) }
    }

    fn fits(&self) -> Result<(), String> {
        let length = self.0.trim().chars().count();
        if length <= LONGEST_CONTEXT {
            return Ok(());
        }
        let (length, most) = (count(length as u64, "character"), count(LONGEST_CONTEXT as u64, "character"));
        Err(format!(
            "with it the context has {length}; at most {most} are allowed; give only the part that matters"
        ))
    }
}

fn headed(file: &Path, text: &str) -> String {
    format!("## {}\n\n{}", file.display(), text.trim_end())
}

fn wrong(file: &Path, message: &str) -> Usage {
    Usage(format!("--file {}: {message}", file.display()))
}

/// Why a file can't be read.
pub(crate) fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "is a directory".to_owned(),
        ErrorKind::PermissionDenied => "can't be read: you have no permission".to_owned(),
        _ => format!("can't be read: {error}"),
    }
}

/// A file's contents, if they are usable as text.
fn text_of(file: &Path) -> Result<String, Usage> {
    let unreadable = |error: std::io::Error| wrong(file, &unreadable(&error));
    let about = std::fs::metadata(file).map_err(unreadable)?;
    if about.is_dir() {
        return Err(wrong(file, "is a directory; name the files in it that matter"));
    }
    let too_long = |bytes: &str| {
        let most = count(LONGEST_CONTEXT as u64, "character");
        wrong(
            file,
            &format!("has {bytes}; the context may have at most {most}; give only the part that matters"),
        )
    };
    if about.len() > MOST_BYTES {
        return Err(too_long(&count(about.len(), "byte")));
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_long(&format!("more than {}", count(MOST_BYTES, "byte"))));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| wrong(file, "is not UTF-8 text; only text can be context"))
}

/// A person's turn: the text as typed, or standard input for `-`.
pub(crate) fn spoken(text: &str) -> Result<String, Usage> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    if std::io::stdin().is_terminal() {
        return Err(at_a_terminal("the words"));
    }
    read()
}

fn read() -> Result<String, Usage> {
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(MOST_BYTES + 1).read_to_end(&mut bytes);
        // Fails only when the receiver is gone.
        let _ = done.send(read.map(|_| bytes));
    });
    let unreadable = |reason: String| Usage(format!("standard input can't be read: {reason}"));
    let bytes = waiting.recv_timeout(SILENCE).or_else(|_| {
        note("Reading standard input until its end; use `< /dev/null` if there is nothing to read.");
        waiting.recv()
    });
    let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
    let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = count(MOST_BYTES, "byte");
        return Err(Usage(format!("standard input has more than {most}; give only the part that matters")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_parts_are_joined_in_order() {
        let check = |parts: &[&str], expected: &str| {
            let mut context = Context::default();
            parts.iter().for_each(|part| context.add(part));
            assert_eq!(context.0, expected);
        };
        check(&["", " \n"], "");
        check(&["a", ""], "a");
        check(&["a", &headed(Path::new("notes.md"), "b\n"), "c"], "a\n\n## notes.md\n\nb\n\nc");
    }
}
