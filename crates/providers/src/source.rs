//! A provider as it can be used on this machine: by which way, with which key, at which price.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use quorum_core::{call::lane::Width, model::money::Price};
use reqwest::Url;
use secrecy::SecretString;

use crate::{
    command::supervisor::Supervisor,
    wire::{Quirks, Wire},
};

/// A provider, ready to be asked.
#[derive(Debug, Clone)]
pub struct Source {
    /// What results call it.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// The model that answers where none is named; empty where a program has one of its own choice.
    pub model: String,
    /// What holds for models nothing else is known of.
    pub usual: Facts,
    /// What is known of single models.
    pub models: BTreeMap<String, Facts>,
    /// How much may be asked of it at once.
    pub width: Width,
    /// How long its silence is borne.
    pub patience: Patience,
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub enum Way {
    /// Over HTTP.
    Http(Arc<Endpoint>),
    /// By a program on this machine.
    Command(Program),
}

/// Where a provider is reached over HTTP.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address that every path is added to; `https://host/v1`.
    pub base: Url,
    /// How it speaks.
    pub wire: &'static Wire,
    /// What it is to be shown; a local server needs none.
    pub key: Option<SecretString>,
    /// Where a key is looked for, to name in messages: `OPENAI_API_KEY`.
    pub key_names: Vec<String>,
    /// Where to ask whether a key is good, where anybody may see the list of models.
    pub key_path: Option<String>,
}

/// A program on this machine that answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Where it lies; a bare name is looked for along `PATH`.
    pub path: PathBuf,
    /// Its arguments, or none for those its dialect usually takes. `{model}` stands for the model's name; without a model,
    /// the argument is left out together with the option before it. No shell ever sees them.
    pub arguments: Vec<String>,
    /// How it speaks: a name in [`crate::command::DIALECTS`].
    pub dialect: String,
    /// Names of environment variables it gets besides the usual ones. A key reaches a program only if it is named here.
    pub environment: Vec<String>,
    /// What ends it when this process dies; without one, a `kill -9` of this process leaves it running. See
    /// [`crate::command::supervisor`].
    pub supervisor: Option<Supervisor>,
}

/// What is known of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// How many tokens it takes in.
    pub window: u64,
    /// What it costs; `None` is unpriced, which is not the same as free.
    pub price: Option<Price>,
    /// Where it differs from what its wire usually takes.
    pub quirks: Quirks,
}

/// How long a provider's silence is borne. All of it lies within the step's own timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// From the request to the first piece of the answer, in milliseconds.
    pub first_ms: u64,
    /// From one piece to the next, in milliseconds.
    pub idle_ms: u64,
}

impl Default for Patience {
    fn default() -> Self {
        // Models that think first may be silent for long; one that has begun to speak rarely is.
        Patience { first_ms: 120_000, idle_ms: 30_000 }
    }
}

impl Source {
    /// The facts of one of its models.
    #[must_use]
    pub fn facts(&self, model: &str) -> Facts {
        self.models.get(model).copied().unwrap_or(self.usual)
    }
}
