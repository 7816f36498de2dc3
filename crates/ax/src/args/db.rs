//! Arguments of `ax db`.

use clap::{Args, Subcommand};

use crate::args::Listed;

#[derive(Debug, Args)]
pub(crate) struct Db {
    #[command(subcommand)]
    pub(crate) verb: DbVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbVerb {
    /// Update the tables, and remove what only older programs use
    Migrate(OneDatabase),
    /// Check that facts, claims and lists are consistent and that no row is orphaned
    Check(CheckDatabase),
    /// Copy everything to another database and compare both; continues an interrupted move
    Move(MoveDatabase),
}

#[derive(Debug, Args)]
pub(crate) struct OneDatabase {
    /// A file or a postgres:// URL instead of the configured database
    #[arg(value_name = "DATABASE")]
    pub(crate) database: Option<String>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct CheckDatabase {
    #[command(flatten)]
    pub(crate) one: OneDatabase,
    /// How many discussions to derive again from their facts and compare
    #[arg(long, value_name = "N", default_value_t = 200, conflicts_with = "all")]
    pub(crate) sample: u64,
    /// Derive and compare all discussions
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MoveDatabase {
    /// The file or postgres:// URL to read [default: the file in the data directory]
    #[arg(long, value_name = "DATABASE")]
    pub(crate) from: Option<String>,
    /// The file or postgres:// URL to write [default: AX_DATABASE_URL or [store] url]
    #[arg(long, value_name = "DATABASE")]
    pub(crate) to: Option<String>,
    /// Swap the defaults: from the configured URL to the file
    #[arg(long)]
    pub(crate) back: bool,
    #[command(flatten)]
    pub(crate) listed: Listed,
}
