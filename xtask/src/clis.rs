//! The real coding CLIs as voices: installs them, and has them take part in discussions against a fake vendor.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "clis",
    arguments: "",
    summary: "Install the real coding CLIs, and try them as voices that may read nothing",
    run: clis,
};

fn clis(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    cargo::run(Command::new(cargo::root().join("scripts/local-clis.sh")).current_dir(cargo::root()))
}
