//! Examines everything a discussion needs and reports the findings as facts for surfaces to word.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use quorum_core::{
    registry::Registry,
    seams::{Archive, Backlog, Clock, Duty, GRACE_MS, NodeStatus, Store, StoreError, Wanted},
};
pub use quorum_store::Salvaged;
use quorum_store::SqliteStore;

use crate::{
    CapEntry, Checked, Config, Error, Unanswered,
    clock::SystemClock,
    complaints,
    config::{self, Mistake, make_directory},
    facade::spending::configured,
    setup::{self, KeyFrom, LocalProgram, Machine, Missing, Prices, Provider, Setup, Transport},
    telemetry::{self, TracingStatus},
};

/// A clock earlier than this is wrong: 2026-01-01, in microseconds.
const EARLIEST: i64 = 1_767_225_600_000_000;

const DAY_MS: u64 = 86_400_000;

/// How far the clock may differ from that of a shared database.
const MOST_OFF_MS: i64 = 2_000;

/// How many voices a discussion needs.
pub const LEAST_PROVIDERS: usize = 2;

/// Where the server listens unless the configuration says otherwise.
const PORT: u16 = 3000;

/// A finding about one thing.
#[derive(Debug)]
pub enum Finding {
    /// The configuration can be used.
    Configuration {
        /// The file.
        file: PathBuf,
        /// Whether the file exists; it need not.
        exists: bool,
    },
    /// The configuration can't be read; what else was examined is without it.
    BadConfiguration(config::Error),
    /// A mistake in the configuration; what else was examined is without that entry.
    Mistake {
        /// The file.
        file: PathBuf,
        /// The mistake.
        mistake: Mistake,
    },
    /// A token in the configuration whose variable is not set, which only a server needs.
    UnsetToken {
        /// The file.
        file: PathBuf,
        /// Which it is.
        mistake: Mistake,
    },
    /// The directory for discussions, and why it can't be written to.
    Data {
        /// The directory.
        directory: PathBuf,
        /// Why it can't be written to.
        trouble: Option<String>,
    },
    /// The directory for discussions is writable, but other users of this machine have access to
    /// it.
    ExposedData {
        /// The directory.
        directory: PathBuf,
        /// What other users may do with it.
        exposure: Exposure,
    },
    /// The database, and any damage to it.
    Database {
        /// The file.
        file: PathBuf,
        /// The damage.
        damage: Option<String>,
    },
    /// The database that several machines share can be used.
    SharedDatabase {
        /// Its address, without the password.
        address: String,
    },
    /// The database is intact, but other users of this machine can read it.
    ExposedDatabase {
        /// The file.
        file: PathBuf,
    },
    /// Discussions hidden by retention, which will be removed.
    Hidden {
        /// How many.
        discussions: u64,
        /// How many days after it was hidden each of them is removed.
        days: u64,
    },
    /// The amounts that an account has left of its spending caps.
    Spending {
        /// The name of the token; empty for the command.
        name: String,
        /// The tenant of the token; empty for the machine's own user.
        tenant: String,
        /// The caps.
        caps: Vec<CapEntry>,
    },
    /// A process that runs discussions of this database.
    Node {
        /// Its name.
        name: String,
        /// The version of its program.
        version: String,
        /// How many discussions it runs.
        held: u64,
        /// Whether it is ending.
        draining: bool,
        /// Whether its configuration differs from this one.
        differs: bool,
    },
    /// Discussions that wait for a process, and those that were put aside.
    Queue {
        /// How many wait.
        queued: u64,
        /// How many were put aside because every run failed without progress.
        stuck: u64,
    },
    /// The database can't be used.
    BadDatabase(StoreError),
    /// The clock is earlier than the newest record.
    EarlyClock,
    /// The clock differs from that of the database, which other machines use too.
    ClockOff {
        /// How far the clock is behind, in milliseconds; negative if it is ahead.
        behind_ms: i64,
    },
    /// The clock is later than every record.
    Clock,
    /// The server's address, and why it can't be listened on.
    Port {
        /// The address.
        address: SocketAddr,
        /// The reason, if it can't be listened on.
        trouble: Option<String>,
    },
    /// The prices of this many models were imported.
    Prices {
        /// How many.
        imported: usize,
    },
    /// Traces that the environment asks for, and what becomes of them.
    Tracing(TracingStatus),
    /// The keys or prices can't be read.
    BadSetup(config::Error),
    /// The number of providers that are available.
    Providers {
        /// How many are available.
        available: usize,
        /// How many are known.
        known: usize,
        /// How many different models of these providers could take part.
        voices: usize,
        /// Whether the only one is a program, which takes several seats by itself.
        is_program: bool,
    },
    /// An available provider.
    Provider {
        /// Its name.
        name: String,
        /// How it is reached.
        reached: Reached,
        /// Whether the price of its default model is known.
        priced: bool,
    },
    /// A provider that is not available.
    Lacking {
        /// Its name.
        name: String,
        /// What it lacks.
        missing: Missing,
    },
    /// Whether a provider would answer now.
    Live {
        /// Its name.
        name: String,
        /// What the check has shown, or why the provider would not answer.
        checked: Result<Checked, Unanswered>,
    },
}

/// The access that other users of this machine have to a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// They can list the files in it.
    Readable,
    /// They can replace the files in it.
    Writable,
}

/// How a provider is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// Over HTTP.
    Http {
        /// The base address.
        base: String,
        /// Where its key comes from.
        key: Option<KeyFrom>,
    },
    /// Through a program on this machine.
    Command(LocalProgram),
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Well,
    /// Worth knowing.
    Note,
    /// Needs fixing.
    Wrong,
}

impl Finding {
    /// The severity of this finding.
    #[must_use]
    pub fn health(&self) -> Health {
        match self {
            Finding::BadConfiguration(_)
            | Finding::Mistake { .. }
            | Finding::BadDatabase(_)
            | Finding::ExposedDatabase { .. }
            | Finding::ExposedData { exposure: Exposure::Writable, .. }
            | Finding::BadSetup(_)
            | Finding::ClockOff { .. }
            | Finding::EarlyClock => Health::Wrong,
            Finding::Data { trouble, .. } => wrong_if(trouble.is_some()),
            Finding::Database { damage, .. } => wrong_if(damage.is_some()),
            Finding::Live { checked, .. } => match checked {
                Ok(Checked::Answers | Checked::LoggedIn) => Health::Well,
                Ok(Checked::Installed | Checked::Noticed(_)) => Health::Note,
                Err(_) => Health::Wrong,
            },
            Finding::Providers { voices, is_program, .. } => {
                wrong_if(*voices < LEAST_PROVIDERS && !is_program)
            }
            Finding::Lacking { .. }
            | Finding::UnsetToken { .. }
            | Finding::Hidden { .. }
            | Finding::ExposedData { exposure: Exposure::Readable, .. } => Health::Note,
            Finding::Node { differs, .. } => note_if(*differs),
            Finding::Queue { stuck, .. } => note_if(0 < *stuck),
            Finding::Spending { caps, .. } => note_if(caps.iter().any(|it| it.left_usd <= 0.0)),
            Finding::Port { trouble, .. } => note_if(trouble.is_some()),
            Finding::Provider { priced, .. } => note_if(!priced),
            Finding::Tracing(status) => note_if(!matches!(status, TracingStatus::On { .. })),
            Finding::Configuration { .. }
            | Finding::SharedDatabase { .. }
            | Finding::Clock
            | Finding::Prices { .. } => Health::Well,
        }
    }
}

fn wrong_if(is_wrong: bool) -> Health {
    if is_wrong { Health::Wrong } else { Health::Well }
}

fn note_if(is_worth_knowing: bool) -> Health {
    if is_worth_knowing { Health::Note } else { Health::Well }
}

/// Examines configuration, keys, prices, data, clock, port and providers, without making any
/// request. The configuration is read with this vocabulary.
pub async fn examine(machine: &Machine<'_>, registry: &Registry) -> Vec<Finding> {
    let (config, mut findings) = configuration(registry);
    let Some(config) = config else { return findings };
    let is_database_known = !findings.iter().any(hides_the_database);
    findings.push(data(&config.data_dir));
    if is_database_known {
        findings.extend(database(&config).await);
    }
    findings.push(port(config.server.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], PORT)))));
    findings.extend(prices(&config.prices_file()));
    let tracing = telemetry::set_up(machine.variable).1;
    findings.extend((tracing != TracingStatus::Off).then_some(Finding::Tracing(tracing)));
    match setup::load(&config, machine) {
        Ok(setup) => findings.extend(providers(&setup)),
        Err(error) => findings.push(Finding::BadSetup(error)),
    }
    findings
}

/// The configuration as far as it can be used, and what is wrong with it. Without a place for data
/// there is none.
fn configuration(registry: &Registry) -> (Option<Config>, Vec<Finding>) {
    let (config, mistakes) = match Config::survey(registry) {
        Ok(found) => found,
        Err(error) => {
            let mistakes = mistakes_of(error);
            return (Config::without_file(registry).ok(), mistakes);
        }
    };
    let mistakes = mistakes.into_iter().chain(complaints(&config).into_iter().map(Mistake::from));
    let mistake = |mistake| Finding::Mistake { file: config.file.clone(), mistake };
    let mut findings: Vec<Finding> = mistakes.map(mistake).collect();
    if findings.is_empty() {
        let exists = config.file.exists();
        findings.push(Finding::Configuration { file: config.file.clone(), exists });
    }
    let unset = |mistake| Finding::UnsetToken { file: config.file.clone(), mistake };
    findings.extend(config.unset_tokens().into_iter().map(unset));
    (Some(config), findings)
}

/// Whether it is unknown, because of this mistake, which database is meant.
fn hides_the_database(finding: &Finding) -> bool {
    match finding {
        Finding::BadConfiguration(_) => true,
        // Before a syntax error, the file says nothing.
        Finding::Mistake { mistake, .. } => {
            ["store", "not in this file", "line "].iter().any(|it| mistake.message.starts_with(it))
        }
        _ => false,
    }
}

fn mistakes_of(error: config::Error) -> Vec<Finding> {
    match error {
        config::Error::Wrong { file, mistakes } => {
            let mistake = |mistake| Finding::Mistake { file: file.clone(), mistake };
            mistakes.into_iter().map(mistake).collect()
        }
        other => vec![Finding::BadConfiguration(other)],
    }
}

fn data(directory: &Path) -> Finding {
    let probe = directory.join(format!(".writable-{}", std::process::id()));
    let written = make_directory(directory).and_then(|()| std::fs::write(&probe, b""));
    let _ = std::fs::remove_file(&probe);
    let directory = directory.to_owned();
    match (written, exposure(&directory)) {
        (Err(error), _) => Finding::Data { directory, trouble: Some(error.to_string()) },
        (Ok(()), Some(exposure)) => Finding::ExposedData { directory, exposure },
        (Ok(()), None) => Finding::Data { directory, trouble: None },
    }
}

/// What other users of this machine may do with a directory, if anything. The files in it are
/// accessible to their owner alone in any case.
fn exposure(directory: &Path) -> Option<Exposure> {
    let mode = mode(directory);
    if mode & 0o022 != 0 {
        Some(Exposure::Writable)
    } else {
        (mode & 0o055 != 0).then_some(Exposure::Readable)
    }
}

/// The permission bits of a file or directory; none if they can't be read.
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).map_or(0, |it| it.permissions().mode())
}

async fn database(config: &Config) -> Vec<Finding> {
    #[cfg(feature = "postgres")]
    if let Some(url) = &config.store.url {
        return shared_database(config, url.secret()).await;
    }
    let file = config.database();
    let store = match SqliteStore::open(&file) {
        Ok(store) => store,
        Err(error) => return vec![Finding::BadDatabase(error)],
    };
    let whole = match store.damage().await {
        Ok(None) if mode(&file) & 0o077 != 0 => Finding::ExposedDatabase { file },
        Ok(damage) => Finding::Database { file, damage },
        Err(error) => Finding::BadDatabase(error),
    };
    let found = [Some(whole), Some(clock(&store).await), hidden(&store).await].into_iter().flatten();
    let found: Vec<Finding> = found.chain(spending(&store, config).await).collect();
    found.into_iter().chain(nodes(&store, config).await).collect()
}

/// The same of a database that several machines share.
#[cfg(feature = "postgres")]
async fn shared_database(config: &Config, url: &str) -> Vec<Finding> {
    let opened = quorum_store_postgres::Address::parse(url)
        .and_then(|address| Ok((address.to_string(), quorum_store_postgres::PostgresStore::open(address)?)));
    let (address, store) = match opened {
        Ok(opened) => opened,
        Err(error) => return vec![Finding::BadDatabase(error)],
    };
    let found = [Some(Finding::SharedDatabase { address }), Some(clock(&store).await), hidden(&store).await];
    let found: Vec<Finding> = found.into_iter().flatten().chain(spending(&store, config).await).collect();
    found.into_iter().chain(nodes(&store, config).await).collect()
}

/// Whether the clock can be right, by that of the database and by the newest discussion.
async fn clock<S: Store + Archive>(store: &S) -> Finding {
    if let Ok(Some(there)) = store.clock().await {
        let behind_ms = (there.0 - SystemClock.now().0) / 1_000;
        if MOST_OFF_MS < behind_ms.abs() {
            return Finding::ClockOff { behind_ms };
        }
    }
    let newest = store.list(Wanted { limit: 1, ..Wanted::default() }).await.unwrap_or_default();
    let latest = newest.first().map_or(EARLIEST, |it| it.opened_at.0.max(EARLIEST));
    if SystemClock.now().0 < latest { Finding::EarlyClock } else { Finding::Clock }
}

/// The processes that run discussions of the database, and what waits for one.
async fn nodes<S: Store + Archive>(store: &S, config: &Config) -> Vec<Finding> {
    let digest = config.digest();
    let node = |it: NodeStatus| Finding::Node {
        differs: it.node.config != digest,
        name: it.node.name,
        version: it.node.version,
        held: it.held,
        draining: it.duty == Duty::Draining,
    };
    let found = store.nodes().await.unwrap_or_default().into_iter().map(node);
    let Backlog { queued, stuck, .. } = store.backlog(None).await.unwrap_or_default();
    let queue = (0 < queued + stuck).then_some(Finding::Queue { queued, stuck });
    found.chain(queue).collect()
}

/// The accounts with spending caps. A damaged database is reported above.
async fn spending(store: &impl Store, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (account, caps) in configured(config).into_iter().filter(|it| it.1.are_set()) {
        let (name, tenant) = (account.name.clone(), account.tenant.name().to_owned());
        if let Ok(statuses) = store.spending(account, caps, SystemClock.now()).await {
            let caps = statuses.iter().map(CapEntry::from).collect();
            findings.push(Finding::Spending { name, tenant, caps });
        }
    }
    findings
}

async fn hidden(store: &impl Archive) -> Option<Finding> {
    let discussions = store.hidden(Wanted::default()).await.ok()?.len() as u64;
    (discussions > 0).then_some(Finding::Hidden { discussions, days: GRACE_MS / DAY_MS })
}

/// The result of salvaging a damaged database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvage {
    /// The damaged database, left unchanged.
    pub damaged: PathBuf,
    /// The new database.
    pub new: PathBuf,
    /// How much was saved.
    pub saved: Salvaged,
}

/// Copies what can be read of a damaged database into a new one beside it.
pub async fn salvage(config: &Config) -> Result<Salvage, Error> {
    let damaged = config.database();
    let new = damaged.with_file_name("quorum-salvaged.db");
    let saved = quorum_store::salvage(&damaged, &new).await?;
    Ok(Salvage { damaged, new, saved })
}

fn port(address: SocketAddr) -> Finding {
    let trouble = TcpListener::bind(address).err().map(|error| error.to_string());
    Finding::Port { address, trouble }
}

/// Reports imported prices. Unreadable prices are reported with the keys.
fn prices(file: &Path) -> Option<Finding> {
    Some(Finding::Prices { imported: Prices::load(file).ok()?.len() })
}

fn providers(setup: &Setup) -> Vec<Finding> {
    let (available, known) = (setup.sources().len(), setup.providers.len());
    let sole = setup.sole_vendor();
    let voices = sole.map_or(available, |it| it.panel.len().max(available));
    let is_program = sole.is_some_and(|it| it.program().is_some());
    let all = Finding::Providers { available, known, voices, is_program };
    std::iter::once(all).chain(setup.providers.iter().map(provider)).collect()
}

fn provider(provider: &Provider) -> Finding {
    let name = provider.name.clone();
    let reached = match &provider.transport {
        Ok(Transport::Http(endpoint)) => {
            Reached::Http { base: endpoint.base.to_string(), key: provider.key.clone() }
        }
        Ok(Transport::Command(program)) => Reached::Command(provider.local_program(program)),
        Err(missing) => return Finding::Lacking { name, missing: missing.clone() },
    };
    Finding::Provider { name, reached, priced: provider.model_info(&provider.model).price.is_some() }
}
