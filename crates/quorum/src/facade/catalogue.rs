//! Lists the choices of an order: providers, presets, and all that the registry declares. No entry
//! reveals a path of this machine.

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
    setup::{Missing, ModelInfo, Provider},
};

/// A provider in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// The name used in results.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// What it is good at, best first.
    pub strengths: Vec<String>,
    /// The context window, in tokens.
    pub window: u64,
    /// Whether a real voice is available.
    pub available: bool,
    /// What is missing if it is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// The default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The known models, the default first.
    pub models: Vec<ModelEntry>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    /// The provider's name for it.
    pub name: String,
    /// The context window, in tokens.
    pub window: u64,
    /// The price, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceEntry>,
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceEntry {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Cached input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input tokens that are written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<f64>,
}

/// A preset.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetEntry {
    /// The name used in requests.
    pub name: String,
    /// The request fields it fills if they are left out.
    pub fields: Map<String, Value>,
}

/// A pattern with everything it declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PatternEntry {
    /// The name in requests.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The questions it suits; empty if the pattern doesn't say.
    pub suits: &'static str,
    /// A sketch of it: a string for each moment with a digit for each seat that speaks then, and
    /// `*` for the decision.
    pub sketch: &'static [&'static str],
    /// The defaults for this pattern.
    pub usual: DefaultsEntry,
    /// The options it reads.
    pub options: Vec<OptionEntry>,
    /// The roles it distinguishes.
    pub roles: Vec<NamedEntry>,
    /// The structured replies it asks for.
    pub forms: Vec<FormEntry>,
    /// The fields it adds to the result.
    pub results: Vec<ResultEntry>,
    /// The reasons for which the pattern itself may end the discussion.
    pub endings: Vec<NamedEntry>,
    /// The decisions it may ask people for.
    pub rulings: Vec<RulingEntry>,
}

/// The defaults for a pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefaultsEntry {
    /// The number of rounds.
    pub rounds: u32,
    /// The consensus method.
    pub consensus: &'static str,
    /// The minimum and maximum number of participants.
    pub seats: (usize, usize),
}

/// A name with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NamedEntry {
    /// The name.
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

/// An option, described so that a form can draw it and a program can check it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionEntry {
    /// The name in requests.
    pub name: &'static str,
    /// The flag without its dashes.
    pub flag: String,
    /// One line about it.
    pub summary: &'static str,
    /// The type of its value: `flag`, `whole`, `number`, `text`, `choice`, `detectors`, `seat`,
    /// `seats`, `texts`, `embedder`, `rows` or `textsBySeat`.
    pub kind: &'static str,
    /// Whether it is offered on every surface, or only in requests.
    pub on_surfaces: bool,
    /// The placeholder for a value in help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// The names to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<NamedEntry>,
    /// The cells of a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellEntry>,
    /// The JSON schema of a value.
    pub schema: Value,
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellEntry {
    /// Its key in the JSON.
    pub name: &'static str,
    /// The type of its value: `seat`, `text` or `texts`.
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
    /// The choices.
    pub choices: Vec<RulingChoiceEntry>,
}

/// One choice of a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RulingChoiceEntry {
    /// The name in requests.
    pub name: &'static str,
    /// The effect of this choice.
    pub summary: &'static str,
    /// Whether the choice names one of the candidates.
    pub takes_candidate: bool,
}

impl Quorum {
    /// The registered patterns, the default first.
    #[must_use]
    pub fn patterns(&self) -> Vec<PatternEntry> {
        self.registry().patterns().iter().map(|it| self.pattern_entry(it)).collect()
    }

    /// The registered consensus methods, the default first.
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

    /// The registered context strategies, the default first.
    #[must_use]
    pub fn window_strategies(&self) -> Vec<StrategyEntry> {
        let entry = |it: &&ContextStrategy| StrategyEntry {
            name: it.name,
            summary: it.summary,
            options: self.option_entries(it.options),
        };
        self.registry().strategies().iter().map(entry).collect()
    }

    /// The registered detectors.
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
            suits: pattern.suits,
            sketch: pattern.sketch,
            usual: self.defaults(pattern),
            options: self.option_entries(pattern.options),
            roles: pattern.roles.iter().map(|it| named(it.name, it.summary)).collect(),
            forms: forms(pattern.forms),
            results: results(pattern.results),
            endings: pattern.ends.iter().map(|it| named(it.name, it.summary)).collect(),
            rulings: pattern.rulings.iter().map(ruling).collect(),
        }
    }

    fn defaults(&self, pattern: &Pattern) -> DefaultsEntry {
        let registry::Defaults { rounds, method, seats, .. } = pattern.defaults;
        let first = || self.registry().methods().first().map_or("", |it| it.name);
        let consensus = if method.is_empty() { first() } else { method };
        DefaultsEntry { rounds, consensus, seats }
    }

    fn option_entries(&self, options: registry::Options) -> Vec<OptionEntry> {
        let detectors: Vec<&str> = self.registry().detectors().iter().map(|it| it.name).collect();
        options.iter().map(|it| option(it.declared(), &detectors)).collect()
    }

    /// All known providers, available here or not: the catalogue's and the user's own.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderEntry> {
        if self.0.setup.providers.is_empty() {
            return catalog::rows().iter().map(|row| self.unset(row)).collect();
        }
        self.0.setup.providers.iter().map(|it| self.entry(it)).collect()
    }

    /// The presets of the configuration, without their terminal output flags.
    #[must_use]
    pub fn presets(&self) -> Vec<PresetEntry> {
        let (written, flags) = (self.config().given(), flags::all(self.registry()));
        let fields_of = |name: &str| {
            let section = format!("presets.{name}");
            let of_it = written.iter().filter(move |it| it.section == section);
            let field = |it: &crate::config::EffectiveValue| {
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
        let model = |name: &String| model(name, provider.model_info(name));
        ProviderEntry {
            name: provider.name.clone(),
            aliases: provider.aliases.clone(),
            strengths: provider.strengths.clone(),
            window: provider.model_info(&provider.model).window,
            available: self.0.setting.available.contains(&provider.name),
            lacks: provider.missing().map(Missing::to_string),
            model: Some(provider.model.clone()).filter(|it| !it.is_empty()),
            models: provider.listed.iter().map(model).collect(),
        }
    }

    /// The entry of a provider that is in the catalogue only, with nothing set up for it.
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
        Kind::Seats { .. } => "seats",
        Kind::Texts { .. } => "texts",
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

fn model(name: &str, facts: ModelInfo) -> ModelEntry {
    ModelEntry { name: name.to_owned(), window: facts.window, price: facts.price.map(PriceEntry::from) }
}

impl From<Price> for PriceEntry {
    fn from(price: Price) -> Self {
        PriceEntry {
            input: price.input.dollars(),
            output: price.output.dollars(),
            cached: price.cached.map(|it| it.dollars()),
            written: price.written.map(|it| it.dollars()),
        }
    }
}
