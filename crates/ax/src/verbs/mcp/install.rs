//! `ax mcp install`: prints a client's entry, or adds it to its configuration with a copy kept, in
//! one step, once, and without touching anything else in the file.

use std::{
    env, fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::{
    args::ClientName,
    exit::{Exit, Setup},
    render::{note, write},
    verbs::mcp::{
        client::{Client, Format, Places, client, json_entry, toml_table},
        json_file, toml_file,
    },
};

/// The result of adding an entry to a file's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The entry is there already.
    Present,
    /// The text with the entry.
    Added(String),
    /// Why nothing is changed.
    Refused(String),
}

/// `ax mcp install`
pub(crate) fn install(name: ClientName, is_written: bool) -> anyhow::Result<Exit> {
    let (client, program) = (client(name), program()?);
    let file = client.file(&places()?);
    if !is_written {
        write(&client.document(&program))?;
        let flag = "--write adds it there";
        note(&format!("Add this to {} ({}); {flag}.", file.display(), client.title));
        return Ok(Exit::Done);
    }
    match add(&client, &file, &program) {
        Ok(told) => note(&told),
        Err(reason) => {
            write(&client.document(&program))?;
            let message =
                format!("{}: {reason}; nothing was changed. Add the entry above by hand", file.display());
            return Err(Setup(message).into());
        }
    }
    Ok(Exit::Done)
}

/// Our own program, by its whole path: clients with a window have another search path.
fn program() -> anyhow::Result<PathBuf> {
    env::current_exe().context("where is this program?")
}

fn places() -> anyhow::Result<Places> {
    let folder = |variable: &str| env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from);
    Ok(Places {
        home: folder("HOME").ok_or_else(|| Setup("HOME is not set".to_owned()))?,
        here: env::current_dir().context("there is no current folder")?,
        claude: folder("CLAUDE_CONFIG_DIR"),
        codex: folder("CODEX_HOME"),
    })
}

/// Adds the entry, and says what was done; or why it can't be.
fn add(client: &Client, file: &Path, program: &Path) -> Result<String, String> {
    let file = behind_links(file);
    let before = match fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(format!("can't be read: {error}")),
    };
    let edit = match client.format {
        Format::Json { servers, entry } => {
            json_file::with_entry(before.as_deref().unwrap_or_default(), servers, &json_entry(entry, program))
        }
        Format::Toml { servers } => {
            let table = toml_table(servers, program);
            toml_file::with_table(before.as_deref().unwrap_or_default(), servers, &table)
        }
    };
    match edit {
        Edit::Present => Ok(format!("{} has the entry already.", file.display())),
        Edit::Refused(reason) => Err(reason),
        Edit::Added(text) => {
            let text = with_line_ends_of(before.as_deref().unwrap_or_default(), text);
            let kept = replaced(&file, before.is_some(), &text)
                .map_err(|error| format!("can't be written: {error}"))?;
            let kept = kept.map(|it| format!("; {} is the file as it was", it.display()));
            Ok(format!("Added to {}{}. Restart {}.", file.display(), kept.unwrap_or_default(), client.title))
        }
    }
}

/// The text with the line ends of the file as it was: an editor of another system may have written
/// it, and shows mixed ones as a change of every line.
fn with_line_ends_of(before: &str, after: String) -> String {
    let lines = before.matches('\n').count();
    let is_crlf = lines > 0 && before.matches("\r\n").count() == lines;
    if is_crlf { after.replace("\r\n", "\n").replace('\n', "\r\n") } else { after }
}

/// The file that a link leads to, which may not be there yet: a link stays a link.
fn behind_links(file: &Path) -> PathBuf {
    let target = || Some(file.parent()?.join(fs::read_link(file).ok()?));
    fs::canonicalize(file).ok().or_else(target).unwrap_or_else(|| file.to_owned())
}

/// Replaces the file in one step, and returns where the copy of the old one is.
fn replaced(file: &Path, exists: bool, text: &str) -> std::io::Result<Option<PathBuf>> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let kept = if exists { Some(copied(file)?) } else { None };
    let draft = beside(file, &format!("new-{}", std::process::id()));
    let written = written(&draft, text, exists.then_some(file)).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map(|()| kept)
}

fn written(draft: &Path, text: &str, like: Option<&Path>) -> std::io::Result<()> {
    let mut new = fs::OpenOptions::new().write(true).create_new(true).open(draft)?;
    if let Some(like) = like {
        new.set_permissions(fs::metadata(like)?.permissions())?;
    }
    new.write_all(text.as_bytes())?;
    new.sync_all()
}

/// A copy beside the file, under a name that is free.
fn copied(file: &Path) -> std::io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let kept = beside(file, &format!("before-ax-{number}"));
        if !kept.exists() {
            fs::copy(file, &kept)?;
            return Ok(kept);
        }
        number += 1;
    }
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    file.with_file_name(format!("{name}.{suffix}"))
}
