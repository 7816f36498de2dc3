//! Builds `ax` and the acceptance checks of several nodes, and runs these with a real PostgreSQL.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "cluster",
    arguments: "[--long|NUMBER]",
    summary: "Check several nodes with real processes and faults; a number chooses one check",
    run: whole,
};

/// The shortened checks, in the build of the tests.
pub(crate) fn short() -> Result<()> {
    cargo::build_everything()?;
    check("debug", &["--short".to_owned()])
}

fn whole(arguments: &[String]) -> Result<()> {
    // The build with another pattern is the newer one of a rolling upgrade.
    let packages = ["--package", "quorum-ax", "--package", "quorum-bench", "--package", "delphi"];
    let programs = ["build", "--release", "--bin", "ax", "--bin", "quorum-cluster", "--bin", "delphi"];
    cargo::run(cargo::command(&programs).args(packages))?;
    check("release", arguments)
}

/// Not by `cargo run`: for one package alone, the features of its dependencies would differ.
fn check(profile: &str, arguments: &[String]) -> Result<()> {
    let program = cargo::program(profile, "quorum-cluster")?;
    cargo::run(Command::new(program).args(arguments).current_dir(cargo::root()))
}
