//! Truncate: only the newest turns that fit.

use quorum_core::registry::{ContextStrategy, Fit, Length, OnOverflow};

use super::{newest, words};

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "truncate",
    summary: "The newest turns that fit; older ones are left out",
    fit,
    options: &[],
    overflow: OnOverflow::Shrinks,
    words: words::sum_up,
};

fn fit(talk: &Length<'_>) -> Fit {
    newest(talk, talk.newest(0, talk.room))
}
