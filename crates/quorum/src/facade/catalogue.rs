//! What there is to choose from: providers, orders with a name, and what the registry declares. None of
//! it tells where things lie on this machine.

use quorum_core::{
    model::money::Price,
    registry::{self, Consensus, ContextStrategy, Pattern},
    vocabulary::{
        form::Form,
        option::{Choice, Declared, Kind, RowCell, RowCellKind},
        result::ResultField,
        ruling::RulingKind,
        view::View,
    },
};
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

/// A pattern with everything it declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PatternEntry {
    /// The name in requests.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// What holds where an order says nothing.
    pub usual: UsualEntry,
    /// The options it reads.
    pub options: Vec<OptionEntry>,
    /// The roles it tells apart.
    pub roles: Vec<NamedEntry>,
    /// The structured replies it asks for.
    pub forms: Vec<FormEntry>,
    /// The fields it adds to the result.
    pub results: Vec<ResultEntry>,
    /// The ways in which its talk may end by its own rules.
    pub endings: Vec<NamedEntry>,
    /// The decisions it may ask people for.
    pub rulings: Vec<RulingEntry>,
}

/// What holds where an order says nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsualEntry {
    /// How many rounds.
    pub rounds: u32,
    /// The consensus method.
    pub consensus: &'static str,
    /// The least and the most participants that an order may name.
    pub seats: (usize, usize),
}

/// A name with what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NamedEntry {
    /// What is written.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
}

/// A consensus method with everything it declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodEntry {
    /// The name in requests.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The options it reads.
    pub options: Vec<OptionEntry>,
    /// The structured replies it asks for.
    pub forms: Vec<FormEntry>,
    /// The fields it adds to the result.
    pub results: Vec<ResultEntry>,
}

/// A context strategy with the options it reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyEntry {
    /// The name in requests.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The options it reads.
    pub options: Vec<OptionEntry>,
}

/// An option as a form can draw it and a program can check it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionEntry {
    /// The name in requests.
    pub name: &'static str,
    /// The flag without its dashes.
    pub flag: String,
    /// One line about it.
    pub summary: &'static str,
    /// What may be written: `flag`, `whole`, `number`, `text`, `choice`, `detectors`, `seat`, `embedder`,
    /// `rows` or `textsBySeat`.
    pub kind: &'static str,
    /// Whether it is offered everywhere, or only in requests.
    pub on_surfaces: bool,
    /// What stands for a value in help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// The names that may be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<NamedEntry>,
    /// The cells of a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellEntry>,
    /// The schema of a value.
    pub schema: Value,
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellEntry {
    /// Its key in the JSON.
    pub name: &'static str,
    /// What it holds: `seat`, `text` or `texts`.
    pub kind: &'static str,
    /// Whether every row must have it.
    pub required: bool,
}

/// A structured reply, and how it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FormEntry {
    /// The kind in the record.
    pub kind: &'static str,
    /// How a recorded value is drawn.
    pub view: View,
}

/// A field of the result document, and how it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultEntry {
    /// The name in the JSON.
    pub name: &'static str,
    /// The heading people read.
    pub title: &'static str,
    /// How it is drawn.
    pub view: View,
}

/// A kind of decision that people may be asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulingEntry {
    /// The name in requests.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// What may be decided.
    pub choices: Vec<RulingChoiceEntry>,
}

/// One thing that may be decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RulingChoiceEntry {
    /// The name in requests.
    pub name: &'static str,
    /// What follows from it.
    pub summary: &'static str,
    /// Whether it names one of the candidates.
    pub takes_candidate: bool,
}

impl Quorum {
    /// The patterns there are, the default first.
    #[must_use]
    pub fn patterns(&self) -> Vec<PatternEntry> {
        self.registry().patterns().iter().map(|it| self.pattern_entry(it)).collect()
    }

    /// The consensus methods there are, the default first.
    #[must_use]
    pub fn methods(&self) -> Vec<MethodEntry> {
        let entry = |it: &&Consensus| MethodEntry {
            name: it.name,
            summary: it.summary,
            options: self.option_entries(it.options),
            forms: forms(it.forms),
            results: results(it.results),
        };
        self.registry().methods().iter().map(entry).collect()
    }

    /// The context strategies there are, the default first.
    #[must_use]
    pub fn window_strategies(&self) -> Vec<StrategyEntry> {
        let entry = |it: &&ContextStrategy| StrategyEntry {
            name: it.name,
            summary: it.summary,
            options: self.option_entries(it.options),
        };
        self.registry().strategies().iter().map(entry).collect()
    }

    /// The detectors there are.
    #[must_use]
    pub fn detectors(&self) -> Vec<NamedEntry> {
        let detectors = self.registry().detectors().iter();
        detectors.map(|it| NamedEntry { name: it.name, summary: it.summary }).collect()
    }

    fn pattern_entry(&self, pattern: &Pattern) -> PatternEntry {
        let named = |name, summary| NamedEntry { name, summary };
        PatternEntry {
            name: pattern.name,
            summary: pattern.summary,
            usual: self.usual(pattern),
            options: self.option_entries(pattern.options),
            roles: pattern.roles.iter().map(|it| named(it.name, it.summary)).collect(),
            forms: forms(pattern.forms),
            results: results(pattern.results),
            endings: pattern.ends.iter().map(|it| named(it.name, it.summary)).collect(),
            rulings: pattern.rulings.iter().map(ruling).collect(),
        }
    }

    fn usual(&self, pattern: &Pattern) -> UsualEntry {
        let registry::Usual { rounds, method, seats, .. } = pattern.usual;
        let first = || self.registry().methods().first().map_or("", |it| it.name);
        let consensus = if method.is_empty() { first() } else { method };
        UsualEntry { rounds, consensus, seats }
    }

    fn option_entries(&self, options: registry::Options) -> Vec<OptionEntry> {
        let detectors: Vec<&str> = self.registry().detectors().iter().map(|it| it.name).collect();
        options.iter().map(|it| option(it.declared(), &detectors)).collect()
    }

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

fn option(declared: &Declared, detectors: &[&str]) -> OptionEntry {
    let hint = match declared.kind {
        Kind::Text { hint, .. } => Some(hint),
        _ => None,
    };
    OptionEntry {
        name: declared.name,
        flag: flags::Flag::of(declared).long.into_owned(),
        summary: declared.summary,
        kind: kind(&declared.kind),
        on_surfaces: declared.on_surfaces,
        hint,
        choices: choices(&declared.kind),
        cells: cells(&declared.kind),
        schema: declared.schema(detectors),
    }
}

fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Flag { .. } => "flag",
        Kind::Whole { .. } => "whole",
        Kind::Number { .. } => "number",
        Kind::Text { .. } => "text",
        Kind::Choice { .. } => "choice",
        Kind::Detectors => "detectors",
        Kind::Seat { .. } => "seat",
        Kind::Embedder => "embedder",
        Kind::Rows { .. } => "rows",
        Kind::TextsBySeat { .. } => "textsBySeat",
    }
}

fn choices(kind: &Kind) -> Vec<NamedEntry> {
    let entry = |it: &Choice| NamedEntry { name: it.name, summary: it.summary };
    match kind {
        Kind::Choice { of, .. } => of.iter().map(entry).collect(),
        _ => Vec::new(),
    }
}

fn cells(kind: &Kind) -> Vec<CellEntry> {
    let entry = |cell: &RowCell| {
        let kind = match cell.kind {
            RowCellKind::Seat => "seat",
            RowCellKind::Text => "text",
            RowCellKind::Texts => "texts",
        };
        CellEntry { name: cell.name, kind, required: cell.required }
    };
    match kind {
        Kind::Rows { cells, .. } => cells.iter().map(entry).collect(),
        _ => Vec::new(),
    }
}

fn forms(forms: &[&Form]) -> Vec<FormEntry> {
    forms.iter().map(|it| FormEntry { kind: it.kind, view: it.view }).collect()
}

fn results(results: &[ResultField]) -> Vec<ResultEntry> {
    results.iter().map(|it| ResultEntry { name: it.name, title: it.title, view: it.view }).collect()
}

fn ruling(kind: &RulingKind) -> RulingEntry {
    let choice = |it: &quorum_core::vocabulary::ruling::RulingChoice| RulingChoiceEntry {
        name: it.name,
        summary: it.summary,
        takes_candidate: it.takes_candidate,
    };
    let choices = kind.choices.iter().map(choice).collect();
    RulingEntry { name: kind.name, summary: kind.summary, choices }
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
