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
    /// List them: who each is, through whom it would speak, and where it is from
    List(Listed),
    /// Print the text that one would get ahead of ours, its size, and what is missing
    Show {
        /// Its id
        id: String,
        /// The question, which decides about its abilities and provider
        #[arg(long, value_name = "TEXT", default_value = "")]
        topic: String,
        #[command(flatten)]
        listed: Listed,
    },
    /// Check profiles or abilities, and keep them in the configuration's folder
    Register(Registering),
    /// Remove one from the configuration's folder; its abilities stay
    #[command(visible_alias = "rm")]
    Remove {
        /// Its id
        id: String,
    },
    /// Register all profiles and abilities of a folder: all of them, or none and what is wrong
    Import {
        /// The folder: its agents and abilities, or profiles right in it
        folder: PathBuf,
        /// Replace those that are registered with another content
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Registering {
    /// JSON, YAML, or Markdown with front matter; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Replace one that is registered with another content
    #[arg(long)]
    pub(crate) force: bool,
}
