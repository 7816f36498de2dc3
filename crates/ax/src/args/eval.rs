//! Arguments of `ax eval`.

use std::path::PathBuf;

use clap::Args;
use quorum::{
    request::{Simulate, flags},
    voices::world::World,
};

use crate::args::number::{at_least_one, fraction, whole};

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Questions with answers: JSON, JSON lines, YAML, CSV or TSV
    pub(crate) file: PathBuf,
    /// The protocols to compare, separated by commas: single[:NAME], majority,
    /// self-consistency[:NAME][*K], PATTERN[:ROUNDS][/METHOD], or a preset
    #[arg(long, value_name = "LIST")]
    pub(crate) protocols: Option<String>,
    /// The panel, separated by commas
    #[arg(long, value_name = "LIST", value_parser = |it: &str| Ok::<_, String>(it.to_owned()))]
    pub(crate) providers: Option<String>,
    /// Ask only N questions, chosen at random by the seed
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// The seed of the sample, the order of options, ties and intervals [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(crate) seed: Option<u64>,
    /// How often each question is asked [default: 1]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub(crate) repeat: Option<usize>,
    /// The most that all discussions together may cost, in USD
    #[arg(long, value_name = "USD", value_parser = fraction, allow_negative_numbers = true)]
    pub(crate) max_cost: Option<f64>,
    /// Let providers without a known price take part under --max-cost
    #[arg(long)]
    pub(crate) allow_unpriced: bool,
    /// The model that grades answers by a description; both orders are asked
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    /// Let the model of --judge be a member of the panel, which then grades its own answers too
    #[arg(long, requires = "judge")]
    pub(crate) judge_on_panel: bool,
    /// Where the report goes [default: a folder named after the file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Continue the evaluation in that folder; no answered call is repeated
    #[arg(long)]
    pub(crate) resume: bool,
    /// Skip questions that can't be read, and count them
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Let every protocol ask for first answers of its own, instead of sharing them
    #[arg(long)]
    pub(crate) independent: bool,
    /// Show the plan and its cost, without asking any model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Use simulated voices even if providers are available
    #[arg(long)]
    pub(crate) offline: bool,
    /// How simulated voices behave: latency=200ms,failure=0.1
    #[arg(long, value_name = "PAIRS", value_parser = flags::simulate)]
    pub(crate) simulate: Option<Simulate>,
    /// Use the voices of a reference world, which sets how often they are right:
    /// martingale,rho=0.3,confidence=informative,panel=mixed,seed=1
    #[arg(long, value_name = "WORLD", value_parser = |it: &str| it.parse::<World>())]
    pub(crate) world: Option<World>,
}
