//! Truncate: every speaker's newest turns that fit, and the opening words of its first.

use quorum_core::registry::{Before, ContextStrategy, Fit, Length, OnOverflow};

use super::{fit_in, words};

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "truncate",
    summary: "Every speaker's newest turns that fit, and the opening words of its first; others are left out",
    fit,
    options: &[],
    overflow: OnOverflow::Shrinks,
    words: words::sum_up,
};

fn fit(talk: &Length<'_>) -> Fit {
    fit_in(talk, Before::Openings, talk.room)
}
