//! Facts about the sources of an answer.

use std::sync::Arc;

use quorum_core::model::{
    event::Event,
    id::Step,
    outcome::{Decision, DroppedView, FoundBy, SentenceSource, SourcedSentence, Support},
};

use crate::Sample;

pub(crate) fn sources() -> Vec<Sample> {
    let source = |by: FoundBy| SentenceSource {
        participant: "ann".into(),
        round: 2,
        step: Step::new(2, "speaking", "ann"),
        start: 3,
        end: 40,
        score: 0.71,
        by,
    };
    let sentence = |(at, level): (usize, Support)| SourcedSentence {
        start: 10 * at,
        end: 10 * at + 9,
        level,
        sources: [FoundBy::Marker, FoundBy::Words, FoundBy::Vectors]
            .map(source)
            .into_iter()
            .take(at)
            .collect(),
        unconfirmed: if at == 1 { vec!["QV:9".into()] } else { Vec::new() },
    };
    let decision = Decision {
        synthesis: "Tabs adapt to every reader.".into(),
        synthesizer: Some("bob".into()),
        provenance: (0..).zip(Support::ALL).map(sentence).collect(),
        dropped: vec![DroppedView { participant: "cyd".into(), round: 1, text: "spaces are fixed".into() }],
        ..Decision::default()
    };
    vec![(None, Event::Decided { decision: Arc::new(decision) })]
}
