//! Generates clients from the OpenAPI document, and runs an example of each against a server.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "clients",
    arguments: "",
    summary: "Generate a Python and a TypeScript client, compile them, and run their examples",
    run: clients,
};

fn clients(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    cargo::run(Command::new(cargo::root().join("scripts/clients.sh")).current_dir(cargo::root()))
}
