//! The verbs that make a decision a discussion waits for: one for each kind of decision that a
//! pattern declares.

use clap::{
    Args, Command,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use quorum::{
    Registry,
    vocabulary::ruling::{RulingChoice, RulingKind, WINDOW},
};

use crate::args::{Output, Which};

/// The names of choices in earlier versions.
const FORMER_NAMES: [(&str, &str); 1] = [("go-without", "none")];

/// A participant's name for examples.
const SOMEBODY: &str = "gemini";

/// A simulated voice never refuses a question as too long, so no example can wait for this.
const WINDOW_EXAMPLES: &str = "Examples:\n  ax discuss \"Which queue?\" --window-overflow ask --offline  # may wait for it\n  \
                               ax window --help  # what can be decided, as in: ax window ID truncate";

#[derive(Debug, Args)]
pub(crate) struct Rule {
    /// The kind of decision, which is the verb.
    #[arg(skip)]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) which: Which,
    /// The decision
    #[arg(value_name = "WHAT")]
    pub(crate) choice: String,
    /// The participant, for a decision that names one
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Adds a verb for each decision that people may be asked to make.
pub(super) fn added(command: Command, registry: &Registry) -> Command {
    command.subcommands(registry.rulings().into_iter().map(verb))
}

fn verb(kind: &'static RulingKind) -> Command {
    let value = |it: &RulingChoice| {
        let former = FORMER_NAMES.iter().find(|(name, _)| *name == it.name).map(|it| it.1);
        PossibleValue::new(it.name).help(it.summary).aliases(former)
    };
    let values: Vec<PossibleValue> = kind.choices.iter().map(value).collect();
    let named = |typed: String| {
        let former =
            FORMER_NAMES.iter().find(|(name, former)| *former == typed && kind.choice(name).is_some());
        former.map_or(typed, |(name, _)| (*name).to_owned())
    };
    let choices = PossibleValuesParser::from(values).map(named);
    let verb = Rule::augment_args(Command::new(kind.name)).about(kind.summary).after_help(examples(kind));
    // Unlike `mut_arg`, `mut_args` keeps the order of positional arguments.
    verb.mut_args(|arg| if arg.get_id() == "choice" { arg.value_parser(choices.clone()) } else { arg })
}

fn examples(kind: &RulingKind) -> String {
    if kind.name == WINDOW.name {
        return WINDOW_EXAMPLES.to_owned();
    }
    let line = |it: &RulingChoice| {
        let candidate = if it.takes_candidate { format!(" {SOMEBODY}") } else { String::new() };
        format!("\n  ax {} last {}{candidate}", kind.name, it.name)
    };
    format!("Examples:{}", kind.choices.iter().map(line).collect::<String>())
}
