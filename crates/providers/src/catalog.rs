//! The catalogue of providers, read from `catalog.toml`: one row per provider.

use std::{collections::BTreeMap, sync::LazyLock};

use quorum_core::model::money::Price;
use serde::{Deserialize, Deserializer, de::Error};

use crate::{prices::Dollars, wire::Quirks};

/// The providers of a panel for which no participants were named.
pub const DEFAULT_PANEL: [&str; 4] = ["claude", "glm", "qwen", "gemini"];

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name used in results.
    pub name: String,
    /// Other names people use for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its strengths, best first.
    pub strengths: Vec<String>,
    /// The name of its wire format.
    pub wire: String,
    /// The base URL to which every path is appended.
    pub base_url: String,
    /// The variable by which the vendor's own clients override the base URL.
    pub base_url_env: BaseVariable,
    /// The variables that may hold its key, in order of precedence.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// The path that checks a key, for vendors whose list of models is public.
    pub key_path: Option<String>,
    /// Whether it runs on the user's own machine, so that it needs no key and costs nothing.
    #[serde(default)]
    pub local: bool,
    /// Whether an open port is enough to consider it available.
    #[serde(default)]
    pub listens: bool,
    /// The default model.
    pub model: Option<String>,
    /// Two to four different models that form the panel if no other vendor is available. A server
    /// on the user's own machine is asked for its models instead.
    #[serde(default)]
    pub panel: Vec<String>,
    /// The default model's context window in tokens.
    pub window: u64,
    /// The default model's price.
    #[serde(default, deserialize_with = "price")]
    pub price: Option<Price>,
    /// Deviations of its models from their wire's defaults.
    #[serde(default)]
    pub quirks: Quirks,
    /// The number of concurrent calls it accepts.
    pub concurrency: usize,
    /// Its name in litellm's price tables.
    pub litellm: Option<String>,
    /// The program that answers when there is no key.
    pub cli: Option<Cli>,
    /// Models other than the default one.
    #[serde(default)]
    pub models: BTreeMap<String, Model>,
}

/// An environment variable that holds a base URL.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseVariable {
    /// Its name.
    pub name: String,
    /// The path that the vendor's clients, and therefore we, append to its value.
    pub path: String,
}

/// A program that can answer for a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cli {
    /// Its name.
    pub program: String,
    /// The name of its dialect, which defines its arguments and its output format.
    pub dialect: String,
}

/// A provider's model other than the default one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its context window in tokens.
    pub window: u64,
    /// Its price.
    #[serde(default, deserialize_with = "price")]
    pub price: Option<Price>,
    /// Deviations from its wire's defaults; if none are given, those of the provider apply.
    pub quirks: Option<Quirks>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    provider: Vec<Row>,
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Price>, D::Error> {
    let price = Dollars::deserialize(deserializer)?.price();
    price.map(Some).ok_or_else(|| D::Error::custom("a price must be a USD amount of 0 or more"))
}

#[expect(clippy::expect_used, reason = "the file is part of the program and a test reads it")]
static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| toml::from_str(include_str!("../catalog.toml")).expect("catalog.toml is readable"));

/// All rows, in the file's order.
#[must_use]
pub fn rows() -> &'static [Row] {
    &CATALOG.provider
}

/// The row of that name or alias; case is ignored.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    let is = |it: &String| it.eq_ignore_ascii_case(name);
    rows().iter().find(|row| is(&row.name) || row.aliases.iter().any(is))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{command::dialect, setup::address, wire::wire};

    #[test]
    fn names_and_aliases_mean_one_row_each() {
        let all: Vec<&String> = rows().iter().flat_map(|row| row.aliases.iter().chain([&row.name])).collect();
        let different: BTreeSet<&&String> = all.iter().collect();
        assert_eq!(all.len(), different.len());
        assert!(rows().iter().all(|row| row.window > 0 && !row.strengths.is_empty()));
    }

    #[test]
    fn rows_are_found_by_alias() {
        let name = |asked: &str| row(asked).map(|row| row.name.as_str());
        assert_eq!(name("anthropic"), Some("claude"));
        assert_eq!(name("Google"), Some("gemini"));
        assert_eq!(name("nobody"), None);
    }

    #[test]
    fn the_default_panel_is_in_the_catalogue() {
        assert!(DEFAULT_PANEL.iter().all(|name| row(name).is_some()));
    }

    #[test]
    fn d14_every_provider_of_the_seeds_is_there_under_its_vendors_variables() {
        let keys = |name: &str| row(name).map(|row| row.key_env.join(" ")).unwrap_or_default();
        let expected = [
            ("claude", "ANTHROPIC_API_KEY"),
            ("openai", "OPENAI_API_KEY"),
            ("codex", "OPENAI_API_KEY"),
            ("gemini", "GOOGLE_API_KEY GEMINI_API_KEY"),
            ("mistral", "MISTRAL_API_KEY"),
            ("grok", "XAI_API_KEY"),
            ("glm", "ZAI_API_KEY ZHIPUAI_API_KEY"),
            ("qwen", "DASHSCOPE_API_KEY"),
            ("deepseek", "DEEPSEEK_API_KEY"),
            ("openrouter", "OPENROUTER_API_KEY"),
            ("groq", "GROQ_API_KEY"),
            ("ollama", ""),
            ("lmstudio", ""),
            ("vllm", ""),
            ("llamacpp", ""),
        ];
        assert_eq!(
            expected.map(|(name, _)| (name, keys(name))),
            expected.map(|(name, keys)| (name, keys.to_owned()))
        );
        assert_eq!(rows().len(), expected.len());
    }

    #[test]
    fn rows_name_known_wires_and_dialects_and_allowed_addresses() {
        for row in rows() {
            assert!(wire(&row.wire).is_some(), "{}", row.name);
            assert!(row.cli.iter().all(|cli| dialect(&cli.dialect).is_some()), "{}", row.name);
            assert!(address::checked(&row.base_url, address::Plain::Refused).is_ok(), "{}", row.name);
            assert_eq!(row.local, row.key_env.is_empty(), "{}", row.name);
            assert!(
                !row.local || row.concurrency == 1,
                "{}: a local machine has only one model loaded",
                row.name
            );
        }
    }

    #[test]
    fn one_key_is_enough_every_vendor_has_a_panel_of_two_to_four_different_models() {
        for row in rows().iter().filter(|it| !it.local) {
            let different: BTreeSet<&String> = row.panel.iter().collect();
            assert!((2..=4).contains(&different.len()), "{}", row.name);
            assert_eq!(different.len(), row.panel.len(), "{}", row.name);
            // A router's models are other vendors', so it lists none itself.
            let is_known = |it: &&String| row.models.contains_key(*it) || row.model.as_ref() == Some(it);
            let known = row.panel.iter().filter(is_known).count();
            assert_eq!(known, if row.name == "openrouter" { 0 } else { row.panel.len() }, "{}", row.name);
        }
        assert!(rows().iter().all(|row| !row.local || row.panel.is_empty()));
    }

    #[test]
    fn d14_the_guide_has_every_provider_with_its_variables() {
        let guide = include_str!("../../../docs/providers.md");
        for row in rows() {
            let variables = row
                .key_env
                .iter()
                .chain([&row.base_url_env.name])
                .chain(row.cli.iter().map(|it| &it.program));
            let missing: Vec<&String> = variables.filter(|it| !guide.contains(&format!("`{it}`"))).collect();
            assert!(missing.is_empty() && guide.contains(&row.name), "{}: {missing:?}", row.name);
        }
    }

    /// All models of the catalogue with their quirks and prices.
    fn models() -> impl Iterator<Item = (String, Quirks, Option<Price>)> {
        rows().iter().flat_map(|row| {
            let usual = row.model.iter().map(|name| (name.clone(), row.quirks, row.price));
            let others = row.models.iter();
            let others = others.map(|(name, it)| (name.clone(), it.quirks.unwrap_or(row.quirks), it.price));
            usual.chain(others).collect::<Vec<_>>()
        })
    }

    #[test]
    fn models_are_told_an_effort_if_they_take_one() {
        let told: Vec<String> = models().filter(|it| it.1.effort).map(|it| it.0).collect();
        for taken in ["claude-sonnet-5-5", "gemini-3.8-flash", "gpt-5.6-terra", "gpt-5.3-codex", "grok-4.5"] {
            assert!(told.iter().any(|it| it == taken), "{taken}");
        }
        for refused in ["claude-haiku-4-5", "gemini-2.5-pro", "gpt-4.1", "glm-5", "grok-4", "qwen3.7-max"] {
            assert!(!told.iter().any(|it| it == refused), "{refused}");
        }
    }

    #[test]
    fn models_that_think_are_sent_no_temperature() {
        let sent: Vec<String> =
            models().filter(|it| it.1.thinking > 0 && it.1.temperature).map(|it| it.0).collect();
        assert_eq!(sent, [""; 0]);
        assert!(models().filter(|it| it.1.thinking > 0).count() > 15);
    }

    #[test]
    fn where_a_cache_is_filled_by_marks_its_prices_are_known() {
        for (model, quirks, price) in models() {
            let price = price.map(|it| (it.cached, it.input, it.written));
            if quirks.cache_marks > 0 {
                let Some((Some(cached), input, Some(written))) = price else { panic!("{model}: {price:?}") };
                assert!(cached < input && input < written && quirks.cache_marks >= 1_024, "{model}");
            } else {
                assert!(price.is_none_or(|it| it.2.is_none()), "{model}: nothing is written without marks");
            }
        }
    }

    #[test]
    fn reasoning_models_get_no_temperature_and_no_stop_sequences() {
        for name in ["openai", "codex"] {
            let quirks = row(name).map(|row| row.quirks).unwrap();
            assert!(!quirks.temperature && !quirks.stop, "{name}");
            assert_eq!(quirks.limit, crate::wire::Limit::MaxCompletionTokens, "{name}");
        }
    }
}
