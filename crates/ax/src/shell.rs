//! What shells and `man` read of the command line: completions and manual pages, made from the same descriptions as the help.

use anyhow::Context;
use clap::{
    CommandFactory,
    builder::{PossibleValue, PossibleValuesParser, Resettable},
};
use clap_complete::Shell;
use quorum::Config;

use crate::{
    args::Cli,
    exit::{Exit, Usage},
    render::write,
};

/// `ax completions`
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut command = with_presets(Cli::command());
    // Into memory first: writing them to a pipe that is closed would end in a panic.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ax", &mut script);
    write(&String::from_utf8(script).context("completions are text")?)?;
    Ok(Exit::Done)
}

/// The names of the user's presets as what may follow `--preset`; a configuration that can't be read has none.
fn with_presets(command: clap::Command) -> clap::Command {
    let config = Config::load().ok();
    let names: Vec<PossibleValue> =
        config.iter().flat_map(Config::presets).map(|name| PossibleValue::new(name.to_owned())).collect();
    if names.is_empty() {
        return command;
    }
    let among = PossibleValuesParser::from(names);
    command.mut_subcommand("discuss", |discuss| discuss.mut_arg("preset", |arg| arg.value_parser(among)))
}

/// `ax man`
pub(crate) fn man(verb: Option<&str>) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let page = match verb {
        None => command,
        Some(verb) => of_verb(&command, verb)?,
    };
    let after = page.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut text = Vec::new();
    clap_mangen::Man::new(page.after_help(Resettable::Reset)).render(&mut text)?;
    let text = String::from_utf8(text).context("a manual page is text")?;
    write(&format!("{}{}", text.trim_end_matches('\n'), as_written(&after)))?;
    Ok(Exit::Done)
}

/// What stands under the help, line by line: examples can be copied.
fn as_written(after: &str) -> String {
    let (title, lines) = match after.strip_prefix("Examples:\n") {
        Some(examples) => ("EXAMPLES", examples),
        None => ("NOTES", after),
    };
    // A line that begins with a dot or a quote would be an order.
    let line = |it: &str| format!("\\&{}\n", it.replace('\\', "\\e").replace('-', "\\-"));
    let lines: String = lines.lines().map(line).collect();
    format!("\n.SH {title}\n.nf\n{lines}.fi\n")
}

fn of_verb(command: &clap::Command, verb: &str) -> Result<clap::Command, Usage> {
    let names =
        || command.get_subcommands().filter(|it| !it.is_hide_set()).map(|it| it.get_name().to_owned());
    let found = command.find_subcommand(verb).cloned();
    let found = found.ok_or_else(|| {
        Usage(format!("there is no verb {verb:?}; there are {}", names().collect::<Vec<_>>().join(", ")))
    })?;
    let name = format!("ax-{verb}");
    Ok(found.name(name.clone()).display_name(name).disable_help_subcommand(true))
}
