//! A sample of a discussion that a span of another trace has asked for.

use quorum_core::model::event::Event;

use crate::{Sample, spec};

pub(crate) fn callers() -> Vec<Sample> {
    let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok();
    vec![(None, Event::Opened { spec: spec(), flow: 1, lineage: None, fork: None, caller })]
}
