//! A provider as it is used on this machine: how it is reached, with which key, at which price.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use quorum_core::{call::lane::Width, model::money::Price};
use reqwest::Url;
use secrecy::SecretString;

use crate::{
    command::supervisor::Supervisor,
    wire::{Quirks, Wire},
};

/// A provider that is ready for calls.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name used in results.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// The default model; empty where a program chooses its own.
    pub model: String,
    /// The facts of models that are not in `models`.
    pub usual: ModelInfo,
    /// The facts of individual models.
    pub models: BTreeMap<String, ModelInfo>,
    /// The number of concurrent calls it accepts.
    pub width: Width,
    /// How long to wait for its output.
    pub timeouts: Timeouts,
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// Over HTTP.
    Http(Arc<Endpoint>),
    /// Through a program on this machine.
    Command(Program),
}

/// A provider's HTTP endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The base URL to which every path is appended: `https://host/v1`.
    pub base: Url,
    /// Its wire format.
    pub wire: &'static Wire,
    /// Its API key; a local server needs none.
    pub key: Option<SecretString>,
    /// The variables that may hold its key, to be named in messages: `OPENAI_API_KEY`.
    pub key_names: Vec<String>,
    /// The path that checks a key, for vendors whose list of models is public.
    pub key_path: Option<String>,
}

/// A program on this machine that answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Its path; a bare name is looked up in `PATH`.
    pub path: PathBuf,
    /// Its arguments; if empty, its dialect's defaults. `{model}` is replaced by the model's name;
    /// without a model, the argument is left out together with the option before it. No shell is
    /// involved.
    pub arguments: Vec<String>,
    /// Its dialect: a name in [`crate::command::DIALECTS`].
    pub dialect: String,
    /// Names of environment variables it gets besides the default ones. A key reaches a program
    /// only if it is named here.
    pub environment: Vec<String>,
    /// Ends it when this process dies; without a supervisor, a `kill -9` of this process leaves it
    /// running. See [`crate::command::supervisor`].
    pub supervisor: Option<Supervisor>,
}

/// Facts about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its context window in tokens.
    pub window: u64,
    /// Its price; `None` means unpriced, which is not the same as free.
    pub price: Option<Price>,
    /// Deviations from its wire's defaults.
    pub quirks: Quirks,
}

/// How long to wait for a provider's output. Both limits lie within the step's own timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the request to the first piece of the answer, in milliseconds.
    pub first_ms: u64,
    /// From one piece to the next, in milliseconds.
    pub idle_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        // A model may think for long before its first output; once it has begun, pauses are short.
        Timeouts { first_ms: 120_000, idle_ms: 30_000 }
    }
}

impl Source {
    /// The facts of one of its models.
    #[must_use]
    pub fn model_info(&self, model: &str) -> ModelInfo {
        self.models.get(model).copied().unwrap_or(self.usual)
    }
}
