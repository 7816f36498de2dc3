//! Arguments of the verbs that concern no single discussion.

use std::net::SocketAddr;

use clap::{Args, Subcommand};

use crate::args::{
    Listed,
    number::{at_least_one, port},
};

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Show it without pauses
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Configuring {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print the path of the configuration file, or of the data, state or cache folder
    Path {
        /// Which of them
        #[arg(default_value = "config")]
        place: Place,
    },
    /// Print every effective value and where it comes from
    Show(Listed),
    /// List all mistakes in the configuration; exit with 3 if there are any
    Check,
}

/// Places that `ax config path` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Place {
    /// The configuration
    Config,
    /// Discussions
    Data,
    /// Logs of detached runs
    State,
    /// Files that can be recreated
    Cache,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Only discussions that match these words, most relevant first
    pub(crate) words: Vec<String>,
    /// The maximum number to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) limit: usize,
    /// Only those of this session, by id or name
    #[arg(long, value_name = "SESSION", conflicts_with = "words")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; other machines can reach it only with tokens in the configuration
    /// [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The port; 0 picks any free one
    #[arg(long, value_name = "PORT", value_parser = port, allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,
    /// Use simulated voices even if providers are available
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) verb: Option<SessionVerb>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    /// List sessions, newest first
    List(Listed),
    /// Create a session and print its id
    Create {
        /// Its name
        name: String,
    },
    /// Rename a session
    Rename {
        /// Its id or name
        session: String,
        /// The new name
        name: String,
    },
    /// Delete a session that has no discussions
    Delete {
        /// Its id or name
        session: String,
    },
}
