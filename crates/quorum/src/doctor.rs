//! Looks at everything a discussion needs, and says of each thing whether it is well and what to do.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
};

use quorum_core::seams::{Archive, Clock, Wanted};
use quorum_providers::command::dialect;
use quorum_store::SqliteStore;
use serde::Serialize;

use crate::{
    Config, Quorum,
    clock::SystemClock,
    config::make_directory,
    setup::{self, KeyFrom, Machine, Prices, Provider, Setup, Way},
    text::count,
};

/// A clock before this is wrong: 2026-01-01, in microseconds.
const EARLIEST: i64 = 1_767_225_600_000_000;

/// So many providers make a discussion.
const LEAST: usize = 2;

/// Where `ax serve` listens unless it is told otherwise.
const PORT: u16 = 3000;

/// What was found out about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub what: String,
    /// How it is.
    pub state: Health,
    /// What was found, and what to do about it.
    pub found: String,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Well,
    /// Worth knowing.
    Note,
    /// To be put right.
    Wrong,
}

fn finding(what: &str, state: Health, found: impl Into<String>) -> Finding {
    Finding { what: what.to_owned(), state, found: found.into() }
}

/// Looks at configuration, keys, prices, data, clock, port and providers. Asks nobody.
pub async fn examine(machine: &Machine<'_>) -> Vec<Finding> {
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => return vec![finding("configuration", Health::Wrong, error.to_string())],
    };
    let mut findings = vec![configuration(&config), data(&config.data_dir)];
    findings.extend(database(&config).await);
    findings.push(port(config.server.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], PORT)))));
    findings.extend(prices(&config.prices_file()));
    match setup::load(&config, machine) {
        Ok(setup) => findings.extend(providers(&setup)),
        Err(error) => findings.push(finding("keys and prices", Health::Wrong, error.to_string())),
    }
    findings
}

fn configuration(config: &Config) -> Finding {
    let file = config.file.display();
    let is = if config.file.exists() { "is fine" } else { "is not there, and need not be" };
    finding("configuration", Health::Well, format!("{file} {is}"))
}

fn data(directory: &Path) -> Finding {
    let probe = directory.join(format!(".writable-{}", std::process::id()));
    let written = make_directory(directory).and_then(|()| std::fs::write(&probe, b""));
    let _ = std::fs::remove_file(&probe);
    let name = directory.display();
    match written {
        Ok(()) => finding("data", Health::Well, format!("{name} can be written to")),
        Err(error) => {
            let advice = "set AX_DATA_DIR to a directory that can be written to";
            finding("data", Health::Wrong, format!("{name} can't be written to: {error}; {advice}"))
        }
    }
}

async fn database(config: &Config) -> Vec<Finding> {
    let (file, now) = (config.database(), SystemClock.now());
    let store = match SqliteStore::open(&file) {
        Ok(store) => store,
        Err(error) => return vec![finding("database", Health::Wrong, error.to_string())],
    };
    let name = file.display();
    let whole = match store.damage().await {
        Ok(None) => finding("database", Health::Well, format!("{name} is whole")),
        Ok(Some(damage)) => {
            let advice = "keep a copy of it, then let `sqlite3 FILE .recover` save what it can";
            finding("database", Health::Wrong, format!("{name} is damaged: {damage}; {advice}"))
        }
        Err(error) => finding("database", Health::Wrong, error.to_string()),
    };
    let newest = store.list(Wanted { limit: 1, ..Wanted::default() }).await.unwrap_or_default();
    let latest = newest.first().map_or(EARLIEST, |it| it.opened_at.0.max(EARLIEST));
    let clock = if now.0 < latest {
        finding("clock", Health::Wrong, "it is earlier than what was recorded; set the machine's clock")
    } else {
        finding("clock", Health::Well, "it is later than everything recorded")
    };
    vec![whole, clock]
}

fn port(address: SocketAddr) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => finding("port", Health::Well, format!("{address} is free for `ax serve`")),
        Err(error) => {
            let advice = "if that is no `ax serve`, choose another with --port or [server] listen";
            finding("port", Health::Note, format!("{address} can't be listened on: {error}; {advice}"))
        }
    }
}

/// What can't be read is told with the keys.
fn prices(file: &Path) -> Option<Finding> {
    let imported = Prices::load(file).ok()?.len() as u64;
    let found = match imported {
        0 => "those of this program; `ax prices import FILE` brings newer ones".to_owned(),
        some => format!("of {} were imported", count(some, "model")),
    };
    Some(finding("prices", Health::Well, found))
}

fn providers(setup: &Setup) -> Vec<Finding> {
    let there = setup.sources().len();
    let found = format!("{there} of {} can be asked", setup.providers.len());
    let all = if there < LEAST {
        let advice = "a discussion takes 2; set a key as said below. Until then voices are simulated";
        finding("providers", Health::Wrong, format!("{found}; {advice}"))
    } else {
        finding("providers", Health::Well, found)
    };
    std::iter::once(all).chain(setup.providers.iter().map(provider)).collect()
}

fn provider(provider: &Provider) -> Finding {
    let way = match &provider.way {
        Ok(Way::Http(endpoint)) => format!("at {}, {}", endpoint.base, key(provider)),
        Ok(Way::Command(_)) => provider.program().unwrap_or_default(),
        Err(missing) => return finding(&provider.name, Health::Note, missing.advice(&provider.name)),
    };
    if provider.facts(&provider.model).price.is_some() {
        return finding(&provider.name, Health::Well, way);
    }
    let advice = "`ax prices import FILE`, or price in config.toml, makes --max-cost possible";
    finding(&provider.name, Health::Note, format!("{way}; unpriced: {advice}"))
}

fn key(provider: &Provider) -> String {
    match &provider.key {
        Some(KeyFrom::Environment(name)) => format!("key from {name}"),
        Some(KeyFrom::File(name)) => format!("key from keys.toml ({name})"),
        None => "without a key".to_owned(),
    }
}

/// What a check without a complaint means: only some programs tell for nothing whether they are logged in.
fn answering(what: &str, way: &Way) -> Finding {
    let asked = match way {
        Way::Http(_) => return finding(what, Health::Well, "would answer"),
        Way::Command(program) => dialect(&program.dialect).is_some_and(|it| !it.probe.is_empty()),
    };
    if asked {
        return finding(what, Health::Well, "is logged in, and would answer");
    }
    let found = "is installed; whether it is logged in and answers shows when it is asked";
    finding(what, Health::Note, found)
}

impl Quorum {
    /// Whether each available provider would answer now, without paying for it.
    pub async fn health(&self) -> Vec<Finding> {
        let checks = self.setup().sources().into_iter().map(|source| async move {
            let what = format!("{} (live)", source.name);
            match self.would_answer(&source.name).await {
                Ok(()) => answering(&what, &source.way),
                Err(said) => finding(&what, Health::Wrong, said),
            }
        });
        futures::future::join_all(checks).await
    }
}
