//! Determines the available providers from catalogue, configuration, environment, keys and prices.
//!
//! # Layout
//!
//! - [`overrides`](Overrides): what the configuration says of a provider.
//! - `plan`: the catalogue's row with the user's overrides applied.
//! - [`address`]: checks base URLs.
//! - `machine`: variables, programs, ports and local servers, as a seam.
//! - `served`: the models that a local server has.
//! - `endpoint`: how a provider is reached, or what is missing.

pub mod address;
mod endpoint;
mod machine;
mod overrides;
mod plan;
mod served;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use quorum_core::{
    call::lane::Width,
    model::money::{Price, Usd},
};

pub use endpoint::{Missing, file_name};
pub use machine::Machine;
pub use overrides::{ModelOverrides, Overrides, QuirkOverrides};

use crate::{
    catalog,
    command::{self, supervisor::Supervisor},
    keys::Keys,
    prices::Prices,
    setup::plan::Plan,
    source::{ModelInfo, Program, Source, Timeouts, Transport},
    wire::{Quirks, Schema},
};

/// Every known provider, in the catalogue's order and then the user's own, and how each is reached
/// from here.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// All known providers.
    pub providers: Vec<Provider>,
}

/// The user's input to the setup.
#[derive(Debug, Clone, Copy)]
pub struct SetupInput<'a> {
    /// The providers in the configuration.
    pub overrides: &'a [Overrides],
    /// The stored keys; those in the environment take precedence.
    pub keys: &'a Keys,
    /// Imported prices.
    pub prices: &'a Prices,
}

/// A provider with its availability on this machine.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The name used in results.
    pub name: String,
    /// Other names people use for it.
    pub aliases: Vec<String>,
    /// Its strengths, best first.
    pub strengths: Vec<String>,
    /// The default model; empty where its program or the user has to choose.
    pub model: String,
    /// The models in the catalogue, the configuration and on a local server, the default one first.
    pub listed: Vec<String>,
    /// Different models that form the panel if no other vendor is available.
    pub panel: Vec<String>,
    /// The facts of models that are not in `models`.
    pub usual: ModelInfo,
    /// The facts of individual models, with imported prices.
    pub models: BTreeMap<String, ModelInfo>,
    /// The number of concurrent calls it accepts.
    pub width: Width,
    /// How long to wait for its output.
    pub timeouts: Timeouts,
    /// The variables that may hold its key.
    pub key_names: Vec<String>,
    /// Where its key comes from, if it has one.
    pub key: Option<KeyFrom>,
    /// How it is reached, or why it can't be.
    pub transport: Result<Transport, Missing>,
}

/// Where a key comes from: the variable's name, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFrom {
    /// From the environment.
    Environment(String),
    /// From the file of stored keys.
    File(String),
}

/// A program on this machine that answers for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalProgram {
    /// Its path.
    pub path: PathBuf,
    /// Where the cost of its answers comes from.
    pub cost: CostSource,
}

/// Where the cost of a program's answers comes from. In every case it is the price over the API,
/// which a subscription may not charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// The program reports it with each answer.
    Program,
    /// It is calculated from the model's price.
    Prices,
    /// It is unknown.
    Unknown,
}

impl Setup {
    /// Determines every provider's availability from the user's input and the machine.
    #[must_use]
    pub fn of(given: &SetupInput<'_>, machine: &Machine<'_>) -> Setup {
        let overrides_of = |name: &str| given.overrides.iter().find(|it| it.name == name);
        let known =
            catalog::rows().iter().map(|row| Plan { row: Some(row), overrides: overrides_of(&row.name) });
        let new = given.overrides.iter().filter(|it| catalog::row(&it.name).is_none());
        let new = new.map(|it| Plan { row: None, overrides: Some(it) });
        let plans: Vec<Plan<'_>> = known.chain(new).collect();
        let elsewhere: Vec<Option<Provider>> = plans
            .iter()
            .map(|it| (!it.is_local()).then(|| provider(it, given, machine, Ask::Nobody)))
            .collect();
        // Asking a server takes time, and its models fill a panel only where others don't.
        let there: Vec<&Provider> = elsewhere.iter().flatten().filter(|it| it.transport.is_ok()).collect();
        let ask = if are_one_vendor(&there) { Ask::LocalServer } else { Ask::Nobody };
        let providers = plans.iter().zip(elsewhere);
        let found = providers.map(|(plan, it)| it.unwrap_or_else(|| provider(plan, given, machine, ask)));
        Setup { providers: found.collect() }
    }

    /// The provider whose models fill a panel by themselves, where no other vendor is available.
    #[must_use]
    pub fn sole_vendor(&self) -> Option<&Provider> {
        let there: Vec<&Provider> = self.providers.iter().filter(|it| it.transport.is_ok()).collect();
        if are_one_vendor(&there) { there.first().copied() } else { None }
    }

    /// Gives every local program a supervisor, which ends the program when this process dies.
    /// Otherwise a `kill -9` of this process leaves programs running until the next one is started.
    #[must_use]
    pub fn supervised_by(mut self, supervisor: &Supervisor) -> Setup {
        for provider in &mut self.providers {
            if let Ok(Transport::Command(program)) = &mut provider.transport {
                program.supervisor = Some(supervisor.clone());
            }
        }
        self
    }

    /// The available providers.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        self.providers.iter().filter_map(Provider::source).collect()
    }

    /// The provider of this name or alias; case is ignored.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        let is = |it: &String| it.eq_ignore_ascii_case(name);
        self.providers.iter().find(|it| is(&it.name) || it.aliases.iter().any(is))
    }
}

impl Provider {
    /// The provider, ready for calls; `None` if it is not available.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        Some(Source {
            name: self.name.clone(),
            transport: self.transport.clone().ok()?,
            model: self.model.clone(),
            usual: self.usual,
            models: self.models.clone(),
            width: self.width,
            timeouts: self.timeouts,
        })
    }

    /// Why it is not available; `None` if it is.
    #[must_use]
    pub fn missing(&self) -> Option<&Missing> {
        self.transport.as_ref().err()
    }

    /// Whether both belong to one vendor, whose providers take the same key.
    #[must_use]
    pub fn shares_a_key(&self, other: &Provider) -> bool {
        self.key_names.iter().any(|name| other.key_names.contains(name))
    }

    /// The local program that answers; `None` if there is none.
    #[must_use]
    pub fn program(&self) -> Option<LocalProgram> {
        let Ok(Transport::Command(program)) = &self.transport else { return None };
        Some(self.local_program(program))
    }

    /// Details of the local program that answers for it.
    #[must_use]
    pub fn local_program(&self, program: &Program) -> LocalProgram {
        let tells_cost = command::dialect(&program.dialect).is_some_and(|it| it.tells_cost);
        let cost = match (tells_cost, self.model_info(&self.model).price) {
            (true, _) => CostSource::Program,
            (false, Some(_)) => CostSource::Prices,
            (false, None) => CostSource::Unknown,
        };
        LocalProgram { path: program.path.clone(), cost }
    }

    /// The facts of one of its models.
    #[must_use]
    pub fn model_info(&self, model: &str) -> ModelInfo {
        self.models.get(model).copied().unwrap_or(self.usual)
    }
}

/// Whether a server is asked for its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Nobody,
    LocalServer,
}

/// Whether all of these take the same key, as one vendor's do. True for none, too.
fn are_one_vendor(there: &[&Provider]) -> bool {
    let Some((first, rest)) = there.split_first() else { return true };
    rest.iter().all(|it| it.shares_a_key(first))
}

fn provider(plan: &Plan<'_>, given: &SetupInput<'_>, machine: &Machine<'_>, ask: Ask) -> Provider {
    let (transport, key) = endpoint::find(plan, given.keys, machine);
    let served = match &transport {
        Ok(Transport::Http(endpoint)) if ask == Ask::LocalServer => (machine.models)(endpoint),
        Ok(_) | Err(_) => Vec::new(),
    };
    let fitting = |info: ModelInfo| fitting(info, transport.as_ref().ok(), plan);
    let mut models: BTreeMap<String, ModelInfo> =
        plan.models(given.prices).into_iter().map(|(name, info)| (name, fitting(info))).collect();
    let usual = fitting(plan.usual());
    let mut usual =
        ModelInfo { price: usual.price.or_else(|| ceiling(transport.as_ref().ok(), &models)), ..usual };
    let model = match &transport {
        // A program chooses its own model.
        Ok(Transport::Command(_)) => plan.overrides.and_then(|it| it.model.clone()).unwrap_or_default(),
        Ok(Transport::Http(_)) | Err(_) => plan.model_among(&served).unwrap_or_default(),
    };
    if let Some(price) = plan.price_of_default(&model) {
        let of_default =
            if model.is_empty() { &mut usual } else { models.entry(model.clone()).or_insert(usual) };
        of_default.price = Some(price);
    }
    // A server whose models are unknown can't be asked for one.
    let transport = transport.and_then(|transport| match &transport {
        Transport::Http(_) if model.is_empty() => Err(Missing::Model),
        Transport::Http(_) | Transport::Command(_) => Ok(transport),
    });
    Provider {
        name: plan.name().to_owned(),
        aliases: plan.row.map(|row| row.aliases.clone()).unwrap_or_default(),
        strengths: plan.strengths(),
        listed: listed(&model, plan.listed().into_iter().chain(served.iter().cloned()).collect()),
        panel: plan.panel(transport.as_ref().ok(), &served),
        model,
        usual,
        models,
        width: plan.width(),
        timeouts: plan.timeouts(),
        key_names: plan.key_names(),
        key,
        transport,
    }
}

/// The highest price of a provider's models, for a program that chooses its model itself and
/// reports the cost afterwards. That much is reserved before a call; the reported cost counts.
fn ceiling(transport: Option<&Transport>, models: &BTreeMap<String, ModelInfo>) -> Option<Price> {
    let Some(Transport::Command(program)) = transport else { return None };
    let prices = || models.values().filter_map(|info| info.price);
    let highest = |of: fn(&Price) -> Usd| prices().map(|price| of(&price)).max();
    command::dialect(&program.dialect).filter(|it| it.tells_cost)?;
    let written = prices().filter_map(|it| it.written).max();
    Some(Price { written, ..Price::new(highest(|it| it.input)?, highest(|it| it.output)?) })
}

/// Google's `v1` API supports no system instructions, tools or schemas, and rejects unknown fields.
fn fitting(info: ModelInfo, transport: Option<&Transport>, plan: &Plan<'_>) -> ModelInfo {
    let is_older = |transport: &Transport| match transport {
        Transport::Http(endpoint) => endpoint.wire.name == "gemini" && endpoint.base.path().ends_with("/v1"),
        Transport::Command(_) => false,
    };
    if !transport.is_some_and(is_older) {
        return info;
    }
    let quirks = Quirks { system: false, tools: false, schema: Schema::Prompt, ..info.quirks };
    ModelInfo { quirks: plan.overrides.map_or(quirks, |it| it.quirks.over(quirks)), ..info }
}

fn listed(first: &str, all: BTreeSet<String>) -> Vec<String> {
    let first = Some(first.to_owned()).filter(|it| !it.is_empty());
    let others = all.into_iter().filter(|it| Some(it) != first.as_ref()).collect::<Vec<_>>();
    first.clone().into_iter().chain(others).collect()
}
