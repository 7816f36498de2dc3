//! Hybrid: everything while there is room, then a warning, then a summary or a sliding window.

use quorum_core::{
    registry::{Before, ContextStrategy, Fit, Length, OnOverflow},
    vocabulary::option::Opt,
};

use super::{fit_in, share, summarise, words};

/// The share of the room, in per cent, above which turns are left out.
const FORCED: u64 = 90;

/// Whether the strategy may pay for summaries.
pub(super) const SUMMARIES: Opt<bool> =
    Opt::flag("windowSummaries", "Let the strategy pay for summaries of earlier turns", false).inherited();

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "hybrid",
    summary: "Everything up to 80 % of the window, then a warning; then summaries if switched on, else like slide",
    fit,
    options: &[&SUMMARIES],
    overflow: OnOverflow::NotOffered,
    words: words::sum_up,
};

fn fit(talk: &Length<'_>) -> Fit {
    if talk.option(&SUMMARIES) {
        return summarise::fit(talk);
    }
    fit_in(talk, Before::FirstTurns, share(talk.room, FORCED))
}
