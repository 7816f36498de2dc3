//! The catalogue: what is known of each provider before it is asked anything. A row in `catalog.toml` is a provider.

use std::{collections::BTreeMap, sync::LazyLock};

use quorum_core::model::money::Price;
use serde::{Deserialize, Deserializer, de::Error};

use crate::{prices::per_million, wire::Quirks};

/// Who sits at the table when nobody was named.
pub const DEFAULT_PANEL: [&str; 4] = ["claude", "glm", "qwen", "gemini"];

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What results call it.
    pub name: String,
    /// What else people call it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is good at, best first.
    pub strengths: Vec<String>,
    /// How it speaks: the name of a wire.
    pub wire: String,
    /// The address that every path is added to.
    pub base_url: String,
    /// The variable by which its vendor's clients take another address.
    pub base_url_env: BaseVariable,
    /// The variables a key is looked for in, in this order.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// Where to ask whether a key is good, where anybody may see the list of models.
    pub key_path: Option<String>,
    /// Whether it runs on the user's own machine: it needs no key and costs nothing.
    #[serde(default)]
    pub local: bool,
    /// Whether an open port is enough to know that it is there.
    #[serde(default)]
    pub listens: bool,
    /// The model that answers where none is named.
    pub model: Option<String>,
    /// Two to four different models that discuss where no other vendor can be asked. A server on the
    /// user's own machine is asked which models it has instead.
    #[serde(default)]
    pub panel: Vec<String>,
    /// How many tokens that model can take in.
    pub window: u64,
    /// What that model costs.
    #[serde(default, deserialize_with = "price")]
    pub price: Option<Price>,
    /// Where its models differ from what their wire usually takes.
    #[serde(default)]
    pub quirks: Quirks,
    /// How many calls it takes at once.
    pub concurrency: usize,
    /// What price tables in litellm's format call it.
    pub litellm: Option<String>,
    /// The program that can answer where there is no key.
    pub cli: Option<Cli>,
    /// Further models.
    #[serde(default)]
    pub models: BTreeMap<String, Model>,
}

/// A variable that holds an address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseVariable {
    /// What it is called.
    pub name: String,
    /// What the vendor's clients add to it, and so do we.
    pub path: String,
}

/// A program that can answer for a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cli {
    /// What it is called.
    pub program: String,
    /// How it speaks, and with which arguments it is started: the name of a dialect.
    pub dialect: String,
}

/// A further model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// How many tokens it can take in.
    pub window: u64,
    /// What it costs.
    #[serde(default, deserialize_with = "price")]
    pub price: Option<Price>,
    /// Where it differs from what its wire usually takes; as its provider's, where nothing is said.
    pub quirks: Option<Quirks>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    provider: Vec<Row>,
}

/// Dollars for a million tokens, as people write them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dollars {
    input: f64,
    output: f64,
    cached: Option<f64>,
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Price>, D::Error> {
    let Dollars { input, output, cached } = Dollars::deserialize(deserializer)?;
    let price = per_million(input, output, cached);
    price.map(Some).ok_or_else(|| D::Error::custom("a price is an amount of USD, 0 or more"))
}

#[expect(clippy::expect_used, reason = "the file is part of the program and a test reads it")]
static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| toml::from_str(include_str!("../catalog.toml")).expect("catalog.toml is readable"));

/// All rows, in the file's order.
#[must_use]
pub fn rows() -> &'static [Row] {
    &CATALOG.provider
}

/// The row of that name or alias, however it is capitalised.
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
    fn rows_name_wires_and_dialects_there_are_and_addresses_that_may_be_used() {
        for row in rows() {
            assert!(wire(&row.wire).is_some(), "{}", row.name);
            assert!(row.cli.iter().all(|cli| dialect(&cli.dialect).is_some()), "{}", row.name);
            assert!(address::checked(&row.base_url, address::Plain::Refused).is_ok(), "{}", row.name);
            assert_eq!(row.local, row.key_env.is_empty(), "{}", row.name);
            assert!(
                !row.local || row.concurrency == 1,
                "{}: a machine of one's own has one model loaded",
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

    #[test]
    fn what_reasons_is_not_told_how_freely_to_speak() {
        for name in ["openai", "codex"] {
            let quirks = row(name).map(|row| row.quirks).unwrap();
            assert!(!quirks.temperature && !quirks.stop, "{name}");
            assert_eq!(quirks.limit, crate::wire::Limit::MaxCompletionTokens, "{name}");
        }
    }
}
