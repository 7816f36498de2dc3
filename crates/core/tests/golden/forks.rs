//! Facts added with forks and random orders.

use quorum_core::model::{
    event::{Event, Fork},
    id::Step,
};

use crate::{Sample, id, spec};

pub(crate) fn forks() -> Vec<Sample> {
    let fork = Fork { of: id("01890000-0000-7000-8000-000000000003"), at: Step::new(1, "speaking", "ann") };
    let judging = Step::new(2, "judging", "cyd");
    vec![
        (None, Event::Opened { spec: spec(), flow: 2, lineage: None, fork: Some(fork), caller: None }),
        (Some(judging.purpose("order")), Event::OrderDrawn { order: vec![1, 0] }),
    ]
}
