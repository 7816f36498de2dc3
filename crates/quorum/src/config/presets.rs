//! Presets: named sets of request fields, written like `[defaults]` under the long names of the
//! flags.

use quorum_core::registry::Registry;
use serde_json::{Map, Value};

use super::{Config, Mistake, Mistakes, SHOWING, filled, read_default, unknown};
use crate::{
    Remedy,
    request::{Request, flags},
};

/// Values for fields that a command leaves out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preset {
    /// Request fields.
    pub(super) fields: Map<String, Value>,
    /// Output flags, by their long names.
    pub(super) showing: Map<String, Value>,
    /// Everything as written, by the long names.
    pub(super) written: toml::Table,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The built-in default.
    BuiltIn,
    /// This section of the file.
    File(String),
    /// The environment.
    Environment,
}

/// An effective value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveValue {
    /// The section, such as `retention` or `presets.architecture`.
    pub section: String,
    /// The key, such as `days`.
    pub key: String,
    /// The value as it would be written in the file.
    pub value: toml::Value,
    /// Where it comes from.
    pub origin: Origin,
}

impl Config {
    /// The names of the presets.
    pub fn presets(&self) -> impl Iterator<Item = &str> {
        self.presets.keys().map(String::as_str)
    }

    /// The preset of that name; the error suggests the nearest one.
    pub fn preset(&self, name: &str) -> Result<&Preset, Mistake> {
        self.presets.get(name).ok_or_else(|| {
            if self.presets.is_empty() {
                let message = format!("there is no preset named {name}; the configuration has none");
                let write = Remedy::WritePreset { name: name.to_owned(), file: self.file.clone() };
                return Mistake { message, remedy: Some(write) };
            }
            unknown("preset", name, self.presets()).into()
        })
    }

    /// Fills the fields that the request leaves out from its preset, and nothing else.
    #[must_use]
    pub(crate) fn fill_from_preset(&self, request: &Request) -> Request {
        let preset = request.preset.as_ref().and_then(|name| self.presets.get(name));
        filled(request, preset.into_iter(), &self.registry).0
    }

    /// The value of an output flag, from the preset or else from the defaults.
    #[must_use]
    pub fn showing(&self, preset: Option<&str>, long: &str) -> Option<&Value> {
        let preset = preset.and_then(|name| self.presets.get(name));
        preset.into_iter().chain([&self.defaults]).find_map(|it| it.showing.get(long))
    }

    /// The section that sets this field for a request with this preset.
    pub(crate) fn section_of(&self, preset: Option<&str>, field: &str) -> String {
        let named =
            preset.filter(|name| self.presets.get(*name).is_some_and(|it| it.fields.contains_key(field)));
        named.map_or("defaults".to_owned(), |name| format!("presets.{name}"))
    }

    /// Everything that is set or has a default.
    #[must_use]
    pub fn given(&self) -> Vec<EffectiveValue> {
        let days = i64::from(self.retention_days.unwrap_or_default());
        let usual = Config::unset(self.file.clone(), self.data_dir.clone());
        let general = [
            ("retention", "days", toml::Value::Integer(days), self.retention_days == usual.retention_days),
            ("features", "discussions", toml::Value::Boolean(self.discussions), self.discussions),
        ];
        let general = general.into_iter().map(|(section, key, value, usual)| EffectiveValue {
            section: section.to_owned(),
            key: key.to_owned(),
            value,
            origin: if usual { Origin::BuiltIn } else { Origin::File(section.to_owned()) },
        });
        let sections = std::iter::once(("defaults".to_owned(), &self.defaults))
            .chain(self.presets.iter().map(|(name, preset)| (format!("presets.{name}"), preset)));
        let written = sections.flat_map(|(section, preset)| {
            preset.written.iter().map(move |(key, value)| EffectiveValue {
                section: section.clone(),
                key: key.clone(),
                value: value.clone(),
                origin: Origin::File(section.clone()),
            })
        });
        general.chain(self.values_of_store()).chain(self.written_of_providers()).chain(written).collect()
    }
}

impl Preset {
    /// Reads the entries of this section, or returns its mistakes.
    pub(super) fn read(
        &mut self,
        section: &str,
        table: &toml::Table,
        registry: &Registry,
    ) -> Result<(), String> {
        let flags = flags::all(registry);
        for (key, value) in table {
            let wrong = |message: String| format!("{section}.{key}: {message}");
            if let Some(kind) = SHOWING.iter().find(|it| it.long == key) {
                let value = kind.read(value).map_err(wrong)?;
                self.showing.insert(key.clone(), value);
            } else {
                let known = || flags.iter().map(|flag| &*flag.long).chain(SHOWING.iter().map(|it| it.long));
                let flag = flags.iter().find(|flag| flag.long == *key);
                let flag = flag.ok_or_else(|| unknown(&format!("key in [{section}]"), key, known()))?;
                let value = read_default(flag, value, registry).map_err(wrong)?;
                self.fields.insert(flag.field.to_string(), value);
            }
            self.written.insert(key.clone(), value.clone());
        }
        Ok(())
    }
}

/// Reads `[presets.NAME]`.
pub(super) fn read(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    let mut mistakes = Mistakes::default();
    for (name, preset) in table {
        let form = || format!("presets.{name} is a section: [presets.{name}]");
        let table = preset.as_table().ok_or_else(form)?;
        let mut preset = Preset::default();
        let keys = table.iter().map(|(key, value)| toml::Table::from_iter([(key.clone(), value.clone())]));
        let section = format!("presets.{name}");
        mistakes.0.extend(
            keys.filter_map(|key| preset.read(&section, &key, &config.registry).err()).map(Mistake::from),
        );
        if config.registry.pattern(name).is_some() {
            let message =
                format!("presets.{name}: a pattern has this name, and quorum/{name} would mean both");
            mistakes.0.push(Mistake::from(message));
        }
        config.presets.insert(name.clone(), preset);
    }
    mistakes.none_or_err()
}

impl Config {
    /// The name a field of a request has in the file.
    #[must_use]
    pub(crate) fn long_of(&self, field: &str) -> String {
        let flag = flags::filling(&self.registry, field);
        flag.map_or_else(|| field.to_owned(), |flag| flag.long.into_owned())
    }
}
