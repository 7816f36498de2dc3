//! Edits a text in the person's own editor: `$VISUAL`, else `$EDITOR`.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// The variables that name an editor, in the order in which they count.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// The text as it is after editing.
pub(super) fn edit(text: &str) -> anyhow::Result<String> {
    let named = VARIABLES.iter().filter_map(|it| std::env::var(it).ok());
    let Some(program) = named.into_iter().find(|it| !it.trim().is_empty()) else {
        bail!("no editor is set; set EDITOR, like EDITOR=nano");
    };
    let file = Draft::create(text)?;
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    let ended = command.args(words).arg(&file.0).status();
    let ended = ended.with_context(|| format!("{program} can't be started"))?;
    if !ended.success() {
        bail!("{program} ended with an error");
    }
    fs::read_to_string(&file.0).context("the edited text can't be read")
}

/// A file that only this user can read, removed when it is dropped.
struct Draft(PathBuf);

impl Draft {
    fn create(text: &str) -> anyhow::Result<Draft> {
        let name =
            format!("ax-answer-{}-{}.md", std::process::id(), quorum::model::id::DiscussionId::fresh());
        let place = std::env::temp_dir().join(name);
        let mut file = create(&place).with_context(|| format!("{} can't be written", place.display()))?;
        let draft = Draft(place);
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

/// A new file: an existing one may have been planted by an attacker.
fn create(place: &Path) -> std::io::Result<fs::File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
