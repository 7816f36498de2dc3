//! The whole command line: its verbs in groups, and the errors for input that can't be parsed.

use std::{
    collections::HashSet,
    ffi::OsString,
    fmt::Write,
    io::{IsTerminal, stdout},
};

use anyhow::bail;
use clap::{
    ArgMatches, Command, CommandFactory, FromArgMatches,
    builder::{PossibleValuesParser, StyledStr},
    error::{ContextKind, ContextValue, ErrorKind},
};

use quorum::{Registry, config::nearest, model::excerpt::in_short, request::flags::Flag};

use crate::{
    app::App,
    args::{
        Cli, Rule, Verb,
        bare::{self, Meaning},
        choices::filled,
        options,
    },
    exit::{self, Exit},
    render::{
        line::{Colour, Line, PLAIN},
        note_always, write,
    },
    terminal,
};

/// The group of the verbs that steer a discussion, decisions among them.
const STEERING: &str = "Control running discussions";

/// The verbs by purpose, each in one group. Decision verbs are listed with those that steer.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Discuss", &["discuss", "follow", "run", "workflow", "demo", "patterns", "prompts"]),
    (STEERING, &["watch", "pause", "resume", "stop", "abort", "say", "note"]),
    (
        "Look back",
        &[
            "history",
            "show",
            "export",
            "replay",
            "fork",
            "rate",
            "resolve",
            "calibration",
            "eval",
            "delete",
            "restore",
            "sessions",
        ],
    ),
    ("Set up", &["agents", "models", "keys", "prices", "config", "doctor", "db"]),
    ("More", &["serve", "mcp", "completions", "man", "help"]),
];

/// The column at which a verb's summary begins.
const SUMMARY: usize = 15;
/// The narrowest and the widest that help is wrapped: wider lines are hard to read, and narrower
/// ones hold too few words.
const WIDTHS: (usize, usize) = (40, 100);

/// The command line, as it is parsed, shown in help, completed and printed as manual pages.
pub(crate) fn command(app: &App) -> Command {
    grouped(accepting(derived(), app), app)
}

/// The command line as the derived parsers know it, without anything of an [`App`].
pub(crate) fn derived() -> Command {
    Cli::command()
}

/// The command line with everything that can be typed, but without the text of `ax help`: most
/// commands never show it.
fn accepting(derived: Command, app: &App) -> Command {
    let command = filled(derived, app);
    let verbs: Vec<String> = command.get_subcommands().flat_map(pages).collect();
    let among = PossibleValuesParser::from(verbs);
    command.mut_subcommand("man", |man| {
        man.mut_arg("verb", |verb| verb.value_parser(among).hide_possible_values(true))
    })
}

/// Lists the verbs in groups in the help of `ax` itself.
fn grouped(command: Command, app: &App) -> Command {
    let groups = groups(app, &command, terminal::columns_of_stdout().clamp(WIDTHS.0, WIDTHS.1));
    let header = command.get_styles().get_header();
    let options = format!("{header}Options:{header:#}");
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{options}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Checks that no generated flag or verb has the name of another.
pub(crate) fn validate(app: &App, derived: &Command) -> anyhow::Result<()> {
    app.validate()?;
    let mut taken: HashSet<String> =
        ["discuss", "fork", "prompts"].iter().flat_map(|verb| longs(derived, verb)).collect();
    for declared in options::offered(&app.registry) {
        let long = Flag::of(declared).long;
        if !taken.insert(long.to_string()) {
            bail!("the option {} has the flag --{long}, which already exists", declared.name);
        }
    }
    match app.registry.rulings().iter().find(|it| derived.find_subcommand(it.name).is_some()) {
        Some(ruling) => bail!("the decision {} has the name of a verb", ruling.name),
        None => Ok(()),
    }
}

/// The long names of the flags that can follow a verb.
fn longs(command: &Command, verb: &str) -> impl Iterator<Item = String> {
    let own = command.find_subcommand(verb).into_iter().flat_map(Command::get_arguments);
    let all = own.chain(command.get_arguments());
    let longs = all.flat_map(|it| it.get_long().into_iter().chain(it.get_all_aliases().unwrap_or_default()));
    longs.chain(["help", "version"]).map(str::to_owned)
}

/// The manual pages of a verb: one for each of its names, and one for each of its subcommands.
fn pages(verb: &Command) -> impl Iterator<Item = String> {
    let parts = verb.get_subcommands().map(|part| format!("{}-{}", verb.get_name(), part.get_name()));
    let names = std::iter::once(verb.get_name()).chain(verb.get_visible_aliases());
    names.map(str::to_owned).chain(parts)
}

/// Parses a command line, and returns the verb's name with it. Prints the error, or the help that
/// was asked for; the exit code is then the `Err`.
pub(crate) fn parse(app: &App, derived: Command, typed: &[OsString]) -> Result<(Cli, String), Exit> {
    let command = accepting(derived, app);
    let typed = match bare::meaning(&command, typed) {
        Meaning::AsTyped => typed.to_vec(),
        Meaning::Question(typed) => typed,
        Meaning::Unclear(unclear) => {
            unclear.lines().iter().for_each(|line| note_always(line));
            return Err(Exit::BadInput);
        }
    };
    read_with_verb(app, command, &typed)
}

fn read_with_verb(app: &App, command: Command, typed: &[OsString]) -> Result<(Cli, String), Exit> {
    let mut matches = command.try_get_matches_from(typed);
    if matches.as_ref().is_err_and(shows_help) {
        matches = self::command(app).try_get_matches_from(typed);
    }
    let matches = matches.map_err(|error| match unknown_verb(app, &error, typed) {
        Some(lines) => {
            lines.iter().for_each(|line| note_always(line));
            Exit::BadInput
        }
        None => end(&helped(app, quoted(app, error, typed), typed), &app.registry),
    })?;
    let verb = matches.subcommand_name().unwrap_or_default().to_owned();
    let cli = read(app, &matches).map_err(|error| end(&error, &app.registry))?;
    Ok((cli, verb))
}

fn shows_help(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

/// The parsed arguments, including the verbs and flags that the derived parsers don't know.
fn read(app: &App, matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let Some((name, below)) = matches.subcommand() else { return Cli::from_arg_matches(matches) };
    if app.registry.rulings().iter().any(|it| it.name == name) {
        let rule = Rule { kind: name.to_owned(), ..Rule::from_arg_matches(below)? };
        let (quiet, log) = (matches.get_flag("quiet"), matches.get_one("log").copied());
        return Ok(Cli { verb: Verb::Rule(Box::new(rule)), quiet, log });
    }
    let mut cli = Cli::from_arg_matches(matches)?;
    match &mut cli.verb {
        Verb::Discuss(discuss) => discuss.settings = options::given(below, app),
        Verb::Follow(follow) => follow.discuss.settings = options::given(below, app),
        Verb::Fork(fork) => fork.settings = options::given(below, app),
        Verb::Prompts(prompts) => prompts.settings = options::given(below, app),
        _ => {}
    }
    Ok(cli)
}

/// Prints help and version like any result: without escapes in a pipe, and reporting a full disk.
fn end(error: &clap::Error, registry: &Registry) -> Exit {
    if error.use_stderr() || stdout().is_terminal() {
        // If printing fails, the exit code still reports the error.
        let _ = error.print();
        return if error.use_stderr() { Exit::BadInput } else { Exit::Done };
    }
    match write(&error.render().to_string()) {
        Ok(()) => Exit::Done,
        Err(error) => exit::report(&error, registry, "help"),
    }
}

/// The verbs that take a question.
const ASKING: [&str; 3] = ["discuss", "follow", "prompts"];

/// The verb of this command line, if it takes a question; without one, a question is asked.
fn asking<'t>(app: &App, typed: &'t [OsString]) -> Option<&'t str> {
    let command = command(app);
    let verb = bare::first_word(&command, typed)?;
    match command.find_subcommand(verb) {
        Some(found) => ASKING.contains(&found.get_name()).then_some(verb),
        None => Some("discuss"),
    }
}

/// Suggests quotes: an unexpected word is usually part of an unquoted question.
fn quoted(app: &App, mut error: clap::Error, typed: &[OsString]) -> clap::Error {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => word.clone(),
        _ => return error,
    };
    drop_strange_tip(&mut error, &unknown);
    if let Some(verb) = asking(app, typed).filter(|_| !unknown.starts_with('-')) {
        let tip = StyledStr::from(format!("put the question in quotes: ax {verb} \"…\""));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Drops the suggestion of a flag that hardly resembles the unknown one.
fn drop_strange_tip(error: &mut clap::Error, unknown: &str) {
    let bare = |flag: &str| flag.trim_start_matches('-').to_owned();
    let is_strange = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(flag)) => nearest(&bare(unknown), [bare(flag).as_str()]).is_none(),
        _ => false,
    };
    if is_strange {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
}

/// What to say about a verb after `ax help` or `ax man` that doesn't exist.
fn unknown_verb(app: &App, error: &clap::Error, typed: &[OsString]) -> Option<[String; 2]> {
    let command = command(app);
    let kind = match (bare::first_word(&command, typed)?, error.kind()) {
        ("help", ErrorKind::InvalidSubcommand) => ContextKind::InvalidSubcommand,
        ("man", ErrorKind::InvalidValue) => ContextKind::InvalidValue,
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return None };
    // The word after `help` or `man`, and not a part of a verb.
    let after = typed.iter().skip(1).filter(|it| !it.to_string_lossy().starts_with('-')).nth(1)?;
    if **after != **word {
        return None;
    }
    let is_manual = kind == ContextKind::InvalidValue;
    let names = |it: &Command| if is_manual { pages(it).collect() } else { vec![it.get_name().to_owned()] };
    let known: Vec<String> = command.get_subcommands().flat_map(names).collect();
    let meant = nearest(word, known.iter().map(String::as_str));
    let meant = meant.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
    Some([
        format!("error: there is no verb named {}{meant}", in_short(word)),
        "`ax help` lists the verbs.".to_owned(),
    ])
}

/// Adds a suggestion for a mistyped verb after `ax help`, where clap makes none.
fn helped(app: &App, mut error: clap::Error, typed: &[OsString]) -> clap::Error {
    let unknown = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if error.get(ContextKind::SuggestedSubcommand).is_none() => {
            word.clone()
        }
        _ => return error,
    };
    let typed = typed.iter().skip(1).skip_while(|it| *it == "help");
    let command = command(app);
    let mut before = typed.take_while(|it| **it != *unknown);
    let below = before.try_fold(&command, |at, word| at.find_subcommand(word));
    let known = below.iter().flat_map(|it| it.get_subcommands()).map(Command::get_name);
    if let Some(meant) = nearest(&unknown, known) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(meant.to_owned()));
    }
    error
}

/// Every verb with its summary, under its group's heading.
fn groups(app: &App, command: &Command, columns: usize) -> String {
    let group = |(title, verbs): &(&'static str, &'static [&'static str])| {
        let header = command.get_styles().get_header();
        let verbs = verbs.iter().copied().chain(decisions(app, title));
        let lines: String = verbs.map(|verb| entry(command, verb, columns)).collect();
        format!("{header}{title}:{header:#}\n{lines}\n")
    };
    GROUPS.iter().map(group).collect()
}

/// The decision verbs that are listed in this group.
fn decisions(app: &App, group: &str) -> impl Iterator<Item = &'static str> {
    let kinds = if group == STEERING { app.registry.rulings() } else { Vec::new() };
    kinds.into_iter().map(|it| it.name)
}

fn entry(command: &Command, verb: &str, columns: usize) -> String {
    let about = command.find_subcommand(verb).and_then(Command::get_about).map(ToString::to_string);
    let about = about.unwrap_or_else(|| "Explain a verb, with examples".to_owned());
    let about = format!("{about}{}", also(command, verb));
    let rows = Line::of(&about, PLAIN).wrapped(columns - SUMMARY);
    let literal = command.get_styles().get_literal();
    let mut entry =
        format!("  {literal}{verb}{literal:#}{}", " ".repeat(SUMMARY.saturating_sub(2 + verb.len()).max(1)));
    for (at, row) in rows.iter().enumerate() {
        let margin = if at == 0 { 0 } else { SUMMARY };
        let _ = writeln!(entry, "{}{}", " ".repeat(margin), row.rendered(Colour::Off));
    }
    entry
}

/// The other names of a verb.
fn also(command: &Command, verb: &str) -> String {
    let aliases = command.find_subcommand(verb).into_iter().flat_map(Command::get_visible_aliases);
    let aliases: Vec<&str> = aliases.collect();
    if aliases.is_empty() { String::new() } else { format!(" (also: {})", aliases.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_verb_is_in_one_help_group() {
        let app = App::built_in();
        let listed = GROUPS.iter().flat_map(|group| group.1.iter().copied().chain(decisions(&app, group.0)));
        let listed: Vec<&str> = listed.collect();
        let there = command(&app);
        let there: BTreeSet<&str> = there.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        assert_eq!((listed.iter().copied().collect(), listed.len()), (there.clone(), there.len()));
    }
}
