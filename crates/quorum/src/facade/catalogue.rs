//! What there is to choose from: providers, and orders with a name. None of it tells where things lie on this machine.

use quorum_core::model::money::Price;
use quorum_providers::catalog;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Quorum,
    request::flags,
    setup::{Facts, Missing, Provider},
};

/// A provider in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// What results call it.
    pub name: String,
    /// What else it may be called.
    pub aliases: Vec<String>,
    /// What it is good at, best first.
    pub strengths: Vec<String>,
    /// How many tokens it takes in.
    pub window: u64,
    /// Whether it has a real voice here.
    pub available: bool,
    /// What is missing where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// The model that answers where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The models that are known of it, the usual one first.
    pub models: Vec<ModelEntry>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    /// What its provider calls it.
    pub name: String,
    /// How many tokens it takes in.
    pub window: u64,
    /// What it costs, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceEntry>,
}

/// USD for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceEntry {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// An order with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetEntry {
    /// What requests call it.
    pub name: String,
    /// The fields of a request that it fills in where they are left out.
    pub fields: Map<String, Value>,
}

impl Quorum {
    /// Every provider there is, usable here or not: the catalogue's, and the user's own.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderEntry> {
        if self.0.setup.providers.is_empty() {
            return catalog::rows().iter().map(|row| self.unset(row)).collect();
        }
        self.0.setup.providers.iter().map(|it| self.entry(it)).collect()
    }

    /// The presets of the configuration. What is about showing the result on a terminal is left out.
    #[must_use]
    pub fn presets(&self) -> Vec<PresetEntry> {
        let (written, flags) = (self.config().given(), flags::all(self.registry()));
        let fields_of = |name: &str| {
            let section = format!("presets.{name}");
            let of_it = written.iter().filter(move |it| it.section == section);
            let field = |it: &crate::config::Given| {
                let flag = flags.iter().find(|flag| flag.long == it.key)?;
                let value = flag.read(serde_json::to_value(&it.value).ok()?).ok()?;
                Some((flag.field.to_string(), value))
            };
            of_it.filter_map(field).collect()
        };
        let names = self.config().presets();
        names.map(|name| PresetEntry { name: name.to_owned(), fields: fields_of(name) }).collect()
    }

    fn entry(&self, provider: &Provider) -> ProviderEntry {
        let model = |name: &String| model(name, provider.facts(name));
        ProviderEntry {
            name: provider.name.clone(),
            aliases: provider.aliases.clone(),
            strengths: provider.strengths.clone(),
            window: provider.facts(&provider.model).window,
            available: self.0.setting.available.contains(&provider.name),
            lacks: provider.missing().map(Missing::to_string),
            model: Some(provider.model.clone()).filter(|it| !it.is_empty()),
            models: provider.listed.iter().map(model).collect(),
        }
    }

    /// Where nothing was set up, the catalogue is all there is.
    fn unset(&self, row: &catalog::Row) -> ProviderEntry {
        let price = row.price.map(PriceEntry::from);
        let usual = |name: &String| ModelEntry { name: name.clone(), window: row.window, price };
        ProviderEntry {
            name: row.name.clone(),
            aliases: row.aliases.clone(),
            strengths: row.strengths.clone(),
            window: row.window,
            available: self.0.setting.available.contains(&row.name),
            lacks: None,
            model: row.model.clone(),
            models: row.model.iter().map(usual).collect(),
        }
    }
}

fn model(name: &str, facts: Facts) -> ModelEntry {
    ModelEntry { name: name.to_owned(), window: facts.window, price: facts.price.map(PriceEntry::from) }
}

impl From<Price> for PriceEntry {
    fn from(price: Price) -> Self {
        PriceEntry {
            input: price.input.dollars(),
            output: price.output.dollars(),
            cached: price.cached.map(|it| it.dollars()),
        }
    }
}
