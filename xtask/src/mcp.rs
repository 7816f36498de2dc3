//! Installs real MCP clients and has them call every tool, over both transports.

use std::process::Command;

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "mcp",
    arguments: "",
    summary: "Install real MCP clients, and have them call every tool over both transports",
    run: mcp,
};

fn mcp(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    cargo::run(Command::new(cargo::root().join("scripts/mcp-clients.sh")).current_dir(cargo::root()))
}
