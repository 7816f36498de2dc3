//! What can be typed.

mod debate;
mod discuss;
mod fork;
mod output;

use std::{net::SocketAddr, path::PathBuf};

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};
use quorum::export::FORMATS;

pub(crate) use discuss::Discuss;
pub(crate) use fork::Fork;
pub(crate) use output::{Output, Shape};

/// Lets several models discuss a question and hands you one considered answer
#[derive(Debug, Parser)]
#[command(name = "ax", version, after_help = "Example: ax discuss \"Which database for a real-time app?\"")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Hold a discussion and print its result
    #[command(after_help = discuss::EXAMPLES)]
    Discuss(Box<Discuss>),
    /// Go on with a discussion that was paused, failed, or cut off
    #[command(after_help = "Example: ax resume last")]
    Resume(Resume),
    /// Hold a running discussion once the calls under way are done; `ax resume` goes on
    #[command(after_help = "Example: ax pause last")]
    Pause(Which),
    /// Ask nobody else, and conclude with what was said
    #[command(after_help = "Example: ax stop last > answer.md")]
    Stop(Shown),
    /// End a discussion at once, calling nobody any more
    #[command(after_help = "Example: ax abort last")]
    Abort(Which),
    /// Give a person's turn in a discussion that waits for it, and go on
    #[command(
        after_help = "Examples:\n  ax say last \"I would rather wait a year.\"\n  ax say last - --as ann < answer.md"
    )]
    Say(Say),
    /// Go on from a past discussion in another way, asking only what is new
    #[command(
        after_help = "Examples:\n  ax fork last --at 2/awaiting-responses/gemini --judge mistral\n  ax fork last --at 1/answering/claude --drop glm"
    )]
    Fork(Fork),
    /// List past discussions, or search them
    #[command(after_help = "Examples:\n  ax history\n  ax history event sourcing -n 5")]
    History(History),
    /// Print the result of a discussion, or what there is so far
    #[command(after_help = "Examples:\n  ax show last --verbose\n  ax show last --json | jq .synthesis")]
    Show(Shown),
    /// Write a discussion down: as Markdown, a web page, JSON, or events
    #[command(
        after_help = "Examples:\n  ax export last > discussion.md\n  ax export last -o discussion.html\n  ax export last --as jsonl | jq -r .type"
    )]
    Export(Export),
    /// Play a discussion again as it went, then print its result
    #[command(
        after_help = "Examples:\n  ax replay last\n  ax replay last --speed 4\n  ax replay last --fast"
    )]
    Replay(Replay),
    /// Answer over HTTP on this machine: API, live events, history
    #[command(
        after_help = "Examples:\n  ax serve\n  ax serve --port 8080 --offline\n  curl -N http://localhost:3000/api/discussions/ID/events"
    )]
    Serve(Serve),
    /// List the patterns and the consensus methods
    #[command(after_help = "Example: ax patterns")]
    Patterns(Listed),
    /// List sessions, or create one: a folder for discussions that belong together
    #[command(
        after_help = "Examples:\n  ax sessions create \"Billing rewrite\"\n  ax discuss \"…\" --session \"Billing rewrite\""
    )]
    Sessions(Sessions),
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Exit with 6 when there is no consensus, or less agreement than the threshold
    #[arg(long)]
    pub(crate) require_consensus: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The discussion: its id, the beginning of it, or `last`
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Shown {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What is said; `-` reads it from standard input
    pub(crate) text: String,
    /// For which seat [default: the one whose turn it is]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// As which user, where the seat belongs to one
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,
    /// In which format [default: by the file's ending, or else markdown]
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,
    /// Where to; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Without waiting
    #[arg(long, conflicts_with = "speed")]
    pub(crate) fast: bool,
    /// How many times as fast as it went; at 1, no pause is longer than 2 s
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed, allow_negative_numbers = true)]
    pub(crate) speed: f64,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Only discussions that have to do with these words, most relevant first
    pub(crate) words: Vec<String>,
    /// How many at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only those of this session, by id or name
    #[arg(long, value_name = "SESSION", conflicts_with = "words")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; other machines can reach it only with tokens in the configuration [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// On which port; 0 takes any that is free
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Use simulated voices although real ones could be had
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Listed {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
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
    /// List them, newest first
    List(Listed),
    /// Make one and print its id
    Create {
        /// What people call it
        name: String,
    },
}

fn formats() -> PossibleValuesParser {
    let value = |format: &quorum::export::Format| {
        PossibleValue::new(format.name).alias(format.ending).help(format.summary)
    };
    FORMATS.iter().map(value).collect::<Vec<_>>().into()
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.01..=1_000.0).contains(speed));
    speed.ok_or_else(|| "must be a number from 0.01 to 1000".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;
    use quorum::request::flags;

    use super::*;

    #[test]
    fn the_command_line_makes_sense() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_of_the_table_can_be_typed() {
        let command = Cli::command();
        let discuss = command.find_subcommand("discuss").unwrap();
        let typed: BTreeSet<&str> = discuss.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let missing: Vec<&str> =
            flags::FLAGS.iter().map(|flag| flag.long).filter(|long| !typed.contains(long)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
