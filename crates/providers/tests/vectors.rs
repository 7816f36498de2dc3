//! Tests of embeddings over a real socket.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use quorum_core::{
    call::lane::Width,
    model::{error::ErrorClass, money::Usage, participant::Participant},
    seams::{Embedder, Voices},
};
use quorum_providers::{
    RealVoices,
    source::{Endpoint, ModelInfo, Source, Timeouts, Transport},
    wire::{Quirks, wire},
};
use quorum_testkit::{
    server::{Fault, server},
    spec::spec,
};

fn source(base: &str, concurrency: usize) -> Source {
    let endpoint = Endpoint {
        base: format!("{base}/v1").parse().unwrap(),
        wire: wire("openai-chat").unwrap(),
        key: None,
        key_names: Vec::new(),
        key_path: None,
    };
    Source {
        name: "alpha".to_owned(),
        transport: Transport::Http(Arc::new(endpoint)),
        model: "alpha-1".to_owned(),
        usual: ModelInfo { window: 8_000, price: None, quirks: Quirks::default() },
        models: BTreeMap::new(),
        width: Width::at_once(concurrency),
        timeouts: Timeouts::default(),
    }
}

fn voices(base: &str, concurrency: usize) -> RealVoices {
    RealVoices::of(vec![source(base, concurrency)])
}

fn embedder(base: &str, model: &str) -> Option<Arc<dyn Embedder>> {
    voices(base, 4).embedder(&spec("debate"), model)
}

fn likeness(one: &[f32], other: &[f32]) -> f32 {
    let product = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    product(one, other) / (product(one, one) * product(other, other)).sqrt()
}

#[tokio::test]
async fn d08_texts_become_vectors_in_their_order() {
    let server = server().start();
    let embedder = embedder(&server.url(), "alpha/embed-1").unwrap();
    let texts = ["tabs adapt to every reader", "spaces look the same", "tabs adapt to each reader"];
    let embedded = embedder.embed(texts.map(str::to_owned).to_vec()).await.unwrap();
    let [tabs, spaces, again] = &embedded.vectors[..] else { panic!("three vectors") };
    assert!(likeness(tabs, again) > likeness(tabs, spaces));
    assert!(matches!(embedded.usage, Some(Usage { prompt: 1.., completion: 0, .. })), "{:?}", embedded.usage);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].model.as_str()), (1, "embed-1"));
}

#[tokio::test]
async fn d08_an_embedder_needs_a_configured_provider_and_a_model() {
    assert!(embedder("http://127.0.0.1:9", "alpha/embed-1").is_some());
    assert!(embedder("http://127.0.0.1:9", "beta/embed-1").is_none());
    assert!(embedder("http://127.0.0.1:9", "alpha").is_none());
}

#[tokio::test]
async fn f5_embeddings_wait_in_the_lane_of_their_provider() {
    let server = server().start();
    let voices = voices(&server.url(), 1);
    let order = spec("debate");
    let (embedder, voice) = (
        voices.embedder(&order, "alpha/embed-1").unwrap(),
        voices.voice(&order, &Participant::of("alpha")).unwrap(),
    );
    let place = voice.lane.enter(0).await;
    let mut embedding = embedder.embed(vec!["a".to_owned()]);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut embedding).await;
    assert!(early.is_err() && server.requests().is_empty(), "it asked while another call had the only place");
    drop(place);
    assert!(embedding.await.is_ok());
    voice.lane.close_for(Duration::from_secs(3_600));
    let closed = embedder.embed(vec!["a".to_owned()]).await.unwrap_err();
    assert_eq!((closed.class, server.requests().len()), (ErrorClass::RateLimit, 1));
}

#[tokio::test]
async fn d08_an_embedders_provider_may_be_called_by_its_other_names() {
    assert!(
        embedder("http://127.0.0.1:9", "Alpha/embed-1").is_none(),
        "names of one's own are as they are written"
    );
    let voices =
        RealVoices::of(vec![Source { name: "gemini".to_owned(), ..source("http://127.0.0.1:9", 4) }]);
    assert!(voices.embedder(&spec("debate"), "google/embed-1").is_some());
}

#[tokio::test]
async fn d08_what_goes_wrong_has_its_class() {
    let server = server().fault("*", Fault::Status(503)).start();
    let failed = embedder(&server.url(), "alpha/embed-1").unwrap().embed(vec!["a".to_owned()]).await;
    assert_eq!(failed.unwrap_err().class, ErrorClass::ApiError);
    let nobody = embedder("http://127.0.0.1:9", "alpha/embed-1").unwrap().embed(vec!["a".to_owned()]).await;
    assert_eq!(nobody.unwrap_err().class, ErrorClass::Network);
}
