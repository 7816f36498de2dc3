//! `ax discuss --detach`: the discussion is recorded here and run by another process of this
//! program.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    os::unix::{fs::DirBuilderExt, fs::OpenOptionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context;
use quorum::{Scope, model::spec::Spec};
use serde_json::json;

use crate::{
    args::{Output, Shape},
    exit::{Exit, Setup},
    render::{note, print, print_json, print_json_line},
};

/// Starts the discussion, prints its id, and returns.
pub(crate) async fn detach(scope: &Scope, spec: Spec, output: Output) -> anyhow::Result<Exit> {
    let folder = scope.quorum().config().state_dir.join("runs");
    make(&folder)?;
    let id = scope.prepare(spec).await?.id();
    let file = folder.join(format!("{id}.log"));
    let log = create(&file)?;
    let mut command = Command::new(std::env::current_exe().context("this program can't be found again")?);
    command.args(["resume", &id.to_string(), "--detached"]);
    command.args(output.usage.then_some("--usage")).args(output.verbose.then_some("--verbose"));
    // A process group of its own, so that Ctrl-C in this terminal doesn't reach it.
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    let child = command.spawn();
    let child =
        child.with_context(|| format!("no process could be started; `ax resume {id}` runs it here"))?;
    let started = json!({ "discussionId": id, "log": file, "process": child.id() });
    match output.shape() {
        Shape::Json => print_json(&started)?,
        Shape::Jsonl => print_json_line(&started)?,
        Shape::Text | Shape::Md => print(&id.to_string())?,
    }
    note(&format!("It runs in the background; its log is {}.", file.display()));
    note(&format!(
        "`ax watch {id}` shows it, `ax show {id}` prints the result; `ax pause`, `ax stop` and `ax abort {id}` \
         control it."
    ));
    Ok(Exit::Done)
}

/// Creates the folder of logs, readable only by the user, as discussions are.
fn make(folder: &Path) -> Result<(), Setup> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| unwritable(folder, &error))
}

fn create(file: &Path) -> Result<File, Setup> {
    let created = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    created.map_err(|error| unwritable(file, &error))
}

fn unwritable(place: &Path, error: &std::io::Error) -> Setup {
    Setup(format!(
        "can't write to {}, the log of the detached run: {error}; set XDG_STATE_HOME to a writable directory",
        place.display()
    ))
}
