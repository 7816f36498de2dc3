//! What the user says of a provider in the configuration. What is left out is as the catalogue has it.

use std::collections::BTreeMap;

use quorum_core::model::money::Price;
use reqwest::Url;

use crate::wire::{Limit, Quirks, Schema};

/// A row of the user's. One of a name the catalogue knows changes that row; another is a provider of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Own {
    /// What results call it.
    pub name: String,
    /// How it speaks.
    pub wire: Option<String>,
    /// The address that every path is added to; checked.
    pub base_url: Option<Url>,
    /// Whether an address from the environment may be unencrypted.
    pub insecure: bool,
    /// The model that answers where none is named.
    pub model: Option<String>,
    /// The variables a key is looked for in.
    pub key_env: Option<Vec<String>>,
    /// How many tokens its models take in.
    pub window: Option<u64>,
    /// What its models cost.
    pub price: Option<Price>,
    /// How many calls it takes at once.
    pub concurrency: Option<usize>,
    /// How many calls it takes a minute.
    pub requests_per_minute: Option<u32>,
    /// How many tokens it takes a minute.
    pub tokens_per_minute: Option<u64>,
    /// What it is good at, best first.
    pub strengths: Option<Vec<String>>,
    /// How long its first word is waited for.
    pub first_token_ms: Option<u64>,
    /// How long the next word is waited for.
    pub idle_ms: Option<u64>,
    /// Where it differs from what its wire usually takes.
    pub quirks: OwnQuirks,
    /// The program that answers, with its arguments.
    pub command: Option<Vec<String>>,
    /// How that program speaks.
    pub dialect: Option<String>,
    /// The variables it gets besides the usual ones.
    pub environment: Vec<String>,
    /// Single models.
    pub models: BTreeMap<String, OwnModel>,
}

/// What the user says of a single model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnModel {
    /// How many tokens it takes in.
    pub window: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
}

/// What the user says about quirks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnQuirks {
    /// Whether standing instructions have a place of their own.
    pub system: Option<bool>,
    /// Whether it may be told how freely to speak.
    pub temperature: Option<bool>,
    /// Whether it takes stop sequences.
    pub stop: Option<bool>,
    /// Whether it can be offered a tool.
    pub tools: Option<bool>,
    /// How it can be held to a form.
    pub schema: Option<Schema>,
    /// What the limit of an answer's length is called.
    pub limit: Option<Limit>,
    /// Whether it may be asked to count tokens in a stream.
    pub stream_options: Option<bool>,
    /// How many tokens it may think before it speaks.
    pub thinking: Option<u32>,
    /// Whether its answers may begin with thoughts that nothing opens.
    pub unopened_thoughts: Option<bool>,
}

impl OwnQuirks {
    /// Those of the catalogue with the user's in their place.
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
        }
    }
}
