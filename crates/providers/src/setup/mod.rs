//! From what the user has set up to providers that can be asked: catalogue, configuration, environment, keys and prices.
//!
//! # Layout
//!
//! - [`own`](Own): what the configuration says of a provider.
//! - `plan`: the catalogue's row with the user's in its place.
//! - [`address`]: which addresses may be asked.
//! - `machine`: variables, programs, ports and local servers, as a seam.
//! - `served`: which models a local server has.
//! - `way`: how a provider is reached, or what is missing.

pub mod address;
mod machine;
mod own;
mod plan;
mod served;
#[cfg(test)]
mod tests;
mod way;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use quorum_core::{
    call::lane::Width,
    model::money::{Price, Usd},
};

pub use machine::Machine;
pub use own::{Own, OwnModel, OwnQuirks};
pub use way::{Missing, file_name};

use crate::{
    catalog,
    command::{self, supervisor::Supervisor},
    keys::Keys,
    prices::Prices,
    setup::plan::Plan,
    source::{Facts, Patience, Program, Source, Way},
    wire::{Quirks, Schema},
};

/// Every provider that is known, in the catalogue's order and then the user's own, and how each can be used here.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// All of them.
    pub providers: Vec<Provider>,
}

/// What the user has given.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The configuration's rows.
    pub own: &'a [Own],
    /// The keys in our file; those of the environment come first.
    pub keys: &'a Keys,
    /// Prices that were imported.
    pub prices: &'a Prices,
}

/// A provider as it stands on this machine.
#[derive(Debug, Clone)]
pub struct Provider {
    /// What results call it.
    pub name: String,
    /// What else people call it.
    pub aliases: Vec<String>,
    /// What it is good at, best first.
    pub strengths: Vec<String>,
    /// The model that answers where none is named; empty where its program or the user has to choose.
    pub model: String,
    /// The models that the catalogue, the configuration and a local server tell of, the usual one first.
    pub listed: Vec<String>,
    /// Different models that discuss where no other vendor can be asked.
    pub panel: Vec<String>,
    /// What holds for models nothing else is known of.
    pub usual: Facts,
    /// What is known of single models, imported prices among it.
    pub models: BTreeMap<String, Facts>,
    /// How much may be asked of it at once.
    pub width: Width,
    /// How long its silence is borne.
    pub patience: Patience,
    /// The variables a key is looked for in.
    pub key_names: Vec<String>,
    /// Where its key comes from, where it has one.
    pub key: Option<KeyFrom>,
    /// How it is reached, or why it can't be.
    pub way: Result<Way, Missing>,
}

/// Where a key comes from: the variable's name, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFrom {
    /// From the environment.
    Environment(String),
    /// From our file of keys.
    File(String),
}

/// A program on this machine that answers for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Where the cost of its answers comes from.
    pub cost: CostSource,
}

/// Where the cost of a program's answers comes from. It is the price over the API in any case, which a
/// subscription may not charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// The program tells it with each answer.
    Program,
    /// It is calculated from the prices of the model.
    Prices,
    /// There is none.
    Unknown,
}

impl Setup {
    /// What can be made of what the user has given and the machine says.
    #[must_use]
    pub fn of(given: &Given<'_>, machine: &Machine<'_>) -> Setup {
        let own = |name: &str| given.own.iter().find(|own| own.name == name);
        let known = catalog::rows().iter().map(|row| Plan { row: Some(row), own: own(&row.name) });
        let new = given.own.iter().filter(|own| catalog::row(&own.name).is_none());
        let new = new.map(|own| Plan { row: None, own: Some(own) });
        let plans: Vec<Plan<'_>> = known.chain(new).collect();
        let elsewhere: Vec<Option<Provider>> = plans
            .iter()
            .map(|it| (!it.is_local()).then(|| provider(it, given, machine, Ask::Nobody)))
            .collect();
        // Asking a server takes time, and its models fill a panel only where others don't.
        let there: Vec<&Provider> = elsewhere.iter().flatten().filter(|it| it.way.is_ok()).collect();
        let ask = if are_one_vendor(&there) { Ask::LocalServer } else { Ask::Nobody };
        let providers = plans.iter().zip(elsewhere);
        let found = providers.map(|(plan, it)| it.unwrap_or_else(|| provider(plan, given, machine, ask)));
        Setup { providers: found.collect() }
    }

    /// The provider whose models fill a panel by themselves, where no other vendor can be asked.
    #[must_use]
    pub fn sole_vendor(&self) -> Option<&Provider> {
        let there: Vec<&Provider> = self.providers.iter().filter(|it| it.way.is_ok()).collect();
        if are_one_vendor(&there) { there.first().copied() } else { None }
    }

    /// The same, with a supervisor for every program that answers: it ends the program when this process dies. Without one, a
    /// `kill -9` of this process leaves programs running until the next one is started.
    #[must_use]
    pub fn supervised_by(mut self, supervisor: &Supervisor) -> Setup {
        for provider in &mut self.providers {
            if let Ok(Way::Command(program)) = &mut provider.way {
                program.supervisor = Some(supervisor.clone());
            }
        }
        self
    }

    /// Those that can be asked.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        self.providers.iter().filter_map(Provider::source).collect()
    }

    /// The one of this name or alias, however it is capitalised.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        let is = |it: &String| it.eq_ignore_ascii_case(name);
        self.providers.iter().find(|it| is(&it.name) || it.aliases.iter().any(is))
    }
}

impl Provider {
    /// The same, ready to be asked; `None` where it can't be.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        Some(Source {
            name: self.name.clone(),
            way: self.way.clone().ok()?,
            model: self.model.clone(),
            usual: self.usual,
            models: self.models.clone(),
            width: self.width,
            patience: self.patience,
        })
    }

    /// What it lacks; `None` where it can be asked.
    #[must_use]
    pub fn missing(&self) -> Option<&Missing> {
        self.way.as_ref().err()
    }

    /// The program that answers; `None` where no program does.
    #[must_use]
    pub fn program(&self) -> Option<LocalProgram> {
        let Ok(Way::Command(program)) = &self.way else { return None };
        Some(self.local_program(program))
    }

    /// What is to be known of the program that answers for it.
    #[must_use]
    pub fn local_program(&self, program: &Program) -> LocalProgram {
        let tells_cost = command::dialect(&program.dialect).is_some_and(|it| it.tells_cost);
        let cost = match (tells_cost, self.facts(&self.model).price) {
            (true, _) => CostSource::Program,
            (false, Some(_)) => CostSource::Prices,
            (false, None) => CostSource::Unknown,
        };
        LocalProgram { path: program.path.clone(), cost }
    }

    /// What is known of one of its models.
    #[must_use]
    pub fn facts(&self, model: &str) -> Facts {
        self.models.get(model).copied().unwrap_or(self.usual)
    }
}

/// Which server is asked for its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Nobody,
    LocalServer,
}

/// Whether all of these take the same key, as one vendor's do. Nobody is one vendor, too.
fn are_one_vendor(there: &[&Provider]) -> bool {
    let Some((first, rest)) = there.split_first() else { return true };
    rest.iter().all(|it| it.key_names.iter().any(|name| first.key_names.contains(name)))
}

fn provider(plan: &Plan<'_>, given: &Given<'_>, machine: &Machine<'_>, ask: Ask) -> Provider {
    let (way, key) = way::found(plan, given.keys, machine);
    let served = match &way {
        Ok(Way::Http(endpoint)) if ask == Ask::LocalServer => (machine.models)(endpoint),
        Ok(_) | Err(_) => Vec::new(),
    };
    let fitting = |facts: Facts| fitting(facts, way.as_ref().ok(), plan);
    let models: BTreeMap<String, Facts> =
        plan.models(given.prices).into_iter().map(|(name, facts)| (name, fitting(facts))).collect();
    let usual = fitting(plan.usual());
    let usual = Facts { price: usual.price.or_else(|| ceiling(way.as_ref().ok(), &models)), ..usual };
    let model = match &way {
        // A program has a model of its own choice.
        Ok(Way::Command(_)) => plan.own.and_then(|own| own.model.clone()).unwrap_or_default(),
        Ok(Way::Http(_)) | Err(_) => plan.model_among(&served).unwrap_or_default(),
    };
    // A server whose models nobody knows can't be asked for one.
    let way = way.and_then(|way| match &way {
        Way::Http(_) if model.is_empty() => Err(Missing::Model),
        Way::Http(_) | Way::Command(_) => Ok(way),
    });
    Provider {
        name: plan.name().to_owned(),
        aliases: plan.row.map(|row| row.aliases.clone()).unwrap_or_default(),
        strengths: plan.strengths(),
        listed: listed(&model, plan.listed().into_iter().chain(served.iter().cloned()).collect()),
        panel: plan.panel(way.as_ref().ok(), &served),
        model,
        usual,
        models,
        width: plan.width(),
        patience: plan.patience(),
        key_names: plan.key_names(),
        key,
        way,
    }
}

/// The highest price of a provider's models, for a program that chooses one of them itself and tells what it cost afterwards: so
/// much is reserved before a call, and what is told then counts.
fn ceiling(way: Option<&Way>, models: &BTreeMap<String, Facts>) -> Option<Price> {
    let Some(Way::Command(program)) = way else { return None };
    let prices = || models.values().filter_map(|facts| facts.price);
    let highest = |of: fn(&Price) -> Usd| prices().map(|price| of(&price)).max();
    command::dialect(&program.dialect).filter(|it| it.tells_cost)?;
    Some(Price::new(highest(|it| it.input)?, highest(|it| it.output)?))
}

/// Google's `v1` knows neither a place for standing instructions nor tools nor forms, and refuses what it doesn't know.
fn fitting(facts: Facts, way: Option<&Way>, plan: &Plan<'_>) -> Facts {
    let is_older = |way: &Way| match way {
        Way::Http(endpoint) => endpoint.wire.name == "gemini" && endpoint.base.path().ends_with("/v1"),
        Way::Command(_) => false,
    };
    if !way.is_some_and(is_older) {
        return facts;
    }
    let quirks = Quirks { system: false, tools: false, schema: Schema::Prompt, ..facts.quirks };
    Facts { quirks: plan.own.map_or(quirks, |own| own.quirks.over(quirks)), ..facts }
}

fn listed(first: &str, all: BTreeSet<String>) -> Vec<String> {
    let first = Some(first.to_owned()).filter(|it| !it.is_empty());
    let others = all.into_iter().filter(|it| Some(it) != first.as_ref()).collect::<Vec<_>>();
    first.clone().into_iter().chain(others).collect()
}
