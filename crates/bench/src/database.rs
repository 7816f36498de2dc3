//! A fresh database with an engine, and voices with a fixed latency.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use anyhow::Result;
use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use quorum_core::{
    call::{
        Call,
        lane::{Lane, Width},
    },
    engine::{Engine, services::Services},
    model::{
        error::ProviderError,
        money::{Price, Usage, Usd},
        participant::Participant,
        spec::{Manner, SYNTHESIS_RESERVE_MS, Spec, Timing, Tolerance},
        time::Timestamp,
        transcript::Finish,
    },
    registry::Registry,
    seams::{Chunk, Clock, NoTools, Node, Provider, Store, Voice, Voices},
};
use quorum_store::SqliteStore;
use quorum_testkit::spec;
use tokio::time::sleep;

/// A database in a temporary folder that is removed on drop.
pub(crate) struct Database {
    folder: PathBuf,
    pub(crate) store: Arc<SqliteStore>,
    voices: Arc<Fixed>,
}

impl Database {
    /// Creates a database in the target directory, so that it is on a real disk.
    pub(crate) fn fresh() -> Result<Self> {
        let folder = std::env::current_dir()?.join("target").join(format!("bench-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder)?;
        let store = Arc::new(SqliteStore::open(folder.join("bench.db"))?);
        Ok(Database { folder, store, voices: Arc::new(Fixed::new()) })
    }

    /// A file in its folder: `bench.db` is the database itself.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An engine whose voices have this latency.
    pub(crate) fn engine(&self, latency: Duration) -> Engine {
        self.voices.set(latency);
        self.engine_with(quorum_patterns::registry())
    }

    /// An engine with other patterns, and the voices' current latency.
    pub(crate) fn engine_with(&self, registry: Registry) -> Engine {
        self.engine_of(self.store.clone(), registry, Node::fresh("bench"))
    }

    /// An engine on another store, as this node.
    pub(crate) fn engine_on(&self, store: Arc<dyn Store>, latency: Duration, node: Node) -> Engine {
        self.voices.set(latency);
        self.engine_of(store, quorum_patterns::registry(), node)
    }

    fn engine_of(&self, store: Arc<dyn Store>, registry: Registry, node: Node) -> Engine {
        let services = Services {
            store,
            voices: self.voices.clone(),
            tools: Arc::new(NoTools),
            clock: Arc::new(WallClock),
            registry,
            caps: Default::default(),
            telemetry: None,
        };
        Engine::new(services, node)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A spec for this many voices in this pattern.
pub(crate) fn spec(pattern: &str, rounds: u32, voices: usize) -> Spec {
    let seat = |index: usize| Participant { name: format!("voice{index}"), ..Participant::of("fixed") };
    Spec {
        topic: "What does it cost?".to_owned(),
        rounds,
        participants: (0..voices).map(seat).collect(),
        manner: Manner { temperature: 0.7, max_tokens: 2_048 },
        timing: Timing { step_ms: 300_000, total_ms: 36_000_000, reserve_ms: SYNTHESIS_RESERVE_MS },
        tolerance: Tolerance { go_on: true, min_providers: 1 },
        ..spec::spec(pattern)
    }
}

/// A text of about 1,200 characters, like a model's answer.
fn speech() -> String {
    "It depends on what is measured, and on what else the machine does meanwhile. ".repeat(16)
}

struct Fixed {
    latency: RwLock<Duration>,
    lane: Arc<Lane>,
    speech: Arc<str>,
}

impl Fixed {
    fn new() -> Self {
        let lane = Arc::new(Lane::new(Width::at_once(100_000)));
        Fixed { latency: RwLock::new(Duration::ZERO), lane, speech: speech().into() }
    }

    fn set(&self, latency: Duration) {
        *self.latency.write().unwrap_or_else(PoisonError::into_inner) = latency;
    }
}

impl Voices for Fixed {
    fn voice(&self, _spec: &Spec, _who: &Participant) -> Option<Voice> {
        let latency = *self.latency.read().unwrap_or_else(PoisonError::into_inner);
        let provider = Arc::new(FixedVoice { latency, speech: self.speech.clone() });
        let price = Some(Price::new(Usd::ZERO, Usd::ZERO));
        Some(Voice {
            provider,
            model: None,
            lane: self.lane.clone(),
            price,
            window: 128_000,
            thinking: 0,
            is_small: false,
            follows_schemas: false,
        })
    }
}

struct FixedVoice {
    latency: Duration,
    speech: Arc<str>,
}

impl Provider for FixedVoice {
    fn reply(&self, _call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let (latency, speech) = (self.latency, self.speech.clone());
        stream::once(async move {
            if !latency.is_zero() {
                sleep(latency).await;
            }
            let usage = Some(Usage::new(300, 300));
            stream::iter([
                Ok(Chunk::Text(speech.to_string())),
                Ok(Chunk::End { finish: Finish::Stop, usage, cost: None }),
            ])
        })
        .flatten()
        .boxed()
    }

    fn check<'a>(&'a self, _who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

pub(crate) struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_micros() as i64)
    }

    fn draw(&self) -> u64 {
        uuid::Uuid::new_v4().as_u64_pair().0
    }
}
