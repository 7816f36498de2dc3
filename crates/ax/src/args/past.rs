//! Flags about earlier discussions.

use clap::Args;
use quorum::request::RecallRequest;

use crate::args::number::whole;

/// The heading of the flags about earlier discussions.
const EARLIER: &str = "Earlier discussions";

#[derive(Debug, Args)]
#[command(next_help_heading = EARLIER)]
pub(super) struct Recalling {
    /// Show everyone the results of earlier discussions on this subject, at most N, 1 to 10
    /// [default: none; 3 without a number]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3",
        value_parser = whole::<u64>,
        visible_alias = "memory"
    )]
    recall: Option<u64>,
    /// The earlier discussions to show, separated by commas: their ids, or `last`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    recall_from: Vec<String>,
    /// Recall nothing, even if the configuration turns recall on
    #[arg(long, conflicts_with_all = ["recall", "recall_from"])]
    no_recall: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = EARLIER)]
pub(crate) struct Past {
    #[command(flatten)]
    pub(super) recalling: Recalling,
    /// Ask this as a follow-up question to the panel of a finished discussion, by its id [default:
    /// last]
    #[arg(
        long = "continue",
        value_name = "ID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "last",
        conflicts_with = "again"
    )]
    pub(super) follows: Option<String>,
}

impl Recalling {
    /// What to recall; `None` leaves it to the configuration.
    pub(super) fn request(&self) -> Option<RecallRequest> {
        let Recalling { recall, recall_from, no_recall } = self;
        let is_given = recall.is_some() || !recall_from.is_empty() || *no_recall;
        let from = recall_from.iter().map(|it| it.trim().to_lowercase()).collect();
        is_given.then_some(RecallRequest { most: *recall, from, session: None })
    }
}
