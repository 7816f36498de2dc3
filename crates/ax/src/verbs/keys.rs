//! `ax keys`: keys are typed without echo or read from standard input, and never printed.

use std::io::{IsTerminal, Read};

use quorum::{
    Config, Error, config,
    setup::{self, KeyFrom, Machine, SecretString, Setup, keys},
};
use serde_json::json;

use crate::{
    app::App,
    args::{KeyVerb, Keys, Listed, password},
    exit::{Exit, Usage},
    render::{note, print, print_json, wording},
};

/// A limit above the length of any key.
const MOST_BYTES: usize = 64 * 1024;

/// Keeps, lists or forgets keys.
pub(crate) fn keys(app: &App, args: &Keys) -> anyhow::Result<Exit> {
    let config = app.config()?;
    let setup = setup::load(&config, &Machine::this())?;
    match &args.verb {
        KeyVerb::Set { name } => set(&config, &setup, name),
        KeyVerb::List(listed) => list(&setup, listed),
        KeyVerb::Rm { name } => remove(&config, &setup, name),
    }
}

fn set(config: &Config, setup: &Setup, given: &str) -> anyhow::Result<Exit> {
    let name = setup::key_name(setup, given).map_err(|error| Usage(wording::no_key_name(&error)))?;
    let Some(key) = given_key(&name)? else {
        note("Nothing was changed.");
        return Ok(Exit::Interrupted);
    };
    let file = config.keys_file();
    let replaced = keys::set(&file, &name, &key).map_err(unusable)?;
    let done = if replaced { "Replaced" } else { "Stored" };
    note(&format!("{done} {name} in {}; only you can read it.", file.display()));
    if std::env::var(&name).is_ok_and(|it| !it.trim().is_empty()) {
        note(&format!("The environment also has {name}, which takes precedence."));
    }
    Ok(Exit::Done)
}

/// The key as it was typed or piped in; `None` if the user cancelled.
fn given_key(name: &str) -> anyhow::Result<Option<SecretString>> {
    if std::io::stdin().is_terminal() {
        let typed = password::read_line(&format!("{name} (it is not shown): "), MOST_BYTES)?;
        return Ok(typed.map(SecretString::from));
    }
    let mut key = Vec::new();
    std::io::stdin().take(MOST_BYTES as u64).read_to_end(&mut key)?;
    Ok(Some(SecretString::from(String::from_utf8_lossy(&key).into_owned())))
}

fn remove(config: &Config, setup: &Setup, given: &str) -> anyhow::Result<Exit> {
    let name = setup::key_name(setup, given).map_err(|error| Usage(wording::no_key_name(&error)))?;
    let file = config.keys_file();
    if !keys::remove(&file, &name).map_err(unusable)? {
        return Err(Usage(format!("{} has no {name}; nothing was changed", file.display())).into());
    }
    note(&format!("Removed {name}."));
    Ok(Exit::Done)
}

fn list(setup: &Setup, listed: &Listed) -> anyhow::Result<Exit> {
    let with_key = setup.providers.iter().filter_map(|it| Some((&it.name, it.key.as_ref()?)));
    let rows: Vec<(&String, &String, &str)> = with_key
        .map(|(provider, from)| match from {
            KeyFrom::Environment(name) => (provider, name, "environment"),
            KeyFrom::File(name) => (provider, name, "keys.toml"),
        })
        .collect();
    if listed.json {
        let row = |(provider, name, from): &(&String, &String, &str)| json!({ "provider": provider, "name": name, "from": from });
        print_json(&rows.iter().map(row).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        note("There are no keys; `ax keys set NAME` stores one, or set a variable that `ax models` names.");
    } else {
        let row =
            |(provider, name, from): &(&String, &String, &str)| format!("{provider:<12} {name:<20} {from}");
        print(&rows.iter().map(row).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}

fn unusable(error: keys::Error) -> anyhow::Error {
    Error::Config(config::Error::Keys(error)).into()
}
