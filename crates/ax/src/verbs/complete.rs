//! Completes what only this machine knows: providers, presets and ids. The scripts of
//! `ax completions` call it with the words typed so far; they complete everything else themselves.

use std::{
    ffi::OsString,
    io::{Write, stdout},
};

use clap::Command;
use quorum::{
    listing::Entry,
    setup::{self, Machine},
    text::line,
};

use crate::{
    app::{App, WithoutProviders},
    args::command,
    local,
};

/// The verb that scripts call. It is hidden from the help, because people don't type it.
pub(crate) const VERB: &str = "__complete";

/// Flags whose values are providers, also several separated by commas.
const PROVIDERS: [&str; 6] = ["-p", "--providers", "--participants", "--judge", "--judges", "--moderator"];
/// Flags whose values are ids.
const IDS: [&str; 2] = ["--again", "--recall-from"];

/// All flags whose values are completed here.
pub(super) fn flags() -> impl Iterator<Item = &'static str> {
    PROVIDERS.into_iter().chain(IDS).chain(["--preset"])
}

/// How many ids are offered, and how much of each topic is shown.
const NEWEST: usize = 20;
const TOPIC: usize = 50;

/// What can be completed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Providers,
    Presets,
    Ids,
}

/// A value, with a word about it.
type Candidate = (String, String);

/// Prints the values for the last of these words, one per line, each with a description after a
/// tab. If anything goes wrong, nothing is printed.
pub(crate) fn complete(app: &App, words: &[OsString]) {
    let words: Vec<String> = words.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let words = words.strip_prefix(&["--".to_owned()]).unwrap_or(&words);
    let Some(wanted) = wanted(&command(app), words) else { return };
    let typed = words.last().map(String::as_str).unwrap_or_default();
    let found = match wanted {
        Wanted::Providers => providers(app),
        Wanted::Presets => presets(app),
        Wanted::Ids => ids(app),
    };
    let lines: String = fitting(&found, typed).map(|(value, about)| format!("{value}\t{about}\n")).collect();
    // A write fails only if the shell no longer reads, which does no harm.
    let _ = stdout().write_all(lines.as_bytes());
}

/// What the last of these words can be, if it is completed here.
fn wanted(command: &Command, words: &[String]) -> Option<Wanted> {
    let (typed, before) = words.split_last()?;
    let flag = before.last().map(String::as_str).unwrap_or_default();
    match flag {
        "--preset" => return Some(Wanted::Presets),
        flag if PROVIDERS.contains(&flag) => return Some(Wanted::Providers),
        flag if IDS.contains(&flag) => return Some(Wanted::Ids),
        _ => {}
    }
    if typed.starts_with('-') {
        return None;
    }
    match before {
        [verb] if takes_id(command, verb) => Some(Wanted::Ids),
        [verb, part] if verb == "keys" && (part == "set" || part == "rm") => Some(Wanted::Providers),
        _ => None,
    }
}

/// Whether the first argument of a verb is a discussion.
fn takes_id(command: &Command, verb: &str) -> bool {
    let verb = command.find_subcommand(verb);
    verb.is_some_and(|it| it.get_positionals().next().is_some_and(|first| first.get_id() == "id"))
}

/// The values that begin with the typed text. In a list, only the last item is completed.
fn fitting<'a>(found: &'a [Candidate], typed: &'a str) -> impl Iterator<Item = Candidate> + 'a {
    let (list, last) =
        typed.rsplit_once(',').map_or(("", typed), |(_, last)| (&typed[..typed.len() - last.len()], last));
    let fits = move |it: &&Candidate| it.0.starts_with(last);
    found.iter().filter(fits).map(move |(value, about)| (format!("{list}{value}"), about.clone()))
}

fn providers(app: &App) -> Vec<Candidate> {
    let machine = Machine::this();
    let setup = app.config().ok().and_then(|config| setup::load(&config, &machine).ok());
    let providers = setup.map(|it| it.providers).unwrap_or_default();
    let about = |it: &setup::Provider| {
        if it.transport.is_ok() { it.model.clone() } else { "not available".to_owned() }
    };
    providers.iter().map(|it| (it.name.clone(), about(it))).collect()
}

fn presets(app: &App) -> Vec<Candidate> {
    let config = app.config().ok();
    let names: Vec<String> = config.iter().flat_map(|it| it.presets()).map(|it| it.to_string()).collect();
    // A shell would take a name with blanks for several names.
    let words = names.into_iter().filter(|name| !name.contains(char::is_whitespace));
    words.map(|name| (name, "preset".to_owned())).collect()
}

fn ids(app: &App) -> Vec<Candidate> {
    let entries = newest(app).unwrap_or_default();
    let about = |it: &Entry| line(&it.topic, TOPIC);
    let back = |(place, it): (usize, &Entry)| match place {
        0 => ("last".to_owned(), about(it)),
        place => (format!("last~{place}"), about(it)),
    };
    let by_place = entries.iter().take(3).enumerate().map(back);
    by_place.chain(entries.iter().map(|it| (it.discussion_id.to_string(), about(it)))).collect()
}

fn newest(app: &App) -> Option<Vec<Entry>> {
    let config = app.config().ok()?;
    // Completion must not create a database.
    config.data_dir.exists().then_some(())?;
    let quorum = app.open(config, WithoutProviders::Simulate).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let listed = runtime.block_on(local::scope(&quorum).list(NEWEST, None));
    runtime.shutdown_background();
    listed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_presets_and_ids_are_completed_where_they_are_typed() {
        let command = command(&App::built_in());
        let check = |line: &str, expected: Option<Wanted>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(wanted(&command, &words), expected, "{line}");
        };
        check("discuss q --preset ", Some(Wanted::Presets));
        check("discuss q -p claude,", Some(Wanted::Providers));
        check("ask q --judge q", Some(Wanted::Providers));
        check("keys set ", Some(Wanted::Providers));
        check("discuss --again la", Some(Wanted::Ids));
        for verb in ["watch", "attach", "resume", "show", "fork", "export", "judge", "restore"] {
            check(&format!("{verb} "), Some(Wanted::Ids));
        }
        check("show last ", None);
        check("show --", None);
        check("discuss ", None);
        check("", None);
    }

    #[test]
    fn the_last_item_of_a_list_is_completed() {
        let found = ["claude", "codex", "gemini"].map(|it| (it.to_owned(), String::new()));
        let check = |typed: &str, expected: &[&str]| {
            let values: Vec<String> = fitting(&found, typed).map(|it| it.0).collect();
            assert_eq!(values, expected, "{typed}");
        };
        check("", &["claude", "codex", "gemini"]);
        check("c", &["claude", "codex"]);
        check("gemini,cl", &["gemini,claude"]);
        check("x", &[]);
    }
}
