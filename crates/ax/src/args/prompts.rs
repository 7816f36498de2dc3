//! Arguments of `ax prompts`.

use clap::Args;
use quorum::{Request, request::flags};

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
    /// How a decision is reached
    #[arg(long, value_name = "METHOD")]
    consensus: Option<String>,
    /// Background for all participants
    #[arg(short, long, value_name = "TEXT")]
    context: Option<String>,
    /// Print the requests as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The question where none is given.
const TOPIC: &str = "Should a team of five split its monolith into microservices?";

impl Prompts {
    /// The order for the dry run. A vote without options gets those of an example.
    pub(crate) fn request(&self, is_vote: bool) -> Result<Request, String> {
        let example = || is_vote.then(|| ["split it", "keep it"].map(str::to_owned).to_vec());
        let given = (!self.options.is_empty()).then(|| flags::options(&self.options)).transpose()?;
        Ok(Request {
            pattern: Some(self.pattern.clone()),
            providers: self.providers.clone(),
            rounds: self.rounds,
            voting_options: given.or_else(example),
            consensus: self.consensus.clone(),
            context: self.context.clone(),
            offline: Some(true),
            ..Request::on(self.topic.as_deref().unwrap_or(TOPIC))
        })
    }
}
