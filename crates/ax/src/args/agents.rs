//! Arguments of `ax agents`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Listed;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Agents {
    #[command(subcommand)]
    pub(crate) verb: Option<AgentVerb>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentVerb {
    /// List the agents with the provider and folder of each
    List(Listed),
    /// Print the text that an agent's profile and abilities put before Quorum's own prompt, its
    /// size, and any missing abilities
    Show {
        /// Its id
        id: String,
        /// The question, which selects its abilities and provider
        #[arg(long, value_name = "TEXT", default_value = "")]
        topic: String,
        #[command(flatten)]
        listed: Listed,
    },
    /// Check profiles or abilities, and store them in the configuration's folder
    Register(Registering),
    /// Remove an agent from the configuration's folder; its abilities are kept
    #[command(visible_alias = "rm")]
    Remove {
        /// Its id
        id: String,
    },
    /// Register all profiles and abilities of a folder, or none if one has mistakes
    Import {
        /// The folder: its agents and abilities, or profiles right in it
        folder: PathBuf,
        /// Replace registered ones that differ
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Registering {
    /// JSON, YAML, or Markdown with front matter; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Replace a registered one that differs
    #[arg(long)]
    pub(crate) force: bool,
}
