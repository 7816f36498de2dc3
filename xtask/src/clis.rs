//! Installs the real coding CLIs and has them take part in discussions against a fake vendor.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "clis",
    arguments: "",
    summary: "Install the real coding CLIs, and test them as voices that can't read files",
    run: clis,
};

fn clis(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    cargo::run(Command::new(cargo::root().join("scripts/local-clis.sh")).current_dir(cargo::root()))
}
