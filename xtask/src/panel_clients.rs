//! Installs the vendors' own clients, and programs built on them, and has them use a panel as if it
//! were one model.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "panel-clients",
    arguments: "",
    summary: "Install the vendors' own clients, and test them against a panel as a model",
    run: panel_clients,
};

fn panel_clients(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    cargo::run(Command::new(cargo::root().join("scripts/panel-clients.sh")).current_dir(cargo::root()))
}
