//! Imports price tables in litellm's format and stores them for lookup.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
};

use quorum_core::model::money::{Price, Usd};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files;

/// The largest price table in bytes; real ones are far smaller.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The modes of models that hold conversations; others draw, transcribe or embed.
const CHAT_MODES: [&str; 3] = ["chat", "completion", "responses"];

/// The entry that documents the format.
const SAMPLE: &str = "sample_spec";

/// Imported prices, by litellm's name for the provider and the model's own name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, BTreeMap<String, Listed>>);

/// A model's entry in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its price.
    pub price: Price,
    /// Its context window in tokens, as far as that price applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// The result of reading a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Import {
    /// The prices that were read.
    pub prices: Prices,
    /// How many entries are not for conversations.
    pub others: usize,
    /// The names of the entries that could not be read.
    pub unread: Vec<String>,
}

/// Why a file yields no prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// It can't be read or written.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The stored prices can't be parsed; importing a table replaces them.
    Garbled {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// It is too large to be a price table.
    TooLong(PathBuf),
    /// It is not a price table.
    NoTable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { file, reason } | Error::Garbled { file, reason } => {
                write!(f, "{} can't be used: {reason}", file.display())
            }
            Error::TooLong(file) => {
                let (file, most) = (file.display(), MAX_BYTES / 1024 / 1024);
                write!(f, "{file} is larger than {most} MiB, so it is not a price table")
            }
            Error::NoTable { file, reason } => write!(
                f,
                "{} is not a price table in litellm's format (model_prices_and_context_window.json): {reason}",
                file.display()
            ),
        }
    }
}

impl std::error::Error for Error {}

/// Prices in dollars per million tokens, as people and tables write them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dollars {
    /// Of prompt tokens.
    pub input: f64,
    /// Of completion tokens.
    pub output: f64,
    /// Of prompt tokens that the provider has cached.
    pub cached: Option<f64>,
    /// Of prompt tokens that are written to the provider's cache.
    pub written: Option<f64>,
}

impl Dollars {
    /// The price; `None` if one of the numbers is not an amount of money.
    #[must_use]
    pub fn price(self) -> Option<Price> {
        let amount = |dollars: Option<f64>| dollars.map(Usd::from_dollars);
        let (cached, written) = (amount(self.cached), amount(self.written));
        if [cached, written].contains(&Some(None)) {
            return None;
        }
        let (input, output) = (Usd::from_dollars(self.input)?, Usd::from_dollars(self.output)?);
        Some(Price { input, output, cached: cached.flatten(), written: written.flatten() })
    }
}

impl Prices {
    /// The entry of this model.
    #[must_use]
    pub fn of(&self, provider: &str, model: &str) -> Option<Listed> {
        self.0.get(provider)?.get(model).copied()
    }

    /// All models of a provider, with their entries.
    pub fn models(&self, provider: &str) -> impl Iterator<Item = (&String, Listed)> {
        self.0.get(provider).into_iter().flatten().map(|(model, listed)| (model, *listed))
    }

    /// How many models have a price.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Whether no model has a price.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads the prices stored in this file; none if it doesn't exist.
    pub fn load(file: &Path) -> Result<Prices, Error> {
        let Some(text) = read(file)? else { return Ok(Prices::default()) };
        let garbled = |reason: String| Error::Garbled { file: file.to_owned(), reason };
        serde_json::from_str(&text).map_err(|error| garbled(error.to_string()))
    }

    /// Stores the prices in this file, replacing those it had.
    pub fn save(&self, file: &Path) -> Result<(), Error> {
        let wrong = |reason: String| Error::Unreadable { file: file.to_owned(), reason };
        let text = serde_json::to_string(self).map_err(|error| wrong(error.to_string()))?;
        files::replace(file, &text).map_err(|error| wrong(error.to_string()))
    }
}

/// Reads a table in litellm's format.
pub fn import(file: &Path) -> Result<Import, Error> {
    let is_address = file.to_string_lossy().contains("://");
    let reason = if is_address { "it is an address; download it first" } else { "there is no such file" };
    let missing = || Error::Unreadable { file: file.to_owned(), reason: reason.to_owned() };
    let text = read(file)?.ok_or_else(missing)?;
    let no_table = |reason: String| Error::NoTable { file: file.to_owned(), reason };
    let entries: BTreeMap<String, Value> =
        serde_json::from_str(&text).map_err(|error| no_table(error.to_string()))?;
    let import = read_entries(&entries);
    if import.prices.is_empty() {
        return Err(no_table("no model in it has a price".to_owned()));
    }
    Ok(import)
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    let wrong =
        |error: &dyn fmt::Display| Error::Unreadable { file: file.to_owned(), reason: error.to_string() };
    let open = match fs::File::open(file) {
        Ok(open) => open,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(&error)),
    };
    let mut bytes = Vec::new();
    open.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::TooLong(file.to_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong(&"it is not UTF-8 text"))
}

/// Reads the entries in the order of their names, so that `openai/gpt-5` overrides `gpt-5` wherever
/// they are in the file.
fn read_entries(entries: &BTreeMap<String, Value>) -> Import {
    let mut import = Import::default();
    for (name, entry) in entries.iter().filter(|(name, _)| *name != SAMPLE) {
        let mode = entry.get("mode").and_then(Value::as_str);
        if mode.is_some_and(|mode| !CHAT_MODES.contains(&mode)) {
            import.others += 1;
            continue;
        }
        match listed(entry) {
            Some((provider, listed)) => {
                let model = name.strip_prefix(&format!("{provider}/")).unwrap_or(name).to_owned();
                import.prices.0.entry(provider).or_default().insert(model, listed);
            }
            None => import.unread.push(name.clone()),
        }
    }
    import
}

fn listed(entry: &Value) -> Option<(String, Listed)> {
    let provider = entry.get("litellm_provider")?.as_str()?.to_owned();
    let dollars = |field: &str| entry.get(field).and_then(Value::as_f64).map(|token| token * 1e6);
    let (input, output) = (dollars("input_cost_per_token")?, dollars("output_cost_per_token")?);
    let cached = dollars("cache_read_input_token_cost").or(dollars("input_cost_per_token_cache_hit"));
    let written = dollars("cache_creation_input_token_cost");
    let price = Dollars { input, output, cached, written }.price()?;
    Some((provider, Listed { price, window: window(entry) }))
}

/// The context window, limited to the tokens for which the price applies:
/// `input_cost_per_token_above_200k_tokens` limits it to 200,000.
fn window(entry: &Value) -> Option<u64> {
    let fields = entry.as_object()?;
    let number = |field: &str| fields.get(field).and_then(Value::as_u64).filter(|it| *it > 0);
    let most = number("max_input_tokens").or_else(|| number("max_tokens"));
    let step = |field: &String| {
        let thousands = field.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?;
        thousands.parse::<u64>().ok()?.checked_mul(1_000)
    };
    let ends = fields.keys().filter_map(step).filter(|it| *it > 0).min();
    most.into_iter().chain(ends).min()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(table: &Value) -> Import {
        read_entries(&serde_json::from_value(table.clone()).unwrap())
    }

    fn price(input: f64, output: f64, cached: Option<f64>) -> Price {
        Dollars { input, output, cached, written: None }.price().unwrap()
    }

    #[test]
    fn a_table_is_read_as_litellm_writes_it() {
        let import = read(&json!({
            "sample_spec": { "litellm_provider": "one of https://docs.litellm.ai", "mode": "one of: chat" },
            "claude-x": {
                "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
                "max_input_tokens": 200_000, "max_tokens": 64_000, "litellm_provider": "anthropic", "mode": "chat"
            },
            "gemini/gemini-x": {
                "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05, "max_input_tokens": 1_048_576,
                "input_cost_per_token_above_200k_tokens": 2.5e-06, "litellm_provider": "gemini"
            },
            "groq/openai/gpt-oss": {
                "input_cost_per_token": 0, "output_cost_per_token": 6e-07, "litellm_provider": "groq", "mode": "chat"
            },
            "dall-e": { "litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 1 },
            "free": { "litellm_provider": "openai", "mode": "chat" },
            "negative": { "litellm_provider": "openai", "input_cost_per_token": -1, "output_cost_per_token": 1 },
            "nobody's": { "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6 },
            "odd": [1, 2],
        }));
        assert_eq!(import.unread, ["free", "negative", "nobody's", "odd"]);
        assert_eq!((import.others, import.prices.len()), (1, 3));
        let of = |provider: &str, model: &str| import.prices.of(provider, model).unwrap();
        let expected = Listed { price: price(3.0, 15.0, Some(0.3)), window: Some(200_000) };
        assert_eq!(of("anthropic", "claude-x"), expected);
        assert_eq!(
            of("gemini", "gemini-x"),
            Listed { price: price(1.25, 10.0, None), window: Some(200_000) }
        );
        assert_eq!(of("groq", "openai/gpt-oss"), Listed { price: price(0.0, 0.6, None), window: None });
    }

    #[test]
    fn a_table_says_what_reading_from_and_writing_to_a_cache_costs() {
        let import = read(&json!({
            "claude-x": {
                "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "litellm_provider": "anthropic",
                "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
                "cache_creation_input_token_cost_above_1hr": 6e-06
            },
            "deepseek/deepseek-x": {
                "input_cost_per_token": 3e-07, "output_cost_per_token": 1e-06, "litellm_provider": "deepseek",
                "input_cost_per_token_cache_hit": 7e-08
            },
        }));
        let of = |provider: &str, model: &str| import.prices.of(provider, model).unwrap().price;
        let expected = Price { written: Usd::from_dollars(3.75), ..price(3.0, 15.0, Some(0.3)) };
        assert_eq!(of("anthropic", "claude-x"), expected);
        assert_eq!(of("deepseek", "deepseek-x"), price(0.3, 1.0, Some(0.07)));
    }

    #[test]
    fn of_two_entries_for_a_model_the_prefixed_one_counts_in_any_order() {
        let entry = |dollars: f64| json!({ "litellm_provider": "openai", "input_cost_per_token": dollars / 1e6, "output_cost_per_token": 0 });
        let expected = Listed { price: price(2.0, 0.0, None), window: None };
        let check =
            |table: Value| assert_eq!(read(&table).prices.of("openai", "gpt-x"), Some(expected), "{table}");
        check(json!({ "gpt-x": entry(1.0), "openai/gpt-x": entry(2.0) }));
        check(json!({ "openai/gpt-x": entry(2.0), "gpt-x": entry(1.0) }));
    }

    #[test]
    fn a_value_that_is_not_an_amount_is_no_price() {
        let of = |input, output, cached, written| Dollars { input, output, cached, written }.price();
        assert_eq!(of(f64::NAN, 1.0, None, None), None);
        assert_eq!(of(1.0, -1.0, None, None), None);
        assert_eq!(of(1.0, 1.0, Some(f64::INFINITY), None), None);
        assert_eq!(of(1.0, 1.0, None, Some(-0.5)), None);
    }
}
