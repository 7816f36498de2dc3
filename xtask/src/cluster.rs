//! Builds `ax` and the acceptance checks of several nodes, and runs these with a real PostgreSQL.

use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, Result};

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "cluster",
    arguments: "[--long|NUMBER]",
    summary: "Check several nodes with real processes and faults; a number chooses one check",
    run: |arguments| run(Profile::Release, arguments),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
}

/// The shortened checks, with binaries as the tests use them.
pub(crate) fn short() -> Result<()> {
    run(Profile::Debug, &["--short".to_owned()])
}

fn run(profile: Profile, arguments: &[String]) -> Result<()> {
    // The build with another pattern is the newer one of a rolling upgrade.
    let packages = ["--package", "quorum-ax", "--package", "quorum-bench", "--package", "delphi"];
    let mut build = cargo::command(&["build", "--bin", "ax", "--bin", "quorum-cluster", "--bin", "delphi"]);
    build.args(packages);
    if profile == Profile::Release {
        build.arg("--release");
    }
    cargo::run(&mut build)?;
    // Not by `cargo run`: for one package alone, the features of its dependencies would differ.
    cargo::run(Command::new(binary(profile)?).args(arguments).current_dir(cargo::root()))
}

fn binary(profile: Profile) -> Result<PathBuf> {
    let metadata = cargo::metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo names no target directory")?;
    let folder = if profile == Profile::Release { "release" } else { "debug" };
    Ok(PathBuf::from(target).join(folder).join("quorum-cluster"))
}
