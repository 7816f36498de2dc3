//! The configuration: one file in which every key is known, and the directories in use.

mod limits;
mod messages;
mod mistake;
mod places;
mod presets;
mod providers;
pub mod server;
mod size;
pub mod store;
mod tools;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use quorum_providers::{keys, prices, setup::Overrides};
use serde_json::{Map, Value, json};

use quorum_core::{
    model::{account::Caps, excerpt::in_short},
    registry::Registry,
    vocabulary::option::Declared,
};

use crate::request::{
    Request,
    flags::{Flag, SHOWING},
    leave_out_if_idle,
    limits::{LONGEST_NAME, MOST_COMPLAINTS},
    settings::refused_rounds,
};

use mistake::Mistakes;

pub use mistake::Mistake;
pub use places::Places;
pub use presets::{EffectiveValue, Origin, Preset};
pub use tools::{Tool, Workflows};

/// How long finished discussions are kept unless the file says otherwise (INV-DISC-632).
const RETENTION_DAYS: u32 = 30;

/// How many names a message lists at most.
const MOST_NAMED: usize = 100;

/// Values that only have a meaning while a switch is on. Their defaults are ignored while it is
/// off.
pub(crate) const DEPENDENT: &[(&str, &str)] =
    &[("maxDepth", "recursive"), ("timeoutStrategy", "recursive"), ("confidenceThreshold", "earlyExit")];

/// The user's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The path it is read from, whether or not the file exists.
    pub file: PathBuf,
    /// Where discussions are kept.
    pub data_dir: PathBuf,
    /// Where logs of detached runs are kept.
    pub state_dir: PathBuf,
    /// After how many days finished discussions are removed; `None` is never.
    pub retention_days: Option<u32>,
    /// Whether discussions may be started.
    pub discussions: bool,
    /// The configured providers.
    pub providers: Vec<Overrides>,
    /// The providers' tables as written.
    rows: toml::Table,
    /// The programs that workflows may use, by name.
    pub tools: BTreeMap<String, Tool>,
    /// What applies to all workflows.
    pub workflows: Workflows,
    /// The server's settings.
    pub server: server::Server,
    /// The settings of the store.
    pub store: store::Store,
    /// The spending caps of the local user: of the command, and of a server without tokens.
    pub limits: Caps,
    /// Values for fields that both a request and its preset leave out.
    defaults: Preset,
    /// The named presets.
    presets: BTreeMap<String, Preset>,
    /// The vocabulary its sections are read with.
    registry: Registry,
}

/// Why a configuration can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("the configuration {} can't be read: {reason}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file contains mistakes.
    #[error("{}", lines(.file, .mistakes))]
    Wrong {
        /// The file.
        file: PathBuf,
        /// All mistakes in it.
        mistakes: Vec<Mistake>,
    },
    /// The stored keys can't be used.
    #[error("{0}")]
    Keys(keys::Error),
    /// The imported prices can't be used.
    #[error("{0}")]
    Prices(prices::Error),
    /// There is no home directory, so there is no place to keep anything.
    #[error("there is no home directory to keep discussions in")]
    NoHome,
}

fn lines(file: &Path, mistakes: &[Mistake]) -> String {
    let line = |mistake: &Mistake| format!("{}: {mistake}", file.display());
    mistakes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Nothing is set, and all paths are empty.
impl Default for Config {
    fn default() -> Self {
        Config::unset(PathBuf::new(), PathBuf::new())
    }
}

impl Config {
    /// Loads the user's configuration from where `AX_CONFIG` and `AX_DATA_DIR` say, or else from
    /// the XDG directories. A missing file is fine unless one was named.
    pub fn load() -> Result<Config, Error> {
        Config::load_with(&quorum_patterns::registry())
    }

    /// The same for a program with its own patterns, methods or strategies.
    pub fn load_with(registry: &Registry) -> Result<Config, Error> {
        let (config, wrong) = Config::survey(registry)?;
        config.unless(wrong)
    }

    /// The configuration that applies if the file can't be used at all.
    pub fn without_file(registry: &Registry) -> Result<Config, Error> {
        let Places { file, data_dir, state_dir, .. } = Places::find()?;
        let config = Config::unset(file, data_dir).read_with(registry);
        Ok(Config { state_dir, ..with_environment(config, Vec::new()).0 })
    }

    /// Loads as much of the configuration as can be read, and lists the mistakes in the rest.
    pub fn survey(registry: &Registry) -> Result<(Config, Vec<Mistake>), Error> {
        let Places { file, must_exist, data_dir, state_dir, .. } = Places::find()?;
        let (config, wrong) = match size::text_of(&file) {
            Ok(text) => Config::read(&text, Config::unset(file, data_dir).read_with(registry))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                (Config::unset(file, data_dir).read_with(registry), Vec::new())
            }
            Err(error) => return Err(Error::Unreadable { file, reason: error.to_string() }),
        };
        let (config, wrong) = with_environment(config, wrong);
        Ok((Config { state_dir, ..config }, wrong))
    }

    /// The configuration that applies without a file.
    #[must_use]
    pub fn unset(file: PathBuf, data_dir: PathBuf) -> Config {
        Config {
            file,
            state_dir: data_dir.join("state"),
            data_dir,
            retention_days: Some(RETENTION_DAYS),
            discussions: true,
            providers: Vec::new(),
            rows: toml::Table::new(),
            tools: BTreeMap::new(),
            workflows: Workflows::default(),
            server: Default::default(),
            store: Default::default(),
            limits: Caps::default(),
            defaults: Preset::default(),
            presets: BTreeMap::new(),
            registry: quorum_patterns::registry(),
        }
    }

    /// Parses a configuration, or returns all mistakes in it.
    pub fn parse(text: &str, file: &Path, data_dir: PathBuf) -> Result<Config, Error> {
        let (config, wrong) = Config::read(text, Config::unset(file.to_owned(), data_dir))?;
        config.unless(wrong)
    }

    /// The vocabulary its sections are read with.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    fn read_with(self, registry: &Registry) -> Config {
        Config { registry: registry.clone(), ..self }
    }

    fn read(text: &str, mut config: Config) -> Result<(Config, Vec<Mistake>), Error> {
        let sections: toml::Table = text.parse().map_err(|error| Error::Wrong {
            file: config.file.clone(),
            mistakes: vec![unreadable(text, &error).into()],
        })?;
        let mut wrong = size::excesses(&sections);
        if !wrong.is_empty() {
            return Ok((config, wrong));
        }
        for (name, value) in &sections {
            if wrong.len() <= MOST_COMPLAINTS {
                wrong.extend(read_section(&mut config, name, value));
            }
        }
        if MOST_COMPLAINTS < wrong.len() {
            wrong.truncate(MOST_COMPLAINTS);
            wrong.push("there are more mistakes, which are not listed".to_owned().into());
        }
        Ok((config, wrong))
    }

    fn unless(self, mistakes: Vec<Mistake>) -> Result<Config, Error> {
        if mistakes.is_empty() { Ok(self) } else { Err(Error::Wrong { file: self.file, mistakes }) }
    }

    /// Fills the fields that a request leaves out from its preset, then from the defaults, and
    /// returns the names of the fields filled. An unknown preset fills nothing; [`Config::preset`]
    /// reports it.
    #[must_use]
    pub fn fill(&self, request: &Request) -> (Request, Vec<String>) {
        let preset = request.preset.as_ref().and_then(|name| self.presets.get(name));
        let sections = preset.into_iter().chain([&self.defaults]);
        let (mut request, mut filled) = filled(request, sections, &self.registry);
        // Values about agents have no effect on a panel without any.
        filled.retain(|field| !leave_out_if_idle(&mut request, field));
        (request, filled)
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data_dir.join("quorum.db")
    }

    /// The file keys are stored in, beside the configuration.
    #[must_use]
    pub fn keys_file(&self) -> PathBuf {
        self.file.with_file_name("keys.toml")
    }

    /// The file imported prices are stored in.
    #[must_use]
    pub fn prices_file(&self) -> PathBuf {
        self.data_dir.join("prices.json")
    }
}

/// Sets the database that the environment names.
fn with_environment(mut config: Config, mut wrong: Vec<Mistake>) -> (Config, Vec<Mistake>) {
    if let Some(url) = places::database_url() {
        match store::DatabaseUrl::parse(&url) {
            Ok(url) => config.store.url = Some(url),
            Err(error) => wrong.push(format!("not in this file but in the environment: {error}").into()),
        }
    }
    (config, wrong)
}

/// The first of these names, and the number of the others.
fn some(names: &[&str]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let named = names[..names.len() - more].join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// Where and why the text is not valid TOML. The text there is not repeated: it may be a key in the
/// wrong place.
fn unreadable(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text[..text.floor_char_boundary(start)];
    let (line, column) =
        (before.matches('\n').count() + 1, before.chars().rev().take_while(|it| *it != '\n').count() + 1);
    format!("line {line}, column {column}: {}", error.message())
}

/// Fills a request from these sources; earlier sources take precedence.
fn filled<'p>(
    request: &Request,
    from: impl Iterator<Item = &'p Preset>,
    registry: &Registry,
) -> (Request, Vec<String>) {
    let request = Request { preset: None, ..request.clone() };
    let Ok(Value::Object(mut fields)) = serde_json::to_value(&request) else {
        return (request, Vec::new());
    };
    if fields.values().any(has_non_finite) {
        // Left unchanged, so that the check can refuse it by name.
        return (request, Vec::new());
    }
    let given: Vec<String> = fields.keys().cloned().collect();
    let mut new: Map<String, Value> = Map::new();
    for (field, value) in from.flat_map(|it| &it.fields).filter(|(field, _)| !given.contains(field)) {
        new.entry(field).or_insert_with(|| value.clone());
    }
    fields.extend(new.clone());
    let counting = counting(&fields, registry);
    let has_no_rounds = refused_rounds(&fields, registry).is_some();
    let is_misplaced = |field: &str| {
        let is_option = registry.option(field).is_some_and(|it| !counting.contains(&it));
        is_option || (field == "rounds" && has_no_rounds)
    };
    let is_idle = |field: &&String| is_idle(field, &fields, &given) || is_misplaced(field);
    let idle: Vec<String> = new.keys().filter(is_idle).cloned().collect();
    fields.retain(|field, _| !idle.contains(field));
    let filled = new.into_iter().map(|(field, _)| field).filter(|field| !idle.contains(field)).collect();
    // Every default was read as a request field when the file was parsed.
    match serde_json::from_value::<Request>(Value::Object(fields)) {
        Ok(it) => (
            Request {
                client: request.client,
                world: request.world,
                known_question: request.known_question,
                ..it
            },
            filled,
        ),
        Err(_) => (request, Vec::new()),
    }
}

/// Whether a value that was not given has no effect beside the others.
fn is_idle(field: &str, fields: &Map<String, Value>, given: &[String]) -> bool {
    let is_on = |switch: &str| fields.get(switch) == Some(&Value::Bool(true));
    let table = ["providers", "participants"];
    let seated = table.contains(&field) && given.iter().any(|it| table.contains(&&**it));
    let switched_off = DEPENDENT.iter().any(|(it, switch)| *it == field && !is_on(switch));
    switched_off || seated
}

/// The options that apply to the pattern, method and strategy of these fields.
fn counting(fields: &Map<String, Value>, registry: &Registry) -> Vec<&'static Declared> {
    let named = |field: &str| fields.get(field).and_then(Value::as_str);
    let first_pattern = registry.patterns().first().map_or("", |it| it.name);
    let pattern = named("pattern").unwrap_or(first_pattern);
    let default = registry.pattern(pattern).map_or("", |it| it.defaults.method);
    let first_method = registry.methods().first().map_or("", |it| it.name);
    let method = named("consensus").unwrap_or(if default.is_empty() { first_method } else { default });
    let first_strategy = registry.strategies().first().map_or("", |it| it.name);
    registry.options_for(pattern, method, named("windowStrategy").unwrap_or(first_strategy))
}

/// Reads one section key by key, so that all its mistakes are found at once.
fn read_section(config: &mut Config, name: &str, value: &toml::Value) -> Vec<Mistake> {
    let Some(read) = SECTIONS.iter().find(|section| section.0 == name).map(|section| section.1) else {
        return vec![unknown("section", name, SECTIONS.iter().map(|section| section.0)).into()];
    };
    let Some(table) = value.as_table() else { return vec![format!("{name} is a section: [{name}]").into()] };
    let keys = table.iter().map(|(key, value)| toml::Table::from_iter([(key.clone(), value.clone())]));
    let mistakes = keys.filter_map(|key| read(config, &key).err()).flat_map(|mistakes| mistakes.0);
    mistakes.take(MOST_COMPLAINTS + 1).collect()
}

type Read = fn(&mut Config, &toml::Table) -> Result<(), Mistakes>;

/// The known sections.
const SECTIONS: &[(&str, Read)] = &[
    ("retention", read_retention),
    ("features", read_features),
    ("defaults", read_defaults),
    ("providers", providers::read),
    ("presets", presets::read),
    ("server", server::read),
    ("store", store::read),
    ("limits", limits::read),
    ("tools", tools::read_tools),
    ("workflows", tools::read_workflows),
];

fn read_retention(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        config.retention_days = match (key.as_str(), value) {
            ("days", toml::Value::Integer(0) | toml::Value::Boolean(false)) => None,
            ("days", toml::Value::Integer(days)) if u32::try_from(*days).is_ok() => u32::try_from(*days).ok(),
            ("days", other) => {
                let message = format!("retention.days is a number of days, or 0 for never; not {other}");
                return Err(message.into());
            }
            _ => return Err(unknown("key in [retention]", key, ["days"]).into()),
        };
    }
    Ok(())
}

fn read_features(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        config.discussions = match (key.as_str(), value) {
            ("discussions", toml::Value::Boolean(on)) => *on,
            ("discussions", other) => {
                return Err(format!("features.discussions is true or false, not {other}").into());
            }
            _ => return Err(unknown("key in [features]", key, ["discussions"]).into()),
        };
    }
    Ok(())
}

fn read_defaults(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    let registry = config.registry.clone();
    Ok(config.defaults.read("defaults", table, &registry)?)
}

/// Converts a value to the type of its request field.
fn read_default(flag: &Flag, written: &toml::Value, registry: &Registry) -> Result<Value, String> {
    let written = serde_json::to_value(written).map_err(|error| error.to_string())?;
    let value = flag.read(written)?;
    if has_non_finite(&value) {
        return Err("nan and inf are not allowed".to_owned());
    }
    let alone = json!({ "topic": "", (&*flag.field): value });
    serde_json::from_value::<Request>(alone).map_err(|error| messages::plainly(&error.to_string()))?;
    // Bounds are checked with a request, and reported together with its other problems.
    match registry.option(&flag.field).and_then(|it| it.kind.mistyped(&value)) {
        Some(complaint) => Err(complaint),
        None => Ok(value),
    }
}

/// Whether it contains a NaN or infinite number. JSON has no such numbers: they become null, which
/// would be read as left out.
fn has_non_finite(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_non_finite),
        Value::Object(fields) => fields.values().any(has_non_finite),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Reports an unknown name and suggests the nearest known one.
fn unknown<'k>(what: &str, given: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let (nearest, given) = (nearest(given, known.iter().copied()), in_short(given));
    match nearest {
        Some(nearest) => format!("there is no {what} named {given}; did you mean {nearest}?"),
        None => format!("there is no {what} named {given}; there are {}", some(&known)),
    }
}

/// The longest name for which a similar one is looked for. Comparing two names takes time
/// proportional to the product of their lengths, and a much longer text is not a typo.
const LONGEST_TYPO: usize = 64;

/// The name that was probably meant.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if LONGEST_TYPO < given.len() {
        return None;
    }
    let likeness = |it: &&str| (strsim::jaro_winkler(it, given) * 1e6) as u64;
    known.into_iter().max_by_key(likeness).filter(|it| likeness(it) > 750_000)
}

/// Creates the directory discussions are kept in, accessible to the user alone.
pub(crate) fn make_directory(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
