//! Unanimous: everyone that was to vote votes for the same option.

use quorum_core::registry::Consensus;

use super::{
    FORMS, OPTIONS, RESULTS, THRESHOLD,
    answer_value::formatted,
    longest, no_effect,
    poll::{self, Rule},
    tally::{Count, Measure},
};
use crate::{
    first::{self, baseline},
    provenance,
};

pub(crate) const METHOD: Consensus = Consensus {
    name: "unanimous",
    summary: "Everyone must agree",
    options: OPTIONS,
    forms: FORMS,
    results: RESULTS,
    votes: true,
    check: poll::check,
    remarks: |spec| {
        let unused = no_effect(spec, THRESHOLD.name(), "unanimity takes every vote");
        unused.into_iter().chain(poll::remarks_by_heads(spec)).collect()
    },
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

pub(super) const RULE: Rule = Rule { measure: Measure::Heads, carries, aim: "unanimity" };

fn carries(count: &Count, _threshold: f64) -> bool {
    count.reaches(1.0) && count.uncounted.all().is_empty()
}
