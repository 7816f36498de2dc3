//! Fills in the names that flags accept, and their defaults. Both come from the [`App`], which the
//! derived parsers cannot know.

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser},
};
use quorum::{
    model::spec::WindowSpec,
    registry::{OnOverflow, Pattern},
};

use crate::{
    app::{App, Choice},
    args::{
        options::{self, Purpose},
        rule,
    },
};

/// The command line with this app's names in every verb, its options, and its decision verbs.
pub(super) fn filled(command: Command, app: &App) -> Command {
    // Unlike `mut_arg`, `mut_args` keeps the order in which completions and manual pages list
    // flags.
    let command = command.mut_subcommands(|verb| verb.mut_args(|arg| with_choices(arg, app)));
    let command = command.mut_subcommand("discuss", |verb| {
        options::added(verb.mut_args(|arg| for_discuss(with_default(arg, app))), app, Purpose::Discuss)
    });
    let command = command.mut_subcommand("follow", |verb| {
        let verb = verb.mut_args(|arg| for_follow(with_default(arg, app)));
        options::added(verb, app, Purpose::Discuss)
    });
    let command = command.mut_subcommand("prompts", |verb| {
        options::added(verb.mut_args(|arg| with_default(arg, app)), app, Purpose::Discuss)
    });
    let command = command.mut_subcommand("fork", |verb| options::added(verb, app, Purpose::Fork));
    rule::added(command, &app.registry)
}

/// Requires the question, unless a past order has one. `ax follow` has two texts, and says itself
/// which is missing.
fn for_discuss(arg: Arg) -> Arg {
    if arg.get_id() == "topic" { arg.required_unless_present("again") } else { arg }
}

/// The first text after the verb names the discussion to follow. Nothing else that names one is
/// offered.
fn for_follow(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "topic" => arg
            .value_name("ID")
            .help("The finished discussion: its id, the beginning of it, or `last`, which may be left out"),
        "again" | "follows" => arg.hide(true),
        _ => arg,
    }
}

fn with_choices(arg: Arg, app: &App) -> Arg {
    let choices = match arg.get_id().as_str() {
        "pattern" => app.patterns(),
        "consensus" => app.methods(),
        "window_strategy" => app.strategies(),
        "window_overflow" => app.registry.overflows().map(|name| Choice { name, summary: "" }).collect(),
        _ => return arg,
    };
    arg.value_parser(parser(&choices))
}

fn parser(choices: &[Choice]) -> PossibleValuesParser {
    let value = |it: &Choice| {
        let value = PossibleValue::new(it.name);
        if it.summary.is_empty() { value } else { value.help(it.summary) }
    };
    choices.iter().map(value).collect::<Vec<_>>().into()
}

/// Adds the default to a flag's help, if the registry determines it.
fn with_default(arg: Arg, app: &App) -> Arg {
    let first = |choices: Vec<Choice>| choices.first().map(|it| it.name.to_owned());
    let default = match arg.get_id().as_str() {
        "roles" => return with_example(arg, app),
        "pattern" if arg.is_required_set() => None,
        "pattern" => first(app.patterns()),
        "consensus" => first(app.methods()),
        "window_strategy" => first(app.strategies()),
        "window_overflow" => Some(default_overflow(app).to_owned()),
        "rounds" => default_by_pattern(app, |it| it.defaults.rounds.to_string()),
        "timeout" => default_by_pattern(app, |it| it.defaults.step_ms.to_string()),
        _ => None,
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    match default {
        Some(default) => arg.help(format!("{help} [default: {default}]")),
        None => arg,
    }
}

/// Adds an example made of the first registered roles to the help of `--roles`.
fn with_example(arg: Arg, app: &App) -> Arg {
    let pairs = ["claude", "gemini", "qwen"].into_iter().zip(app.registry.roles());
    let pairs: Vec<String> = pairs.map(|(name, role)| format!("{name}={}", role.name)).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help}: {} [default: by seat]", pairs.join(",")))
}

fn default_overflow(app: &App) -> &'static str {
    let shrinks = app.registry.strategies().iter().find(|it| it.overflow == OnOverflow::Shrinks);
    shrinks.map_or(WindowSpec::END, |it| it.name)
}

/// The first pattern's default, then the patterns whose default differs.
fn default_by_pattern(app: &App, default: fn(&Pattern) -> String) -> Option<String> {
    let (first, others) = app.registry.patterns().split_first()?;
    let differing = others.iter().filter(|it| default(it) != default(first));
    let others = differing.map(|it| format!("; {} with {}", default(it), it.name));
    Some(std::iter::once(default(first)).chain(others).collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::{
        args::{Verb, command, derived, parse},
        exit::Exit,
    };

    const FLAGS: [&str; 4] = ["--pattern", "--consensus", "--window-strategy", "--end-on"];

    /// The values that the four flags give a request, or the exit code.
    fn ordered(app: &App, values: [&str; 4]) -> Result<[Option<String>; 4], Exit> {
        let flags = FLAGS.into_iter().zip(values).flat_map(|(flag, value)| [flag, value]);
        let typed: Vec<OsString> = ["ax", "discuss", "q"].into_iter().chain(flags).map(Into::into).collect();
        let Verb::Discuss(discuss) = parse(app, derived(), &typed)?.0.verb else {
            panic!("discuss was typed")
        };
        let request = discuss.request();
        let end_on = request.settings.get("endOn").and_then(|it| Some(it.get(0)?.as_str()?.to_owned()));
        Ok([request.pattern, request.consensus, request.window_strategy, end_on])
    }

    #[test]
    fn a_builds_own_parts_can_be_ordered_there_alone() {
        let owned = App::ACME.map(|it| Some(it.to_owned()));
        assert_eq!(ordered(&App::with_acme(), App::ACME), Ok(owned));
        assert_eq!(ordered(&App::built_in(), App::ACME), Err(Exit::BadInput));
    }

    /// Every list appears in the help of its own flag and of no other.
    #[test]
    fn the_help_lists_a_builds_own_parts_under_their_flags() {
        let command = command(&App::with_acme());
        let names = |verb: &str, long: &str| -> Vec<String> {
            let verb = command.find_subcommand(verb).unwrap();
            let argument = verb.get_arguments().find(|it| it.get_long() == Some(long)).unwrap();
            argument.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect()
        };
        let app = App::with_acme();
        let expected = |choices: Vec<Choice>| choices.iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names("discuss", "pattern"), expected(app.patterns()));
        assert_eq!(names("fork", "pattern"), expected(app.patterns()));
        assert_eq!(names("discuss", "consensus"), expected(app.methods()));
        assert_eq!(names("discuss", "window-strategy"), expected(app.strategies()));
        assert_eq!(names("discuss", "end-on"), expected(app.detectors()));
    }
}
