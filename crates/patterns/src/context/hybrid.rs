//! Hybrid: everything while there is plenty of room, then a warning, then what must be.

use quorum_core::{
    registry::{ContextStrategy, Fit, Length, OnOverflow},
    vocabulary::option::Opt,
};

use super::{share, slide, summarise, words};

/// Beyond so much of the room something must give way, in per cent.
const FORCED: u64 = 90;

/// Whether it may pay for summaries.
pub(super) const SUMMARIES: Opt<bool> =
    Opt::flag("windowSummaries", "Let the strategy pay for summaries of what was said earlier", false)
        .inherited();

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "hybrid",
    summary: "Everything up to 80 % of the window, then a warning; summaries where they are switched on, else sliding",
    fit,
    options: &[&SUMMARIES],
    overflow: OnOverflow::NotOffered,
    words: words::sum_up,
};

fn fit(talk: &Length<'_>) -> Fit {
    if talk.option(&SUMMARIES) { summarise::fit(talk) } else { slide::within(talk, share(talk.room, FORCED)) }
}
