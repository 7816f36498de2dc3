//! Slide: every speaker's first turn, which sets the scene, and its newest turns that fit.

use quorum_core::registry::{Before, ContextStrategy, Fit, Length, OnOverflow};

use super::{fit_in, words};

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "slide",
    summary: "Every speaker's first turn and its newest turns that fit; those in between are left out",
    fit,
    options: &[],
    overflow: OnOverflow::NotOffered,
    words: words::sum_up,
};

pub(super) fn fit(talk: &Length<'_>) -> Fit {
    fit_in(talk, Before::FirstTurns, talk.room)
}
