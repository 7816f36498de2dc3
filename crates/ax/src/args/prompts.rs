//! Arguments of `ax prompts`: those of `ax discuss` that shape prompts.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use quorum::Request;
use serde_json::Value;

use crate::{
    args::{
        discuss::{DECIDING, Seats, Talk},
        input::Input,
        number::fraction,
        past::Recalling,
    },
    exit::Usage,
};

#[derive(Debug, Args)]
pub(crate) struct Prompts {
    /// The pattern
    pub(crate) pattern: String,
    /// The question; `-` reads it from standard input [default: an example]
    topic: Option<String>,
    /// Use the values of [presets.NAME] in the configuration for flags that are not given
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Background for all participants
    #[arg(short, long, value_name = "TEXT")]
    context: Option<String>,
    /// A text file that everyone is shown, under its name as a heading; `-` is standard input; may
    /// be given several times
    #[arg(short, long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the requests as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    recalling: Recalling,
    #[command(flatten)]
    seats: Seats,
    #[command(flatten)]
    talk: Talk,
    #[command(flatten)]
    deciding: Deciding,
    /// The options that patterns, methods and strategies declare, by name.
    #[arg(skip)]
    pub(super) settings: BTreeMap<String, Value>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = DECIDING)]
struct Deciding {
    /// How a decision is reached
    #[arg(long, value_name = "METHOD")]
    consensus: Option<String>,
    /// Ask for a confidence after each answer, as `ax discuss --early-exit` does
    #[arg(long)]
    early_exit: bool,
    /// How confident an answer must be for --early-exit, 0 to 1 [default: 0.9]
    #[arg(long, value_name = "SHARE", value_parser = fraction, allow_negative_numbers = true)]
    confidence_threshold: Option<f64>,
}

/// The question where none is given.
const TOPIC: &str = "Should a team of five split its monolith into microservices?";

impl Prompts {
    /// The order for the dry run. A vote on the example has the options of the example.
    pub(crate) fn request(&self, is_vote: bool) -> Result<Request, Usage> {
        let given = self.talk.options().map_err(|wrong| Usage(format!("--options: {wrong}")))?;
        let is_example = is_vote && self.topic.is_none();
        let example = || is_example.then(|| ["split it", "keep it"].map(str::to_owned).to_vec());
        let (topic, context) = self.texts()?;
        let request = Request {
            pattern: Some(self.pattern.clone()),
            preset: self.preset.clone(),
            context,
            consensus: self.deciding.consensus.clone(),
            early_exit: self.deciding.early_exit.then_some(true),
            confidence_threshold: self.deciding.confidence_threshold,
            recall: self.recalling.request(),
            offline: Some(true),
            settings: self.settings.clone(),
            ..Request::on(topic.as_deref().unwrap_or(TOPIC))
        };
        let request = self.talk.held(self.seats.seated(request));
        Ok(Request { voting_options: given.or_else(example), ..request })
    }

    /// Topic and context. Standard input is read only where an argument says so.
    fn texts(&self) -> Result<(Option<String>, Option<String>), Usage> {
        let is_typed = self.topic.as_deref() != Some("-") && self.files.is_empty();
        if is_typed {
            return Ok((self.topic.clone(), self.context.clone()));
        }
        let (topic, context) = (self.topic.as_deref(), self.context.as_deref());
        Input { topic, context, files: &self.files }.with_stdin()
    }
}
