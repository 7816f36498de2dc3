//! The configuration: one file, every key known, and where things are kept.

pub mod server;

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use serde_json::{Map, Value, json};

use crate::request::{
    Request, debate,
    flags::{FLAGS, Flag},
};

/// How long finished discussions are kept unless the file says otherwise (INV-DISC-632).
const RETENTION_DAYS: u32 = 30;

/// Values that mean something only where a switch is on. A default for one must not get in the way where it is off.
pub(crate) const DEPENDENT: &[(&str, &str)] =
    &[("maxDepth", "recursive"), ("timeoutStrategy", "recursive"), ("confidenceThreshold", "earlyExit")];

/// What the user has set up.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where it is read from, whether there is such a file or not.
    pub file: PathBuf,
    /// Where discussions are kept.
    pub data_dir: PathBuf,
    /// After how many days finished discussions are forgotten; `None` is never.
    pub retention_days: Option<u32>,
    /// Whether discussions may be started.
    pub discussions: bool,
    /// How the server is to be reached.
    pub server: server::Server,
    /// Fields of a request where it leaves them out.
    defaults: Map<String, Value>,
}

/// Why a configuration can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("the configuration {file} can't be read: {reason}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        reason: String,
    },
    /// Something in the file is wrong.
    #[error("{file}: {message}")]
    Wrong {
        /// Which.
        file: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// Nobody knows where things belong.
    #[error("there is no home directory to keep discussions in; set AX_DATA_DIR and AX_CONFIG")]
    NoHome,
}

impl Config {
    /// The user's configuration, from where `AX_CONFIG` and `AX_DATA_DIR` say, or from where XDG says. No file at all is fine,
    /// unless one was named.
    pub fn load() -> Result<Config, Error> {
        let named = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let places = || etcetera::choose_base_strategy().map_err(|_| Error::NoHome);
        let data_dir = match named("AX_DATA_DIR") {
            Some(directory) => directory,
            None => places()?.data_dir().join("quorum"),
        };
        let (file, must_exist) = match named("AX_CONFIG") {
            Some(file) => (file, true),
            None => (places()?.config_dir().join("quorum").join("config.toml"), false),
        };
        match std::fs::read_to_string(&file) {
            Ok(text) => Config::parse(&text, &file, data_dir),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                Ok(Config::unset(file, data_dir))
            }
            Err(error) => {
                Err(Error::Unreadable { file: file.display().to_string(), reason: error.to_string() })
            }
        }
    }

    /// What holds without a file.
    #[must_use]
    pub fn unset(file: PathBuf, data_dir: PathBuf) -> Config {
        let retention_days = Some(RETENTION_DAYS);
        Config {
            file,
            data_dir,
            retention_days,
            discussions: true,
            server: Default::default(),
            defaults: Map::new(),
        }
    }

    /// The configuration this text describes.
    pub fn parse(text: &str, file: &Path, data_dir: PathBuf) -> Result<Config, Error> {
        let wrong = |message: String| Error::Wrong { file: file.display().to_string(), message };
        let sections: toml::Table =
            text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        let mut config = Config::unset(file.to_owned(), data_dir);
        for (name, value) in &sections {
            let read = SECTIONS.iter().find(|section| section.0 == name).map(|section| section.1);
            let known = SECTIONS.iter().map(|section| section.0);
            let read = read.ok_or_else(|| wrong(unknown("section", name, known)))?;
            let table = value.as_table().ok_or_else(|| wrong(format!("{name} is a section: [{name}]")))?;
            read(&mut config, table).map_err(&wrong)?;
        }
        Ok(config)
    }

    /// The request with what is usual here in place of what it leaves out, and the names of the fields filled so.
    #[must_use]
    pub fn fill(&self, request: &Request) -> (Request, Vec<String>) {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(request) else {
            return (request.clone(), Vec::new());
        };
        if fields.values().any(holds_no_number) {
            // Left as it is, so that the check can refuse it by name.
            return (request.clone(), Vec::new());
        }
        let given: Vec<String> = fields.keys().cloned().collect();
        let new = self.defaults.iter().filter(|(field, _)| !given.contains(field));
        let new: Vec<(String, Value)> = new.map(|(field, value)| (field.clone(), value.clone())).collect();
        fields.extend(new.clone());
        let is_on = |field: &str| fields.get(field) == Some(&Value::Bool(true));
        let debates = fields.get("pattern").is_some_and(|it| it == "debate");
        let table = ["providers", "participants"];
        let seated = |field: &str| table.contains(&field) && given.iter().any(|it| table.contains(&&**it));
        let idle = |field: &str| {
            DEPENDENT.iter().any(|(it, switch)| *it == field && !is_on(switch))
                || (!debates && debate::FIELDS.contains(&field))
                || seated(field)
        };
        let idle: Vec<String> =
            new.iter().map(|(field, _)| field.clone()).filter(|field| idle(field)).collect();
        fields.retain(|field, _| !idle.contains(field));
        let filled = new.into_iter().map(|(field, _)| field).filter(|field| !idle.contains(field)).collect();
        // Every default was read as a field of a request when the file was parsed.
        serde_json::from_value(Value::Object(fields)).map_or((request.clone(), Vec::new()), |it| (it, filled))
    }

    /// The file discussions are kept in.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data_dir.join("quorum.db")
    }
}

type Read = fn(&mut Config, &toml::Table) -> Result<(), String>;

/// The sections there are.
const SECTIONS: &[(&str, Read)] = &[
    ("retention", read_retention),
    ("features", read_features),
    ("defaults", read_defaults),
    ("server", server::read),
];

fn read_retention(config: &mut Config, table: &toml::Table) -> Result<(), String> {
    for (key, value) in table {
        config.retention_days = match (key.as_str(), value) {
            ("days", toml::Value::Integer(0) | toml::Value::Boolean(false)) => None,
            ("days", toml::Value::Integer(days)) if u32::try_from(*days).is_ok() => u32::try_from(*days).ok(),
            ("days", other) => {
                return Err(format!("retention.days is a number of days, or 0 for never; not {other}"));
            }
            _ => return Err(unknown("key in [retention]", key, ["days"])),
        };
    }
    Ok(())
}

fn read_features(config: &mut Config, table: &toml::Table) -> Result<(), String> {
    for (key, value) in table {
        config.discussions = match (key.as_str(), value) {
            ("discussions", toml::Value::Boolean(on)) => *on,
            ("discussions", other) => {
                return Err(format!("features.discussions is true or false, not {other}"));
            }
            _ => return Err(unknown("key in [features]", key, ["discussions"])),
        };
    }
    Ok(())
}

fn read_defaults(config: &mut Config, table: &toml::Table) -> Result<(), String> {
    for (key, value) in table {
        let flag = FLAGS
            .iter()
            .find(|flag| flag.long == key)
            .ok_or_else(|| unknown("key in [defaults]", key, FLAGS.iter().map(|flag| flag.long)))?;
        let value = read_default(flag, value).map_err(|message| format!("defaults.{key}: {message}"))?;
        config.defaults.insert(flag.field.to_owned(), value);
    }
    Ok(())
}

/// The value as its field of a request wants it.
fn read_default(flag: &Flag, written: &toml::Value) -> Result<Value, String> {
    let written = serde_json::to_value(written).map_err(|error| error.to_string())?;
    let value = flag.read(written)?;
    if holds_no_number(&value) {
        return Err("nan and inf are no numbers to go by".to_owned());
    }
    let alone = json!({ "topic": "", flag.field: value });
    serde_json::from_value::<Request>(alone).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Whether something in it was NaN or infinite. JSON has no such numbers: they become null, which would pass for left out.
fn holds_no_number(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(holds_no_number),
        Value::Object(fields) => fields.values().any(holds_no_number),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Says that there is no such thing, and which is nearest.
fn unknown<'k>(what: &str, given: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let likeness = |it: &&str| (strsim::jaro_winkler(it, given) * 1e6) as u64;
    let nearest = known.iter().copied().max_by_key(likeness).filter(|it| likeness(it) > 750_000);
    match nearest {
        Some(nearest) => format!("there is no {what} named {given}; did you mean {nearest}?"),
        None => format!("there is no {what} named {given}; there are {}", known.join(", ")),
    }
}

/// Makes the directory discussions are kept in, for the user alone.
pub(crate) fn make_directory(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
