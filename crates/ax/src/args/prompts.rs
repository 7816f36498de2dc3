//! Arguments of `ax prompts`.

use std::collections::BTreeMap;

use clap::Args;
use quorum::{Request, request::flags};
use serde_json::Value;

use crate::args::number::whole;

#[derive(Debug, Args)]
pub(crate) struct Prompts {
    /// The pattern
    pub(crate) pattern: String,
    /// The question [default: an example]
    topic: Option<String>,
    /// The participants, separated by commas
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    providers: Option<Vec<String>>,
    /// How many rounds
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>)]
    rounds: Option<u32>,
    /// The options to vote on, separated by commas, with "quotes" around one that has a comma; or
    /// -o once for each option
    #[arg(short, long, value_name = "LIST")]
    options: Vec<String>,
    /// Who has which role
    #[arg(long, value_name = "PAIRS", value_parser = flags::roles)]
    roles: Option<BTreeMap<String, String>>,
    /// How a decision is reached
    #[arg(long, value_name = "METHOD")]
    consensus: Option<String>,
    /// Background for all participants
    #[arg(short, long, value_name = "TEXT")]
    context: Option<String>,
    /// Print the requests as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The options that patterns, methods and strategies declare, by name.
    #[arg(skip)]
    pub(super) settings: BTreeMap<String, Value>,
}

/// The question where none is given.
const TOPIC: &str = "Should a team of five split its monolith into microservices?";

impl Prompts {
    /// The order for the dry run. A vote on the example has the options of the example.
    pub(crate) fn request(&self, is_vote: bool) -> Result<Request, String> {
        let is_example = is_vote && self.topic.is_none();
        let example = || is_example.then(|| ["split it", "keep it"].map(str::to_owned).to_vec());
        let given = (!self.options.is_empty()).then(|| flags::options(&self.options)).transpose()?;
        Ok(Request {
            pattern: Some(self.pattern.clone()),
            providers: self.providers.clone(),
            rounds: self.rounds,
            voting_options: given.or_else(example),
            roles: self.roles.clone(),
            consensus: self.consensus.clone(),
            context: self.context.clone(),
            offline: Some(true),
            settings: self.settings.clone(),
            ..Request::on(self.topic.as_deref().unwrap_or(TOPIC))
        })
    }
}
