//! What can be typed.

mod debate;
mod discuss;
mod examples;
mod fork;
mod output;

use std::{net::SocketAddr, path::PathBuf};

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};
use quorum::export::FORMATS;

use crate::judge::RULINGS;

pub(crate) use discuss::Discuss;
pub(crate) use fork::Fork;
pub(crate) use output::{Output, Shape};

/// Lets several models discuss a question and hands you one considered answer
#[derive(Debug, Parser)]
#[command(name = "ax", version, after_help = examples::AX)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Say nothing on standard error but what went wrong
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Hold a discussion and print its result
    #[command(after_help = discuss::EXAMPLES)]
    Discuss(Box<Discuss>),
    /// Go on with a discussion that was paused, failed, or cut off
    #[command(after_help = examples::RESUME)]
    Resume(Resume),
    /// Hold a running discussion once the calls under way are done; `ax resume` goes on
    #[command(after_help = examples::PAUSE)]
    Pause(Which),
    /// Ask nobody else, and conclude with what was said
    #[command(after_help = examples::STOP)]
    Stop(Shown),
    /// End a discussion at once, calling nobody any more
    #[command(after_help = examples::ABORT)]
    Abort(Which),
    /// Give a person's turn in a discussion that waits for it, and go on
    #[command(after_help = examples::SAY)]
    Say(Say),
    /// Leave a remark that everyone asked from now on is shown
    #[command(after_help = examples::NOTE)]
    Note(Note),
    /// Say who judges now, in a debate whose judge failed and that waits for it, and go on
    #[command(
        after_help = "Examples:\n  ax judge last swap gemini\n  ax judge last none\n  ax judge last end"
    )]
    Judge(Judge),
    /// Go on from a past discussion in another way, asking only what is new
    #[command(after_help = examples::FORK)]
    Fork(Fork),
    /// List past discussions, or search them
    #[command(after_help = examples::HISTORY)]
    History(History),
    /// Print the result of a discussion, or what there is so far
    #[command(after_help = examples::SHOW)]
    Show(Shown),
    /// Write a discussion down: as Markdown, a web page, JSON, or events
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Say how good a result was
    #[command(after_help = examples::RATE)]
    Rate(Rate),
    /// Delete a discussion that is over, and everything below it
    #[command(after_help = examples::DELETE)]
    Delete(Delete),
    /// Play a discussion again as it went, then print its result
    #[command(after_help = examples::REPLAY)]
    Replay(Replay),
    /// Answer over HTTP on this machine: API, live events, history
    #[command(
        after_help = "Examples:\n  ax serve                          # needs a free port\n  ax serve --port 8080 --offline    # needs a free port\n  curl -N http://localhost:3000/api/discussions/ID/events  # needs a server"
    )]
    Serve(Serve),
    /// List the patterns and the consensus methods
    #[command(after_help = examples::PATTERNS)]
    Patterns(Listed),
    /// List the providers and their models: windows, prices, and who can be asked here
    #[command(after_help = "Examples:\n  ax models\n  ax models --json")]
    Models(Listed),
    /// Keep keys for providers in a file nobody else can read, list them, or forget them
    #[command(
        after_help = "Examples:\n  ax keys set claude  # asks for it\n  ax keys set claude < key.txt\n  ax keys list\n  ax keys rm claude"
    )]
    Keys(Keys),
    /// List what models cost, or import a price table
    #[command(after_help = "Examples:\n  ax prices\n  ax prices import model_prices_and_context_window.json")]
    Prices(Prices),
    /// Look at keys, endpoints, prices, data and clock, and say what to do
    #[command(after_help = "Examples:\n  ax doctor\n  ax doctor --live  # needs providers that answer")]
    Doctor(Doctor),
    /// List sessions, or create one: a folder for discussions that belong together
    #[command(after_help = examples::SESSIONS)]
    Sessions(Sessions),
    /// See a short debate before a judge, without any key
    #[command(after_help = examples::DEMO)]
    Demo(Demo),
    /// Show where the configuration is, what holds, and whether it makes sense
    #[command(after_help = examples::CONFIG)]
    Config(Configuring),
    /// Print what lets a shell complete what is typed
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of everything or of one verb
    #[command(after_help = examples::MAN)]
    Man {
        /// Which verb
        verb: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Without waiting
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
    /// Print where the configuration is, or where other things are
    Path {
        /// Where what is
        #[arg(default_value = "config")]
        place: Place,
    },
    /// Print every value that holds, and where it comes from
    Show(Listed),
    /// Say everything that is wrong with it; exit with 3 if something is
    Check,
}

/// Where things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Place {
    /// The configuration
    Config,
    /// Discussions
    Data,
    /// Logs of detached runs
    State,
    /// What can be made again
    Cache,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Exit with 6 when there is no consensus, or less agreement than the threshold
    #[arg(long)]
    pub(crate) require_consensus: bool,
    /// Go on when the terminal is closed
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
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
pub(crate) struct Note {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The remark; `-` reads it from standard input
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Rate {
    #[command(flatten)]
    pub(crate) which: Which,
    /// How good its result was, 1 (useless) to 5 (just right)
    pub(crate) rating: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Really do it
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Judge {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Put another in the judge's seat, go on without one, or end the debate
    #[arg(value_name = "WHAT", value_parser = RULINGS)]
    pub(crate) ruling: String,
    /// Who judges instead, for swap
    pub(crate) name: Option<String>,
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
pub(crate) struct Doctor {
    /// Ask every available provider whether it would answer; costs nothing
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) verb: KeyVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyVerb {
    /// Keep a key: typed unseen, or from standard input where that is no terminal
    Set {
        /// The provider, or the variable of its key
        name: String,
    },
    /// List which keys there are and where they come from; never the keys
    List(Listed),
    /// Forget a key that was kept
    Rm {
        /// The provider, or the variable of its key
        name: String,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Prices {
    #[command(subcommand)]
    pub(crate) verb: Option<PriceVerb>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PriceVerb {
    /// Take over a table in litellm's format (model_prices_and_context_window.json)
    Import {
        /// The table
        file: PathBuf,
    },
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
        let mut command = Cli::command();
        command.build();
        let discuss = command.find_subcommand("discuss").unwrap();
        let typed: BTreeSet<&str> = discuss.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let written =
            flags::FLAGS.iter().map(|flag| flag.long).chain(flags::SHOWING.iter().map(|it| it.long));
        let missing: Vec<&str> = written.filter(|long| !typed.contains(long)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    /// What is neither in the configuration nor here would be a flag that a preset can't have by oversight.
    #[test]
    fn every_flag_of_discuss_can_be_configured_or_belongs_to_one_run() {
        let of_one_run = ["again", "preset", "json", "dry-run", "detach", "file", "no-early-exit", "help"];
        let mut command = Cli::command();
        command.build();
        let discuss = command.find_subcommand("discuss").unwrap();
        let known = |long: &&str| {
            flags::FLAGS.iter().any(|flag| flag.long == *long)
                || flags::SHOWING.iter().any(|it| it.long == *long)
        };
        let typed: BTreeSet<&str> = discuss.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let unknown: BTreeSet<&str> = typed.into_iter().filter(|long| !known(long)).collect();
        assert_eq!(unknown, BTreeSet::from(of_one_run));
    }

    #[test]
    fn every_verb_has_examples_in_its_help() {
        for verb in Cli::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            let help = verb.clone().render_long_help().to_string();
            let example = format!("\n  ax {}", verb.get_name());
            assert!(help.contains("Examples:\n") && help.contains(&example), "{}: {help}", verb.get_name());
        }
    }
}
