//! Runs the laboratory: patterns in reference worlds, whose right answers are known.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "lab",
    arguments: "[--short]",
    summary: "Run patterns in reference worlds, and fail if one loses more than its bar allows",
    run: lab,
};

const SHORT: &str = "--short";

fn lab(arguments: &[String]) -> Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let run = ["run", "--release", "--quiet", "--package", "quorum-bench", "--bin", "quorum-lab"];
            cargo::run(&mut cargo::command(&run))
        }
        [SHORT] => short(),
        _ => bail!("unknown arguments `{}`; only {SHORT} is accepted", arguments.join(" ")),
    }
}

/// The part that belongs to every test run, in the build of the tests.
pub(crate) fn short() -> Result<()> {
    cargo::build_everything()?;
    cargo::run(Command::new(cargo::program("debug", "quorum-lab")?).arg(SHORT).current_dir(cargo::root()))
}
