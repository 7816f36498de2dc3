//! The flags for the options that patterns, methods and strategies declare, generated from the
//! declarations.

use std::{collections::BTreeMap, fs, io::Read};

use clap::{
    Arg, ArgAction, ArgMatches, Command,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use quorum::{
    Registry,
    model::excerpt::in_short,
    registry::Options,
    request::flags::{self, Flag},
    vocabulary::{
        check::Known,
        option::{Choice, Declared, Kind, RowCell, RowCellKind},
    },
};
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    args::{
        discuss::{DECIDING, PANEL},
        input::{MOST_BYTES, unreadable},
        number::{fraction, whole},
    },
};

/// What the flags are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A new discussion.
    Discuss,
    /// Changes to a past one.
    Fork,
}

/// Adds a flag to the verb for every option that is offered on the command line.
pub(super) fn added(verb: Command, app: &App, purpose: Purpose) -> Command {
    let flag = |declared: &'static Declared| {
        let help = match (purpose, &declared.kind) {
            (Purpose::Fork, Kind::Seat { role: Some(role) }) => {
                format!("{}; a new participant takes the seat of the {role}", declared.summary)
            }
            (Purpose::Fork, Kind::Seats { role: Some(role) }) => {
                format!("{}; new ones take the seats of the {role}s", help(declared))
            }
            (Purpose::Discuss | Purpose::Fork, _) => help(declared),
        };
        let arg = Arg::new(id(declared)).long(Flag::of(declared).long.into_owned()).help(help);
        with_value(arg.help_heading(heading(declared, &app.registry)), declared, app)
    };
    verb.args(offered(&app.registry).map(flag))
}

/// The options given on the command line, by name.
pub(super) fn given(matches: &ArgMatches, app: &App) -> BTreeMap<String, Value> {
    let value = |it: &'static Declared| Some((it.name.to_owned(), value_of(it, matches)?));
    offered(&app.registry).filter_map(value).collect()
}

/// The options that have a flag.
pub(super) fn offered(registry: &Registry) -> impl Iterator<Item = &'static Declared> {
    registry.options().into_iter().filter(|it| it.on_surfaces)
}

/// An argument id that none of the derived arguments has.
fn id(declared: &Declared) -> String {
    format!("option {}", declared.name)
}

fn value_of(declared: &Declared, matches: &ArgMatches) -> Option<Value> {
    let id = id(declared);
    match declared.kind {
        Kind::Flag { default } => matches.get_flag(&id).then_some(Value::Bool(!default)),
        Kind::Detectors | Kind::Seats { .. } | Kind::Texts { .. } => {
            matches.get_many::<Value>(&id).map(|it| it.cloned().collect())
        }
        Kind::Whole { .. }
        | Kind::Number { .. }
        | Kind::Text { .. }
        | Kind::Choice { .. }
        | Kind::Seat { .. }
        | Kind::Embedder
        | Kind::Rows { .. }
        | Kind::TextsBySeat { .. } => matches.get_one::<Value>(&id).cloned(),
    }
}

/// How the value is parsed. Whether a number is within its bounds, and whether a participant has
/// that name, is checked with the whole request.
fn with_value(arg: Arg, declared: &'static Declared, app: &App) -> Arg {
    match &declared.kind {
        Kind::Flag { .. } => arg.action(ArgAction::SetTrue),
        Kind::Whole { .. } => {
            let read = |text: &str| whole::<u64>(text).map(Value::from);
            arg.value_name("N").allow_negative_numbers(true).value_parser(read)
        }
        Kind::Number { range, .. } => {
            let name = if *range == (0.0..=1.0) { "SHARE" } else { "NUMBER" };
            let read = |text: &str| fraction(text).map(Value::from);
            arg.value_name(name).allow_negative_numbers(true).value_parser(read)
        }
        Kind::Text { hint, .. } => arg.value_name(*hint).value_parser(text),
        Kind::Choice { of, .. } => {
            let name = declared.flag().rsplit('-').next().unwrap_or_default().to_uppercase();
            arg.value_name(name).value_parser(among(of))
        }
        Kind::Detectors => {
            let known: Vec<Choice> =
                app.detectors().iter().map(|it| Choice::new(it.name, it.summary)).collect();
            arg.value_name("LIST").value_delimiter(',').action(ArgAction::Append).value_parser(among(&known))
        }
        Kind::Seat { .. } => arg.value_name("NAME").value_parser(text),
        Kind::Seats { .. } => {
            arg.value_name("LIST").value_delimiter(',').action(ArgAction::Append).value_parser(text)
        }
        Kind::Texts { .. } => arg.value_name("TEXT").action(ArgAction::Append).value_parser(text),
        Kind::Embedder => arg.value_name("PROVIDER/MODEL").value_parser(text),
        Kind::Rows { cells, .. } => {
            let read = |file: &str| rows(file, cells, &declared.kind);
            arg.value_name("FILE").value_parser(read)
        }
        Kind::TextsBySeat { .. } => {
            arg.value_name("PAIRS").value_parser(|text: &str| flags::stops(text).map(|it| json!(it)))
        }
    }
}

fn text(text: &str) -> Result<Value, std::convert::Infallible> {
    Ok(Value::from(text))
}

fn among(choices: &[Choice]) -> impl TypedValueParser<Value = Value> {
    let value = |it: &Choice| {
        let value = PossibleValue::new(it.name);
        if it.summary.is_empty() { value } else { value.help(it.summary) }
    };
    PossibleValuesParser::from(choices.iter().map(value).collect::<Vec<_>>()).map(Value::from)
}

/// The rows in a JSON file. Errors are worded as they are for a request.
fn rows(file: &str, cells: &[RowCell], kind: &Kind) -> Result<Value, String> {
    let text = text_of(file)?;
    let wrong =
        |error: serde_json::Error| format!("is not a JSON list like {}: {}", example(cells), in_short(error));
    let rows: Vec<Map<String, Value>> = serde_json::from_str(&text).map_err(wrong)?;
    let value = json!(rows);
    match kind.complaint(&value, Known { seats: None, detectors: &[] }) {
        Some(complaint) => Err(complaint),
        None => Ok(value),
    }
}

/// The contents of a file of rows, unless it is longer than any list of rows may be.
fn text_of(file: &str) -> Result<String, String> {
    let unreadable = |error: std::io::Error| unreadable(&error);
    let mut text = String::new();
    let opened = fs::File::open(file).map_err(unreadable)?;
    opened.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if MOST_BYTES < text.len() as u64 {
        return Err(format!("has more than {MOST_BYTES} bytes, the limit for such a list"));
    }
    Ok(text)
}

/// A list of one row with every required cell.
fn example(cells: &[RowCell]) -> String {
    let cell = |it: &RowCell| {
        let value = match it.kind {
            RowCellKind::Seat => "\"claude\"",
            RowCellKind::Text => "\"…\"",
            RowCellKind::Texts => "[\"…\"]",
        };
        format!("\"{}\": {value}", it.name)
    };
    let required: Vec<String> = cells.iter().filter(|it| it.required).map(cell).collect();
    format!("[{{{}}}]", required.join(", "))
}

/// An option's purpose, bounds and default.
fn help(declared: &Declared) -> String {
    let summary = declared.summary;
    match &declared.kind {
        Kind::Flag { default: true } => format!("Switch this off: {summary}"),
        Kind::Whole { range, default } => {
            with_default(&format!("{summary} ({} to {})", range.start(), range.end()), default.as_ref())
        }
        Kind::Number { range, default } => {
            with_default(&format!("{summary} ({} to {})", range.start(), range.end()), default.as_ref())
        }
        Kind::Choice { default, .. } => with_default(summary, default.as_ref()),
        Kind::Detectors | Kind::Seats { .. } => format!("{summary}, separated by commas"),
        Kind::Texts { .. } => format!("{summary}; give it once for each"),
        Kind::Rows { cells, .. } => {
            let names: Vec<String> = cells.iter().map(|it| format!("\"{}\"", it.name)).collect();
            format!("{summary}: a file with a JSON list of {{{}}}", names.join(", "))
        }
        Kind::TextsBySeat { .. } => format!("{summary}: claude=END|Speaker:,gemini=["),
        Kind::Flag { default: false } | Kind::Text { .. } | Kind::Seat { .. } | Kind::Embedder => {
            summary.to_owned()
        }
    }
}

fn with_default(text: &str, default: Option<&impl std::fmt::Display>) -> String {
    default.map_or_else(|| text.to_owned(), |it| format!("{text} [default: {it}]"))
}

/// All patterns, methods or strategies, with whether each declares an option.
struct Declaring {
    flag: &'static str,
    /// The heading of options that all of them declare.
    heading: &'static str,
    all: Vec<(&'static str, bool)>,
}

/// The heading a flag is listed under: that of its kind if all of the kind declare it, else one
/// that names those that do.
fn heading(declared: &Declared, registry: &Registry) -> String {
    let declares = |options: Options| options.iter().any(|it| it.declared().name == declared.name);
    let patterns = registry.patterns().iter().map(|it| (it.name, declares(it.options))).collect();
    let methods = registry.methods().iter().map(|it| (it.name, declares(it.options))).collect();
    let strategies = registry.strategies().iter().map(|it| (it.name, declares(it.options))).collect();
    let kinds = [
        Declaring { flag: "--pattern", heading: PANEL, all: patterns },
        Declaring { flag: "--consensus", heading: DECIDING, all: methods },
        Declaring { flag: "--window-strategy", heading: PANEL, all: strategies },
    ];
    if let Some(kind) = kinds.iter().find(|it| !it.all.is_empty() && it.all.iter().all(|one| one.1)) {
        return kind.heading.to_owned();
    }
    let with = |kind: &Declaring| {
        let names: Vec<&str> = kind.all.iter().filter(|it| it.1).map(|it| it.0).collect();
        (!names.is_empty()).then(|| format!("{} {}", kind.flag, names.join(", ")))
    };
    format!("With {}", kinds.iter().filter_map(with).collect::<Vec<_>>().join(" or "))
}
