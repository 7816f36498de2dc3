//! Facts about what is recalled of past discussions.

use std::sync::Arc;

use quorum_core::model::{
    event::Event,
    recall::{Follows, Recall, Recalled, Replaced, Why},
    spec::Spec,
    time::Timestamp,
};

use crate::{Sample, id, spec};

pub(crate) fn recall() -> Vec<Sample> {
    let session = Some("01890000-0000-7000-8000-0000000000ff".parse().unwrap());
    let followed = Recalled {
        id: id("01890000-0000-7000-8000-00000000000a"),
        key: "discussion:00000000000050008000000000000000".into(),
        topic: "tabs or spaces?".into(),
        ended_at: Timestamp(1_767_225_600_000_000),
        score: None,
        text: "Question: tabs or spaces?\nAnswer: tabs".into(),
        cut: false,
        tokens: 10,
        why: Why::Followed,
    };
    let recalled = Recalled {
        id: id("01890000-0000-7000-8000-00000000000b"),
        score: Some(0.75),
        cut: true,
        why: Why::Recalled,
        ..followed.clone()
    };
    let replaced = vec![Replaced { seat: "glm".into(), by: "qwen".into() }];
    let spec = Arc::new(Spec {
        recall: Some(Recall { most: Some(3), from: vec!["last".into()], session }),
        follows: Some(Follows { id: followed.id, replaced, pattern: None }),
        recalled: Some(vec![followed, recalled]),
        ..(*spec()).clone()
    });
    vec![(None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })]
}

/// A follow-up question with another pattern.
pub(crate) fn other_pattern() -> Vec<Sample> {
    let follows = Follows {
        id: id("01890000-0000-7000-8000-00000000000a"),
        replaced: Vec::new(),
        pattern: Some("voting".into()),
    };
    let spec = Arc::new(Spec { follows: Some(follows), ..(*spec()).clone() });
    vec![(None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })]
}
