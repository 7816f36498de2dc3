//! Fills in the names that flags accept. They come from the [`App`], which the derived parsers cannot
//! know.

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser},
};

use crate::app::{App, Choice};

/// The command line with the names of this app in every verb.
pub(super) fn filled(command: Command, app: &App) -> Command {
    // Unlike `mut_arg`, `mut_args` keeps the order in which completions and manual pages list flags.
    command.mut_subcommands(|verb| verb.mut_args(|arg| with_choices(arg, app)))
}

fn with_choices(arg: Arg, app: &App) -> Arg {
    match choices_of(arg.get_id().as_str(), app) {
        Some(choices) => arg.value_parser(parser(choices)),
        None => arg,
    }
}

/// The choices of the arguments that have some, under the names of their fields.
fn choices_of<'a>(argument: &str, app: &'a App) -> Option<&'a [Choice]> {
    match argument {
        "pattern" => Some(&app.patterns),
        "consensus" => Some(&app.methods),
        "window_strategy" => Some(&app.strategies),
        "end_on" => Some(&app.detectors),
        _ => None,
    }
}

fn parser(choices: &[Choice]) -> PossibleValuesParser {
    choices.iter().map(|it| PossibleValue::new(it.name).help(it.summary)).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::{
        args::{Verb, command, parse},
        exit::Exit,
    };

    const FLAGS: [&str; 4] = ["--pattern", "--consensus", "--window-strategy", "--end-on"];

    /// What a request has where the four flags are given these values, or the exit code.
    fn ordered(app: &App, values: [&str; 4]) -> Result<[Option<String>; 4], Exit> {
        let flags = FLAGS.into_iter().zip(values).flat_map(|(flag, value)| [flag, value]);
        let typed: Vec<OsString> = ["ax", "discuss", "q"].into_iter().chain(flags).map(Into::into).collect();
        let Verb::Discuss(discuss) = parse(app, &typed)?.0.verb else { panic!("discuss was typed") };
        let request = discuss.request();
        let end_on = request.end_on.map(|it| it.join(","));
        Ok([request.pattern, request.consensus, request.window_strategy, end_on])
    }

    #[test]
    fn a_builds_own_parts_can_be_ordered_there_alone() {
        let owned = App::ACME.map(|it| Some(it.to_owned()));
        assert_eq!(ordered(&App::with_acme(), App::ACME), Ok(owned));
        assert_eq!(ordered(&App::built_in(), App::ACME), Err(Exit::BadInput));
    }

    /// Every list is in the help of the flag it is for, and of no other.
    #[test]
    fn the_help_lists_a_builds_own_parts_under_their_flags() {
        let command = command(&App::with_acme());
        let names = |verb: &str, argument: &str| -> Vec<String> {
            let verb = command.find_subcommand(verb).unwrap();
            let argument = verb.get_arguments().find(|it| it.get_id() == argument).unwrap();
            argument.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect()
        };
        let app = App::with_acme();
        let expected = |choices: &[Choice]| choices.iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names("discuss", "pattern"), expected(&app.patterns));
        assert_eq!(names("fork", "pattern"), expected(&app.patterns));
        assert_eq!(names("discuss", "consensus"), expected(&app.methods));
        assert_eq!(names("discuss", "window_strategy"), expected(&app.strategies));
        assert_eq!(names("discuss", "end_on"), expected(&app.detectors));
    }
}
