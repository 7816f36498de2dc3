//! Hybrid: everything while there is plenty of room, then a warning, then what must be.

use quorum_core::craft::{ContextStrategy, Fit, Length, Summaries};

use super::{share, slide, summarise, words};

/// Beyond so much of the room something must give way, in per cent.
const FORCED: u64 = 90;

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "hybrid",
    summary: "Everything up to 80 % of the window, then a warning; summaries where they are switched on, else sliding",
    fit,
    words: words::sum_up,
};

fn fit(talk: &Length<'_>) -> Fit {
    match talk.summaries {
        Summaries::On => summarise::fit(talk),
        Summaries::Off => slide::within(talk, share(talk.room, FORCED)),
    }
}
