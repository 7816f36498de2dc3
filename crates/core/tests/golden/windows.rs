//! Facts about context windows.

use std::sync::Arc;

use quorum_core::model::{
    error::ErrorClass,
    event::{Event, Placed, Summarised, Tight, WindUp},
    id::Step,
    money::Spent,
    spec::{Spec, WindowSpec},
    window::TooLong,
};

use crate::{Sample, spec, turn};

pub(crate) fn windows() -> Vec<Sample> {
    let window = WindowSpec { strategy: "hybrid".into(), overflow: WindowSpec::END.into() };
    let spec = Arc::new(Spec { window, ..(*spec()).clone() });
    let summary = Step::from("summary/13");
    let placed = Placed {
        attempt: 1,
        participant: "ann".into(),
        provider: "ann".into(),
        model: None,
        form: None,
        price: None,
        reserved: Spent::default(),
        nonce: "00000000000000ff".into(),
        digest: None,
        repeats: false,
        labels: Vec::new(),
        unheard: 0,
        shortened: 0,
        counted: 12_345,
        max_tokens: 2_048,
    };
    let too_long = Event::CallFailed {
        attempt: 1,
        participant: "ann".into(),
        class: ErrorClass::ContextOverflow,
        message: "too long".into(),
        limit: Some(TooLong { limit: 8_192, sent: Some(14_393) }),
        only_thoughts: false,
        retry_in_ms: Some(0),
        broken: None,
    };
    let full = WindUp::WindowFull { participant: "ann".into() };
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None }),
        (
            Some(Step::from("window/ann")),
            Event::WindowTight(Tight { participant: "ann".into(), percent: 83 }),
        ),
        (Some(summary.clone()), Event::CallPlaced(placed)),
        (Some(summary.clone()), too_long),
        (
            Some(summary.clone()),
            Event::Summarised(Summarised { covers: 13, heard: 25, turn: Some(turn(&summary)) }),
        ),
        (Some(Step::from("summary/26")), Event::Summarised(Summarised { covers: 26, heard: 50, turn: None })),
        (Some(Step::from("9/speaking/ann/wound-up")), Event::WoundUp { reason: full }),
    ]
}
