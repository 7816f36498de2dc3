//! Majority: more than half of the votes, one each, and at least the threshold.

use quorum_core::registry::Consensus;

use super::{
    FORMS, OPTIONS, RESULTS,
    answer_value::formatted,
    longest,
    poll::{self, Rule},
    tally::{Count, Measure},
};
use crate::{
    first::{self, baseline},
    provenance,
};

pub(crate) const METHOD: Consensus = Consensus {
    name: "majority",
    summary: "More than half of the votes decide",
    options: OPTIONS,
    forms: FORMS,
    results: RESULTS,
    votes: true,
    check: poll::check,
    remarks: poll::remarks_by_heads,
    calls: poll::calls,
    longest,
    writes_answer: false,
    trace: provenance::trace,
    finish: |floor, decision| Box::pin(formatted(floor, decision)),
    opens: first::are_asked,
    open: |floor| Box::pin(first::ask(floor)),
    compare: |floor| Box::pin(baseline::draw(floor)),
    decide: |floor| Box::pin(poll::decide(floor, &RULE)),
};

pub(super) const RULE: Rule = Rule { measure: Measure::Heads, carries, aim: "a majority" };

fn carries(count: &Count, threshold: f64) -> bool {
    0.5 < count.share && count.reaches(threshold)
}
