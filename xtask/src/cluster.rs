//! Builds `ax` and the acceptance checks of several nodes, and runs these with a real PostgreSQL.

use anyhow::Result;

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "cluster",
    arguments: "[--long|NUMBER]",
    summary: "Check several nodes with real processes and faults; a number chooses one check",
    run: |arguments| run(&["--release"], arguments),
};

/// The shortened checks, with the binaries of the tests.
pub(crate) fn short() -> Result<()> {
    run(&[], &["--short".to_owned()])
}

fn run(profile: &[&str], arguments: &[String]) -> Result<()> {
    let packages = ["--package", "quorum-ax", "--package", "quorum-bench"];
    cargo::run(
        cargo::command(&["build", "--bin", "ax", "--bin", "quorum-cluster"]).args(packages).args(profile),
    )?;
    let run =
        ["run", "--quiet", "--package", "quorum-bench", "--package", "quorum-ax", "--bin", "quorum-cluster"];
    cargo::run(cargo::command(&run).args(profile).arg("--").args(arguments))
}
