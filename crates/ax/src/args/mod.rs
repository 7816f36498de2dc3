//! The command line: verbs, their flags and arguments, help, and typed or piped text.

mod agents;
mod bare;
mod choices;
mod db;
mod discuss;
mod eval;
mod examples;
mod follow;
mod fork;
mod general;
mod help;
pub(crate) mod input;
mod mcp;
mod number;
mod one_discussion;
mod options;
mod output;
pub(crate) mod password;
mod past;
mod prompts;
mod rule;
mod workflow;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::log::LogFormat;

pub(crate) use agents::{AgentVerb, Agents, Registering};
pub(crate) use db::{CheckDatabase, Db, DbVerb, MoveDatabase, OneDatabase};
pub(crate) use discuss::Discuss;
pub(crate) use eval::Eval;
pub(crate) use follow::Follow;
pub(crate) use fork::Fork;
pub(crate) use general::{ConfigVerb, Configuring, Demo, History, Place, Serve, SessionVerb, Sessions};
pub(crate) use help::{command, derived, parse, validate};
pub(crate) use mcp::{ClientName, Mcp, McpVerb};
pub(crate) use one_discussion::{
    Calibration, Delete, Export, Note, Rate, Replay, Resolve, Restore, Resume, Say,
};
pub(crate) use output::{Output, Shape};
pub(crate) use prompts::Prompts;
pub(crate) use rule::Rule;
pub(crate) use workflow::{Run, WorkflowVerb, Workflows};

/// Lets several models discuss a question and hands you one considered answer
#[derive(Debug, Parser)]
#[command(name = "ax", version, after_help = examples::AX)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Print nothing but errors on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log discussions, rounds and responses to standard error [env: AX_LOG]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) log: Option<LogFormat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Hold a discussion and print its result
    #[command(after_help = examples::discuss(), args_override_self = true, visible_aliases = ["ask", "chat"])]
    Discuss(Box<Discuss>),
    /// Ask the panel of a finished discussion a follow-up question
    #[command(after_help = examples::FOLLOW, args_override_self = true)]
    Follow(Box<Follow>),
    /// Run a workflow and print the text of its last step
    #[command(after_help = examples::run())]
    Run(Box<Run>),
    /// List, show and check workflows, or print their JSON Schema
    #[command(after_help = examples::WORKFLOW)]
    Workflow(Workflows),
    /// Compare ways of answering by accuracy and cost, on questions with known answers
    #[command(after_help = examples::eval())]
    Eval(Box<Eval>),
    /// Continue a discussion that was paused or interrupted, or that failed
    #[command(after_help = examples::RESUME)]
    Resume(Resume),
    /// Show a discussion or workflow run of another process, and leave it running
    #[command(after_help = examples::WATCH, visible_alias = "attach")]
    Watch(Shown),
    /// Pause a discussion once the calls under way are done
    #[command(after_help = examples::PAUSE)]
    Pause(Which),
    /// Stop asking, and conclude with what was said
    #[command(after_help = examples::STOP)]
    Stop(Shown),
    /// End a discussion at once, without further calls
    #[command(after_help = examples::ABORT)]
    Abort(Which),
    /// Take a person's turn that a discussion waits for, and continue
    #[command(after_help = examples::SAY)]
    Say(Say),
    /// Add a remark that is shown to everyone asked from now on
    #[command(after_help = examples::NOTE)]
    Note(Note),
    /// Makes a decision that a discussion waits for. These verbs are generated from the
    /// declarations.
    #[command(skip)]
    Rule(Box<Rule>),
    /// Continue from a step of a past discussion with changes, asking only new questions
    #[command(after_help = examples::FORK, override_usage = fork::USAGE)]
    Fork(Fork),
    /// List past discussions, or search them
    #[command(after_help = examples::HISTORY)]
    History(History),
    /// Print the result of a discussion, or its partial result
    #[command(after_help = examples::SHOW)]
    Show(Shown),
    /// Export a discussion as Markdown, a web page, JSON or events
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Rate the result of a discussion
    #[command(after_help = examples::RATE)]
    Rate(Rate),
    /// Record the right answer to a discussion's question, to learn how reliable each voice is
    #[command(after_help = examples::RESOLVE)]
    Resolve(Resolve),
    /// Show how reliable each voice has been: accuracy, calibration, weight, independence
    #[command(after_help = examples::CALIBRATION)]
    Calibration(Calibration),
    /// Delete a finished discussion with its sub-discussions
    #[command(after_help = examples::DELETE)]
    Delete(Delete),
    /// Restore discussions that retention has hidden, or list them
    #[command(after_help = examples::RESTORE)]
    Restore(Restore),
    /// Replay a discussion as it happened, then print its result
    #[command(after_help = examples::REPLAY)]
    Replay(Replay),
    /// Serve the HTTP API and the web page on this machine
    #[command(after_help = examples::SERVE)]
    Serve(Serve),
    /// Offer discussions as tools to another program (MCP), or add ax to its configuration
    #[command(after_help = examples::MCP)]
    Mcp(Mcp),
    /// List the patterns and the consensus methods
    #[command(after_help = examples::PATTERNS)]
    Patterns(Listed),
    /// List the agents, show, register, import or remove them
    #[command(after_help = examples::AGENTS)]
    Agents(Agents),
    /// Print every prompt of a discussion as it would be sent, without asking any model
    #[command(after_help = examples::PROMPTS)]
    Prompts(Box<Prompts>),
    /// List the providers and their models: windows, prices, and which are available
    #[command(after_help = "Examples:\n  ax models\n  ax models --json")]
    Models(Listed),
    /// Store API keys in a file only you can read, list them, or remove them
    #[command(
        after_help = "Examples:\n  ax keys set claude\n  ax keys set claude < key.txt\n  ax keys list\n  ax keys rm claude"
    )]
    Keys(Keys),
    /// List what models cost, or import a price table
    #[command(after_help = "Examples:\n  ax prices\n  ax prices import model_prices_and_context_window.json")]
    Prices(Prices),
    /// Check keys, endpoints, prices, data and clock, and say what to fix
    #[command(after_help = "Examples:\n  ax doctor\n  ax doctor --live\n  ax doctor --salvage")]
    Doctor(Doctor),
    /// Update, check or move the database that discussions are kept in
    #[command(after_help = examples::DB)]
    Db(Db),
    /// List, create, rename or delete sessions (folders for discussions)
    #[command(after_help = examples::SESSIONS)]
    Sessions(Sessions),
    /// Watch a short debate with a judge; needs no key
    #[command(after_help = examples::DEMO)]
    Demo(Demo),
    /// Show where the configuration is, its effective values and its mistakes
    #[command(after_help = examples::CONFIG)]
    Config(Configuring),
    /// Print the completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of ax or of one verb
    #[command(after_help = examples::MAN)]
    Man {
        /// Which verb
        #[arg(index = 1)]
        verb: Option<String>,
        /// A subcommand of the verb, as in `ax man config path`
        #[arg(index = 2)]
        part: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The discussion: its id, the beginning of it, `last`, or `last~1` for the one before
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
pub(crate) struct Listed {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Check, at no cost, whether each available provider would answer
    #[arg(long)]
    pub(crate) live: bool,
    /// Save what can be read of a damaged database into a new one beside it
    #[arg(long, conflicts_with_all = ["live", "json"])]
    pub(crate) salvage: bool,
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
    /// Store a key: typed without echo, or read from standard input if that is not a terminal
    Set {
        /// The provider, or the variable of its key
        name: String,
    },
    /// List the names of the keys and where they come from, never the keys themselves
    List(Listed),
    /// Remove a stored key
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
    /// Import a table in litellm's format (model_prices_and_context_window.json)
    Import {
        /// The table
        file: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use quorum::request::flags;

    use super::*;
    use crate::app::App;

    fn built_in() -> clap::Command {
        command(&App::built_in())
    }

    #[test]
    fn the_command_line_makes_sense() {
        built_in().debug_assert();
    }

    #[test]
    fn every_flag_of_the_table_can_be_typed() {
        let mut command = built_in();
        command.build();
        let discuss = command.find_subcommand("discuss").unwrap();
        let typed: BTreeSet<&str> = discuss.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let flags = flags::all(&App::built_in().registry);
        let written = flags.iter().map(|flag| &*flag.long).chain(flags::SHOWING.iter().map(|it| it.long));
        let missing: Vec<&str> = written.filter(|long| !typed.contains(long)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    /// A flag missing both from the configuration and from this list couldn't be set in a preset,
    /// by oversight.
    #[test]
    fn every_flag_of_discuss_can_be_configured_or_belongs_to_one_run() {
        let of_one_run = [
            "again",
            "preset",
            "json",
            "dry-run",
            "worst-case",
            "detach",
            "file",
            "no-early-exit",
            "help",
            "log",
        ]
        .into_iter()
        .chain(["continue", "recall-from", "no-recall"]);
        let mut command = built_in();
        command.build();
        let discuss = command.find_subcommand("discuss").unwrap();
        let flags = flags::all(&App::built_in().registry);
        let known = |long: &&str| {
            flags.iter().any(|flag| flag.long == *long) || flags::SHOWING.iter().any(|it| it.long == *long)
        };
        let typed: BTreeSet<&str> = discuss.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let unknown: BTreeSet<&str> = typed.into_iter().filter(|long| !known(long)).collect();
        assert_eq!(unknown, of_one_run.collect());
    }

    /// Longer lines would be wrapped in awkward places.
    #[test]
    fn text_after_the_help_fits_80_columns() {
        for verb in built_in().get_subcommands() {
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let prose = after.lines().filter(|line| !line.starts_with("  "));
            let long: Vec<&str> = prose.filter(|line| 80 < line.chars().count()).collect();
            assert_eq!(long, Vec::<&str>::new(), "{}", verb.get_name());
        }
    }

    #[test]
    fn every_verb_has_examples_in_its_help() {
        for verb in built_in().get_subcommands().filter(|it| !it.is_hide_set()) {
            let help = verb.clone().render_long_help().to_string();
            let example = format!("\n  ax {}", verb.get_name());
            assert!(help.contains("Examples:\n") && help.contains(&example), "{}: {help}", verb.get_name());
        }
    }
}
