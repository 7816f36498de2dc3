//! Arguments of `ax run` and `ax workflow`.

use clap::{Args, Subcommand};
use quorum::{
    Request,
    request::{Simulate, flags},
};

use crate::args::{
    Listed, Output,
    number::{fraction, whole},
};

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The workflow: a file, or a name that `ax workflow list` shows
    pub(crate) workflow: String,
    /// The input: JSON or plain text; @FILE reads a file, `-` standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// One field of the input, as JSON or text; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Values for {{NAME}}, as a JSON object; @FILE reads a file
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
    /// Declared tools that this run may use, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allow_tools: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show the steps and the maximum number of calls without asking any model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Run the workflow in the background and print its id
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) detach: bool,
    /// The session that the run belongs to, by id or name
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// The total time, like 180s or 3m [default: 24h]
    #[arg(long, value_name = "TIME", value_parser = flags::duration)]
    budget: Option<u64>,
    /// The maximum number of calls of all steps together
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    max_calls: Option<u32>,
    /// The maximum number of tokens, input and output
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    max_tokens: Option<u64>,
    /// The maximum cost in USD
    #[arg(long, value_name = "USD", value_parser = fraction, allow_negative_numbers = true)]
    max_cost: Option<f64>,
    /// Let providers without a known price take part under --max-cost
    #[arg(long)]
    allow_unpriced: bool,
    /// Use simulated voices even if providers are available
    #[arg(long)]
    offline: bool,
    /// The same seed gives the same answers of simulated voices [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    seed: Option<u64>,
    /// How simulated voices behave: latency=200ms,failure=0.1
    #[arg(long, value_name = "PAIRS", value_parser = flags::simulate)]
    simulate: Option<Simulate>,
}

impl Run {
    /// The budgets and the voices of the whole run.
    pub(crate) fn request(&self) -> Request {
        Request {
            session_id: self.session.clone(),
            budget_ms: self.budget,
            max_calls: self.max_calls,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
            allow_unpriced: self.allow_unpriced.then_some(true),
            offline: self.offline.then_some(true),
            seed: self.seed,
            simulate: self.simulate.clone(),
            ..Request::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Workflows {
    #[command(subcommand)]
    pub(crate) verb: WorkflowVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowVerb {
    /// List the workflows that can be run by name, and where they are
    List(Listed),
    /// Print a workflow file
    Show {
        /// The workflow: a file or a name
        workflow: String,
    },
    /// Find all mistakes in a workflow, without asking any model
    Check {
        /// The workflow: a file or a name
        workflow: String,
        /// Declared tools that runs may use, separated by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        allow_tools: Vec<String>,
    },
    /// Print the JSON Schema of workflow files, for editors
    Schema,
}
