//! Holds one cheap discussion with every provider that has a key, and records its replies.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "live",
    arguments: "[--replay] [PROVIDER …]",
    summary: "Record one cheap discussion per vendor that has a key; --replay needs none",
    run: live,
};

fn live(arguments: &[String]) -> Result<()> {
    cargo::run(&mut cargo::command(&["build", "--package", "quorum-ax"]))?;
    let script = cargo::root().join("scripts/live.py");
    cargo::run(Command::new("python3").arg(script).args(arguments).current_dir(cargo::root()))
}
