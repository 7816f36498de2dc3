//! Samples of the order of a client that uses the panel as one model.

use std::sync::Arc;

use quorum_core::model::{
    client::{Author, ClientOrder, Utterance},
    event::Event,
    spec::Spec,
};
use serde_json::json;

use crate::{Sample, spec};

pub(crate) fn clients() -> Vec<Sample> {
    let client = ClientOrder {
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
    };
    let spec = Arc::new(Spec { client: Some(client), ..(*spec()).clone() });
    vec![(None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })]
}
