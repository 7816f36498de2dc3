//! A provider's overrides in the user's configuration. Omitted fields keep the catalogue's values.

use std::collections::BTreeMap;

use quorum_core::model::money::Price;
use reqwest::Url;

use crate::wire::{Limit, Quirks, Schema};

/// One provider of the configuration. If the catalogue has the name, it changes that row; otherwise
/// it is a new provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// The name used in results.
    pub name: String,
    /// The name of its wire format.
    pub wire: Option<String>,
    /// The base URL to which every path is appended; checked.
    pub base_url: Option<Url>,
    /// Whether a base URL from the environment may be unencrypted.
    pub insecure: bool,
    /// The default model.
    pub model: Option<String>,
    /// The variables that may hold its key.
    pub key_env: Option<Vec<String>>,
    /// The context window of its models in tokens.
    pub window: Option<u64>,
    /// The price of its default model.
    pub price: Option<Price>,
    /// The number of concurrent calls it accepts.
    pub concurrency: Option<usize>,
    /// The number of calls it accepts per minute.
    pub requests_per_minute: Option<u32>,
    /// The number of tokens it accepts per minute.
    pub tokens_per_minute: Option<u64>,
    /// Its strengths, best first.
    pub strengths: Option<Vec<String>>,
    /// How long to wait for the first token.
    pub first_token_ms: Option<u64>,
    /// How long to wait for the next token.
    pub idle_ms: Option<u64>,
    /// Deviations from its wire's defaults.
    pub quirks: QuirkOverrides,
    /// The program that answers, with its arguments.
    pub command: Option<Vec<String>>,
    /// The name of that program's dialect.
    pub dialect: Option<String>,
    /// The environment variables that program gets besides the default ones.
    pub environment: Vec<String>,
    /// Overrides of individual models.
    pub models: BTreeMap<String, ModelOverrides>,
}

/// Overrides of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelOverrides {
    /// Its context window in tokens.
    pub window: Option<u64>,
    /// Its price.
    pub price: Option<Price>,
}

/// Overrides of the quirks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuirkOverrides {
    /// Whether it accepts system instructions separately.
    pub system: Option<bool>,
    /// Whether it accepts a temperature.
    pub temperature: Option<bool>,
    /// Whether it accepts stop sequences.
    pub stop: Option<bool>,
    /// Whether it accepts tools.
    pub tools: Option<bool>,
    /// How it is made to return structured output.
    pub schema: Option<Schema>,
    /// The name of the limit for an answer's length.
    pub limit: Option<Limit>,
    /// Whether it accepts the option to report usage in a stream.
    pub stream_options: Option<bool>,
    /// How many tokens it may spend on thinking.
    pub thinking: Option<u32>,
    /// Whether its answers may begin with thoughts that lack an opening tag.
    pub unopened_thoughts: Option<bool>,
    /// Whether it takes a parameter for how much to think.
    pub effort: Option<bool>,
    /// The smallest marked beginning of a request that it caches, in tokens.
    pub cache_marks: Option<u32>,
}

impl QuirkOverrides {
    /// The catalogue's quirks with these overrides applied.
    #[must_use]
    pub fn over(self, quirks: Quirks) -> Quirks {
        Quirks {
            system: self.system.unwrap_or(quirks.system),
            temperature: self.temperature.unwrap_or(quirks.temperature),
            stop: self.stop.unwrap_or(quirks.stop),
            tools: self.tools.unwrap_or(quirks.tools),
            schema: self.schema.unwrap_or(quirks.schema),
            limit: self.limit.unwrap_or(quirks.limit),
            stream_options: self.stream_options.unwrap_or(quirks.stream_options),
            thinking: self.thinking.unwrap_or(quirks.thinking),
            unopened_thoughts: self.unopened_thoughts.unwrap_or(quirks.unopened_thoughts),
            effort: self.effort.unwrap_or(quirks.effort),
            cache_marks: self.cache_marks.unwrap_or(quirks.cache_marks),
        }
    }
}
