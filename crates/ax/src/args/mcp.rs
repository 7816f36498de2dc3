//! Arguments of `ax mcp`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
    /// Use simulated voices even if providers are available
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Print the entry that makes a client start `ax mcp`, or add it to the client's configuration
    Install {
        /// The client
        client: ClientName,
        /// Add the entry to the client's configuration, keeping a copy of the file as it was
        #[arg(long)]
        write: bool,
    },
}

/// A client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Visual Studio Code, in the current folder
    Vscode,
    /// Cursor
    Cursor,
}
