//! Facts of answers that were all thinking.

use quorum_core::model::{
    error::ErrorClass,
    event::{Broken, Event},
    id::Step,
    money::Usage,
    transcript::Bill,
};

use crate::{Sample, turn};

/// An answer that was all thinking.
pub(crate) fn only_thoughts(step: &Step) -> Vec<Sample> {
    let usage = Usage { written: 60, reasoning: 4_096, ..Usage::new(100, 4_096) };
    let nothing = Broken { text: "".into(), bill: Bill { usage, ..turn(step).bill } };
    let thought = Event::CallFailed {
        attempt: 1,
        participant: "ann".into(),
        class: ErrorClass::InvalidResponse,
        message: "it reached its token limit before its answer began".into(),
        limit: None,
        only_thoughts: true,
        retry_in_ms: Some(0),
        broken: Some(nothing),
    };
    vec![(Some(step.clone()), thought)]
}
