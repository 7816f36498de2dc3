//! Samples of the order of a client that uses the panel as one model.

use std::sync::Arc;

use quorum_core::model::{
    client::{Author, ClientOrder, Thinking, Utterance},
    event::Event,
    spec::Spec,
};
use serde_json::{Map, json};

use crate::{Sample, spec};

pub(crate) fn clients() -> Vec<Sample> {
    vec![opened(ClientOrder {
        model: "quorum/debate".into(),
        question: Some("tabs?".into()),
        instructions: Some("answer briefly".into()),
        conversation: vec![
            Utterance { by: Author::User, text: "hello".into() },
            Utterance { by: Author::Assistant, text: "yes?".into() },
            Utterance { by: Author::Tool, text: "12".into() },
        ],
        schema: Some(json!({ "type": "object" })),
        max_tokens: Some(300),
        stop: vec!["END".into()],
        ignored: vec!["top_p".into()],
        attended: Some("a-digest".into()),
        ..ClientOrder::default()
    })]
}

/// What a response that is retrieved later consists of.
pub(crate) fn responses() -> Vec<Sample> {
    vec![opened(ClientOrder {
        model: "quorum".into(),
        previous: Some("resp_1".into()),
        thinking: Thinking::Progress,
        analysis: true,
        ..ClientOrder::default()
    })]
}

/// What responses that continue this one keep, and what the answer repeats.
pub(crate) fn continued_responses() -> Vec<Sample> {
    vec![opened(ClientOrder {
        model: "quorum".into(),
        instructions: Some("be brief\n\nspeak French".into()),
        standing: Some("speak French".into()),
        repeated: Map::from_iter([("temperature".into(), json!(0.5))]),
        ..ClientOrder::default()
    })]
}

fn opened(client: ClientOrder) -> Sample {
    let spec = Arc::new(Spec { client: Some(client), ..(*spec()).clone() });
    (None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })
}
