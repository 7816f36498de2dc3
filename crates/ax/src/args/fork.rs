//! Arguments of `ax fork`.

use std::collections::BTreeMap;

use clap::Args;
use quorum::{Forking, Request};
use serde_json::Value;

use crate::args::{Output, Which, number::whole};

#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The step to branch off after: everything up to this answer is kept
    #[arg(long, value_name = "STEP")]
    at: String,
    /// A participant to leave out; may be given several times
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// The pattern to continue with
    #[arg(long)]
    pattern: Option<String>,
    /// How many rounds, 1 to 10
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// Show how many answers are kept and what the rest may cost, without asking any model
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// The changed options, by name.
    #[arg(skip)]
    pub(super) settings: BTreeMap<String, Value>,
}

impl Fork {
    pub(crate) fn forking(&self) -> Forking {
        let changes = Request {
            pattern: self.pattern.clone(),
            rounds: self.rounds,
            settings: self.settings.clone(),
            ..Request::default()
        };
        Forking { at: self.at.clone(), without: self.drop.clone(), changes }
    }
}
