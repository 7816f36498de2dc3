//! Slide: the first turn, which sets the scene, and the newest turns that fit beside it.

use quorum_core::registry::{Before, ContextStrategy, Fit, Length, OnOverflow};

use super::{newest, words};

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "slide",
    summary: "The first turn and the newest turns that fit; those in between are left out",
    fit,
    options: &[],
    overflow: OnOverflow::NotOffered,
    words: words::sum_up,
};

pub(super) fn fit(talk: &Length<'_>) -> Fit {
    within(talk, talk.room)
}

/// The same with less than all of the room.
pub(super) fn within(talk: &Length<'_>, room: u64) -> Fit {
    let first = talk.size(0, 1);
    if talk.since(0) <= room || first > room {
        return newest(talk, talk.newest(0, room));
    }
    Fit { before: Before::First, ..newest(talk, talk.newest(1, room - first)) }
}
