//! Summarise: when the room gets tight, the older half is replaced by a summary of at most a fifth
//! of its size.

use quorum_core::registry::{Before, ContextStrategy, Covered, Fit, Length, OnOverflow, SumUp};

use super::{TIGHT, fit_in, share, slide, tight, words};

/// The maximum size of a summary, in per cent of what it covers and of the room.
const SUMMARY: u64 = 20;

/// The maximum size of the turns kept verbatim beside a summary, in per cent of the room.
const KEPT: u64 = 50;

pub(crate) const STRATEGY: ContextStrategy = ContextStrategy {
    name: "summarise",
    summary: "The older half is replaced by a summary when the window gets tight; summaries are paid calls",
    fit,
    options: &[],
    overflow: OnOverflow::SumsUp,
    words: words::sum_up,
};

pub(super) fn fit(talk: &Length<'_>) -> Fit {
    let summary = talk.summary.filter(|it| it.size <= talk.room / 2);
    let plenty = share(talk.room, TIGHT);
    if talk.since(0) <= plenty {
        return slide::fit(talk);
    }
    let Some(Covered { turns, size: summary }) = summary else {
        return Fit { sum_up: sum_up(talk, 0, 0), ..slide::fit(talk) };
    };
    let size = summary + talk.since(turns);
    let sum_up = if size <= plenty { None } else { sum_up(talk, turns, summary) };
    Fit { sum_up, tight: tight(size, talk.room), ..fit_in(talk, Before::Summary, talk.room) }
}

/// A summary of the older half of what is not summarised yet, or more if the rest would be too
/// large; never of the last turn.
fn sum_up(talk: &Length<'_>, done: usize, done_size: u64) -> Option<SumUp> {
    let half = done + (talk.turns() - done).div_ceil(2);
    let turns = half.max(talk.newest(0, share(talk.room, KEPT))).min(talk.turns().saturating_sub(1));
    let covered = done_size + talk.size(done, turns);
    let most = share(covered, SUMMARY).min(share(talk.room, SUMMARY));
    (turns > done && most > 0).then_some(SumUp { turns, most })
}
