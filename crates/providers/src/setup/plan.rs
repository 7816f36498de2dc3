//! The catalogue's row with the user's overrides applied, before the machine is examined.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::{
    call::lane::Width,
    model::money::{Price, Usd},
};

use crate::{
    catalog::Row,
    health::ANY_MODEL,
    prices::Prices,
    setup::{Overrides, address::is_this_machine},
    source::{ModelInfo, Timeouts, Transport},
    wire::Quirks,
};

/// The context window of an unknown model.
const WINDOW: u64 = 32_000;

/// Concurrent calls of a provider that only the user defines: a remote one, and one on this
/// machine, which has a single model loaded.
const CONCURRENCY: usize = 4;
const LOCAL_CONCURRENCY: usize = 1;

/// How many models of one vendor discuss at most.
const LARGEST_PANEL: usize = 4;

const FREE: Price = Price::new(Usd::ZERO, Usd::ZERO);

/// The catalogue's row and the user's overrides of one provider. At least one of them is there.
pub(super) struct Plan<'a> {
    pub(super) row: Option<&'static Row>,
    pub(super) overrides: Option<&'a Overrides>,
}

impl Plan<'_> {
    pub(super) fn name(&self) -> &str {
        self.of(|it| Some(&it.name), |row| Some(&row.name)).map(String::as_str).unwrap_or_default()
    }

    pub(super) fn wire(&self) -> Option<&str> {
        self.of(|it| it.wire.as_ref(), |row| Some(&row.wire)).map(String::as_str)
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.of(|it| it.model.as_ref(), |row| row.model.as_ref()).map(String::as_str)
    }

    /// The model that answers if none is named: the default one, unless the server has others.
    pub(super) fn model_among(&self, served: &[String]) -> Option<String> {
        let configured = self.overrides.and_then(|it| it.model.clone());
        let usual = || self.model().map(str::to_owned);
        let is_served = |model: &str| {
            model == ANY_MODEL || served.iter().any(|it| it.split(':').next() == Some(model) || it == model)
        };
        match served.first() {
            Some(first) if !self.model().is_some_and(is_served) => configured.or_else(|| Some(first.clone())),
            Some(_) | None => configured.or_else(usual),
        }
    }

    /// Different models that discuss where no other vendor is available: those the server has, or
    /// those of the user and of the catalogue. A program has one model, which it chooses itself.
    pub(super) fn panel(&self, transport: Option<&Transport>, served: &[String]) -> Vec<String> {
        let configured = self.overrides.into_iter().flat_map(|it| it.model.iter().chain(it.models.keys()));
        // The catalogue's models are at the vendor's; an address of the user's own may have others.
        let is_elsewhere = self.overrides.is_some_and(|it| it.base_url.is_some());
        let is_vendors = matches!(transport, Some(Transport::Http(_))) && !is_elsewhere;
        let of_row = self.row.filter(|_| is_vendors).into_iter().flat_map(|row| &row.panel);
        let mut panel: Vec<String> = Vec::new();
        for model in configured.chain(of_row).chain(served) {
            if panel.len() < LARGEST_PANEL && !panel.contains(model) {
                panel.push(model.clone());
            }
        }
        panel
    }

    pub(super) fn strengths(&self) -> Vec<String> {
        self.of(|it| it.strengths.as_ref(), |row| Some(&row.strengths)).cloned().unwrap_or_default()
    }

    /// The variables that may hold its key. For a provider that only the user defines, the default
    /// is derived from its name.
    pub(super) fn key_names(&self) -> Vec<String> {
        let said = self.of(|it| it.key_env.as_ref(), |row| Some(&row.key_env)).cloned();
        said.unwrap_or_else(|| vec![key_name(self.name())])
    }

    /// Whether it needs a key. A provider that only the user defines does only if its configuration
    /// names a variable.
    pub(super) fn needs_key(&self) -> bool {
        let said = self.of(|it| it.key_env.as_ref(), |row| Some(&row.key_env));
        said.is_some_and(|names| !names.is_empty())
    }

    pub(super) fn is_local(&self) -> bool {
        self.row.is_some_and(|row| row.local)
    }

    pub(super) fn width(&self) -> Width {
        let is_here = self.overrides.and_then(|it| it.base_url.as_ref()).is_some_and(is_this_machine);
        let of_own = if is_here { LOCAL_CONCURRENCY } else { CONCURRENCY };
        let usual = self.row.map_or(of_own, |row| row.concurrency);
        Width {
            concurrency: self.overrides.and_then(|it| it.concurrency).unwrap_or(usual),
            per_minute: self.overrides.and_then(|it| it.requests_per_minute),
            tokens_per_minute: self.overrides.and_then(|it| it.tokens_per_minute),
        }
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        let usual = Timeouts::default();
        Timeouts {
            first_ms: self.overrides.and_then(|it| it.first_token_ms).unwrap_or(usual.first_ms),
            idle_ms: self.overrides.and_then(|it| it.idle_ms).unwrap_or(usual.idle_ms),
        }
    }

    /// The facts of models that are not listed. The default model's price does not apply to them.
    pub(super) fn usual(&self) -> ModelInfo {
        ModelInfo {
            window: self.of(|it| it.window.as_ref(), |row| Some(&row.window)).copied().unwrap_or(WINDOW),
            price: self.is_local().then_some(FREE),
            quirks: self.quirks(None),
        }
    }

    /// The models in the catalogue and the configuration.
    pub(super) fn listed(&self) -> BTreeSet<String> {
        let of_row = self.row.into_iter().flat_map(|row| row.models.keys().chain(&row.model));
        let of_own = self.overrides.into_iter().flat_map(|it| it.models.keys().chain(&it.model));
        of_row.chain(of_own).cloned().collect()
    }

    /// The facts of individual models: from the user, else from imported prices, else from the
    /// catalogue.
    pub(super) fn models(&self, prices: &Prices) -> BTreeMap<String, ModelInfo> {
        let table = self.row.and_then(|row| row.litellm.as_deref()).unwrap_or(self.name());
        let priced = prices.models(table).map(|(model, _)| model.clone());
        let all: BTreeSet<String> = self.listed().into_iter().chain(priced).collect();
        all.into_iter().map(|model| (model.clone(), self.model_info(&model, prices, table))).collect()
    }

    fn model_info(&self, model: &str, prices: &Prices, table: &str) -> ModelInfo {
        let single = self.overrides.and_then(|it| it.models.get(model)).copied().unwrap_or_default();
        let own_window = self.overrides.and_then(|it| it.window);
        let (window, price, quirks) = self.of_catalogue(model);
        let imported = prices.of(table, model);
        let usual = self.usual();
        ModelInfo {
            // The catalogue limits the window to where the price rises; a table may not.
            window: (single.window.or(own_window).or(window))
                .or(imported.and_then(|it| it.window))
                .unwrap_or(usual.window),
            price: single.price.or(imported.map(|it| it.price)).or(price).or(usual.price),
            quirks: self.quirks(quirks),
        }
    }

    /// The user's price for the default model: its own, else the provider's.
    pub(super) fn price_of_default(&self, model: &str) -> Option<Price> {
        let overrides = self.overrides?;
        overrides.models.get(model).and_then(|it| it.price).or(overrides.price)
    }

    fn of_catalogue(&self, model: &str) -> (Option<u64>, Option<Price>, Option<Quirks>) {
        let Some(row) = self.row else { return (None, None, None) };
        match row.models.get(model) {
            Some(known) => (Some(known.window), known.price, known.quirks),
            None if row.model.as_deref() == Some(model) => (Some(row.window), row.price, None),
            None => (None, None, None),
        }
    }

    fn quirks(&self, of_model: Option<Quirks>) -> Quirks {
        let of_row = self.row.map(|row| row.quirks).unwrap_or_default();
        let quirks = of_model.unwrap_or(of_row);
        self.overrides.map_or(quirks, |it| it.quirks.over(quirks))
    }

    /// The user's value, else the catalogue's.
    fn of<'s, T>(
        &'s self,
        overrides: impl FnOnce(&'s Overrides) -> Option<&'s T>,
        row: impl FnOnce(&'static Row) -> Option<&'static T>,
    ) -> Option<&'s T>
    where
        T: 'static,
    {
        self.overrides.and_then(overrides).or_else(|| self.row.and_then(row))
    }
}

/// `my-model` has `MY_MODEL_API_KEY`.
fn key_name(provider: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    format!("{}_API_KEY", provider.chars().map(plain).collect::<String>())
}
