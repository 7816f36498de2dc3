//! Real voices on a test server: their sources, a scope over them, requests for every pattern.

use std::{collections::BTreeMap, sync::Arc};

use quorum::{
    Discussion, Handle, Quorum, Request, Scope,
    model::{event::Event, id::Tenant},
};
use quorum_core::{
    call::lane::Width,
    model::event::Fact,
    seams::{Archive, Store},
};
use quorum_providers::{
    RealVoices,
    source::{Endpoint, ModelInfo, Source, Timeouts, Transport},
    wire::{Quirks, wire},
};
use serde_json::{Value, json};

/// The wires, with the path prefixes of their endpoints.
pub(crate) const WIRES: [(&str, &str); 5] = [
    ("anthropic", "/v1"),
    ("gemini", "/v1beta"),
    ("ollama", ""),
    ("openai-chat", "/v1"),
    ("openai-responses", "/v1"),
];

/// The providers, each with a model named after it: `ann-1`.
pub(crate) const NAMES: [&str; 4] = ["ann", "bob", "cyd", "dan"];

/// A provider at this address on this wire.
pub(crate) fn source(name: &str, url: &str, (on, path): (&str, &str), key: &str) -> Source {
    let endpoint = Endpoint {
        base: format!("{url}{path}").parse().unwrap(),
        wire: wire(on).unwrap(),
        key: Some(key.into()),
        key_names: vec!["ALPHA_KEY".to_owned()],
        key_path: None,
    };
    Source {
        name: name.to_owned(),
        transport: Transport::Http(Arc::new(endpoint)),
        model: format!("{name}-1"),
        usual: ModelInfo { window: 128_000, price: None, quirks: Quirks::default() },
        models: BTreeMap::new(),
        width: Width::at_once(1_000),
        timeouts: Timeouts::default(),
    }
}

/// All providers at this address on one wire.
pub(crate) fn sources(url: &str, on: (&str, &str)) -> Vec<Source> {
    NAMES.iter().map(|name| source(name, url, on, "a-key-for-everyone")).collect()
}

/// The scope of the local tenant, with these providers.
pub(crate) fn scope<S: Store + Archive + 'static>(store: Arc<S>, sources: Vec<Source>) -> Scope {
    let voices = Arc::new(RealVoices::of(sources));
    let quorum = Quorum::builder().store(store).voices(voices).assigning_roles().build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

/// Starts a discussion.
pub(crate) async fn start(scope: &Scope, request: &Request) -> (Discussion, Handle) {
    scope.start(scope.check(request).unwrap()).await.unwrap()
}

/// A request for this pattern with the number of participants it needs.
pub(crate) fn request(pattern: &str, names: &[&str]) -> Request {
    let count = if pattern == "dialogue" { 2 } else { names.len() };
    let mut fields = json!({
        "topic": "Tabs or spaces?", "pattern": pattern, "rounds": 2, "providers": &names[..count],
    });
    if ["voting", "settle"].contains(&pattern) {
        fields["votingOptions"] = json!(["tabs", "spaces"]);
    }
    read(fields)
}

fn read(fields: Value) -> Request {
    serde_json::from_value(fields).unwrap()
}

/// The number of calls, of answers, and of failures.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) placed: u64,
    pub(crate) answers: u64,
    pub(crate) failures: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, facts: &[Fact]) {
        for fact in facts {
            match &fact.event {
                Event::CallPlaced(_) => self.placed += 1,
                Event::TurnCompleted { .. } => self.answers += 1,
                Event::CallFailed { .. } => self.failures += 1,
                Event::TurnFailed(failed) if failed.attempts > 0 => self.failures += 1,
                _ => {}
            }
        }
    }
}
