//! Loads the user's setup from their files and this machine.

use std::collections::BTreeMap;

use quorum_providers::{catalog, setup::SetupInput};
pub use quorum_providers::{
    command::supervisor,
    keys::{self, Keys, SecretString},
    prices::{self, Prices},
    setup::{
        CostSource, KeyFrom, LocalProgram, Machine, Missing, Provider, Setup, address::Wrong as BadAddress,
        file_name,
    },
    source::{ModelInfo, Transport},
};

use crate::{
    Config,
    config::{Error, nearest},
    request::{Setting, SoleVendor},
};

/// Reads keys and prices, and detects the rest on the machine. In a program that called
/// [`supervisor::serve`], local programs are ended when it dies.
pub fn load(config: &Config, machine: &Machine<'_>) -> Result<Setup, Error> {
    let keys = Keys::load(&config.keys_file()).map_err(Error::Keys)?;
    let prices = Prices::load(&config.prices_file()).map_err(Error::Prices)?;
    let setup =
        Setup::of(&SetupInput { overrides: &config.providers, keys: &keys, prices: &prices }, machine);
    Ok(match supervisor::Supervisor::this_program() {
        Some(supervisor) => setup.supervised_by(&supervisor),
        None => setup,
    })
}

/// Why a key can't be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoKeyName {
    /// The provider needs no key.
    #[error("{0} needs no key")]
    NotNeeded(String),
    /// No provider has this name.
    #[error("there is no provider named {given}")]
    Unknown {
        /// The given name.
        given: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
}

/// The variable under which a provider's key is stored, given the provider's name or one of its
/// variables.
pub fn key_name(setup: &Setup, given: &str) -> Result<String, NoKeyName> {
    let by_variable = setup.providers.iter().flat_map(|it| &it.key_names).find(|it| *it == given);
    let by_name = || setup.provider(given).and_then(|it| it.key_names.first());
    if let Some(name) = by_variable.or_else(by_name) {
        return Ok(name.clone());
    }
    if setup.provider(given).is_some() {
        return Err(NoKeyName::NotNeeded(given.to_owned()));
    }
    let known = setup.providers.iter().map(|it| it.name.as_str());
    let nearest = nearest(given, known).map(str::to_owned);
    Err(NoKeyName::Unknown { given: given.to_owned(), nearest })
}

impl Setting {
    /// The setting that requests are checked against with this setup.
    #[must_use]
    pub fn of(setup: &Setup) -> Setting {
        let there = setup.providers.iter().filter(|it| it.transport.is_ok());
        let lacking = setup.providers.iter().filter_map(|it| Some((it.name.clone(), it.missing()?.clone())));
        let differs = |it: &&Provider| catalog::row(&it.name).is_none_or(|row| row.strengths != it.strengths);
        let strengths = setup.providers.iter().filter(differs);
        let strengths: BTreeMap<_, _> = strengths.map(|it| (it.name.clone(), it.strengths.clone())).collect();
        let available = there.map(|it| it.name.clone()).collect();
        let sole_vendor = setup.sole_vendor().map(|it| SoleVendor {
            provider: it.name.clone(),
            models: it.panel.clone(),
            is_program: it.program().is_some(),
        });
        let same_vendor = same_vendor(setup);
        let lacking = lacking.collect();
        Setting { available, sole_vendor, same_vendor, lacking, strengths, ..Setting::default() }
    }
}

/// The available providers that take the same key as one before them, and the first such one.
fn same_vendor(setup: &Setup) -> BTreeMap<String, String> {
    let there: Vec<&Provider> = setup.providers.iter().filter(|it| it.transport.is_ok()).collect();
    let first = |(place, it): (usize, &&Provider)| {
        let first = there[..place].iter().find(|other| other.shares_a_key(it))?;
        Some((it.name.clone(), first.name.clone()))
    };
    there.iter().enumerate().filter_map(first).collect()
}
