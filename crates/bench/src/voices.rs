//! Real calls over HTTP, compared with a bare loop of the same requests with the same client
//! library in the same run.
//!
//! The vendor is a separate process. The bare loop does what a script would: it posts, reads the
//! stream, parses the JSON of each event and joins the text. It has no recording, no retries and no
//! timeouts.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures::future::{join_all, try_join_all};
use quorum_core::{
    call::lane::Width,
    engine::{Engine, services::Services},
    model::{participant::Participant, spec::Spec},
    seams::{NoTools, Node},
};
use quorum_providers::{
    RealVoices,
    source::{Endpoint, ModelInfo, Source, Timeouts, Transport},
    wire::{Quirks, wire},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    database::{Database, WallClock, spec},
    machine,
    table::Table,
    vendor::{Pace, Vendor},
};

/// The timing of a fast model, which takes a second.
const FAST_MODEL: Pace = Pace { first: 500, next: 25, pieces: 20 };

/// Many small pieces.
const MANY_PIECES: Pace = Pace { first: 1, next: 0, pieces: 2_000 };

/// Calls per discussion: three voices in two rounds, and a synthesis.
const CALLS: u32 = 7;

/// One discussion: the time that is not the vendor's.
pub(crate) async fn one(database: &Database, table: &mut Table) -> Result<()> {
    let vendor = Vendor::start(FAST_MODEL)?;
    let (engine, bare) = (engine(database, &vendor.url)?, Bare::new(&vendor.url)?);
    let mut best = f64::MAX;
    for _ in 0..3 {
        let path = timed(bare.discussion()).await?;
        let took = timed(run_one(&engine)).await?;
        best = best.min(took / path);
    }
    let what = "one discussion over HTTP / the same calls bare (best of 3)";
    table.row(what, format!("{best:.4}"), "<= 1.01", best <= 1.01);
    Ok(())
}

/// A thousand discussions, one every 25 ms.
pub(crate) async fn steady(database: &Database, table: &mut Table) -> Result<()> {
    let vendor = Vendor::start(FAST_MODEL)?;
    let (engine, bare) = (engine(database, &vendor.url)?, Bare::new(&vendor.url)?);
    let mut alone = Vec::new();
    for _ in 0..3 {
        alone.push(timed(bare.discussion()).await?);
    }
    let path = alone.into_iter().fold(f64::MAX, f64::min);
    let arrive = async |index: u64| {
        sleep(Duration::from_millis(25 * index)).await;
        timed(run_one(&engine)).await
    };
    let mut took = try_join_all((0..1_000).map(arrive)).await?;
    took.sort_by(f64::total_cmp);
    let (p50, p99) = (took[500] / path, took[990] / path);
    let what = "1,000 discussions arriving steadily: p99 / critical path";
    table.row(what, format!("{p99:.3} (p50 {p50:.3})"), "<= 1.02", p99 <= 1.02);
    Ok(())
}

/// A thousand discussions at the same moment: time, processor and memory.
pub(crate) async fn burst(database: &Database, table: &mut Table) -> Result<()> {
    let vendor = Vendor::start(FAST_MODEL)?;
    let (engine, bare) = (engine(database, &vendor.url)?, Bare::new(&vendor.url)?);
    let theirs = measured(async || join_all((0..1_000).map(|_| bare.discussion())).await).await?;
    let ours = measured(async || join_all((0..1_000).map(|_| run_one(&engine))).await).await?;
    let ratio = ours.seconds / theirs.seconds;
    let lost = ours.lost;
    let shown = format!("{ratio:.3} ({:.2} s / {:.2} s), {lost} lost", ours.seconds, theirs.seconds);
    table.row(
        "a burst of 1,000 discussions / the same calls bare",
        shown,
        "<= 1.25",
        ratio <= 1.25 && lost == 0,
    );
    let cpu = ours.cpu / theirs.cpu;
    let per_call = |cpu: f64| cpu / f64::from(1_000 * CALLS) * 1e6;
    let shown = format!("{cpu:.2} ({:.0} us / {:.0} us)", per_call(ours.cpu), per_call(theirs.cpu));
    table.row("processor time per call, recording on / bare", shown, "<= 3", cpu <= 3.0);
    let memory = ours.memory / theirs.memory;
    let kib = |bytes: f64| bytes / 1_000.0 / 1_024.0;
    let shown = format!("{memory:.2} ({:.0} KiB / {:.0} KiB)", kib(ours.memory), kib(theirs.memory));
    table.row("memory per discussion under way / bare", shown, "<= 1.5", memory <= 1.5);
    Ok(())
}

/// The cost of one piece of an answer: the same calls with many pieces and with few.
pub(crate) async fn chunks(database: &Database, table: &mut Table) -> Result<()> {
    let vendor = Vendor::start(MANY_PIECES)?;
    let (engine, bare) = (engine(database, &vendor.url)?, Bare::new(&vendor.url)?);
    run_one(&engine).await?;
    bare.discussion().await?;
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    for _ in 0..3 {
        theirs = theirs.min(cpu(async || join_all((0..20).map(|_| bare.discussion())).await).await?);
        ours = ours.min(cpu(async || join_all((0..20).map(|_| run_one(&engine))).await).await?);
    }
    let per_piece = |cpu: f64| cpu / (20.0 * f64::from(CALLS) * MANY_PIECES.pieces as f64) * 1e6;
    let ratio = ours / theirs;
    let shown = format!("{ratio:.2} ({:.2} us / {:.2} us)", per_piece(ours), per_piece(theirs));
    table.row("processor time per streamed piece / bare (best of 3)", shown, "<= 1.5", ratio <= 1.5);
    Ok(())
}

/// The resources that the discussions used.
struct Usage {
    seconds: f64,
    cpu: f64,
    memory: f64,
    lost: usize,
}

async fn measured(run: impl AsyncFnOnce() -> Vec<Result<()>>) -> Result<Usage> {
    let (memory, cpu, began) = (machine::resident_bytes()?, machine::cpu_seconds()?, Instant::now());
    let watching = async {
        // In the second round a discussion has allocated all its memory.
        sleep(Duration::from_millis(1_700)).await;
        machine::resident_bytes()
    };
    let (ended, during) = futures::join!(run(), watching);
    let lost = ended.iter().filter(|it| it.is_err()).count();
    ended.into_iter().find(Result::is_err).transpose().map(drop).or_else(|error| {
        eprintln!("lost: {error:#}");
        Ok::<(), anyhow::Error>(())
    })?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), machine::cpu_seconds()? - cpu);
    Ok(Usage { seconds, cpu, memory: during?.saturating_sub(memory) as f64, lost })
}

async fn cpu(run: impl AsyncFnOnce() -> Vec<Result<()>>) -> Result<f64> {
    let before = machine::cpu_seconds()?;
    run().await.into_iter().collect::<Result<Vec<()>>>()?;
    Ok(machine::cpu_seconds()? - before)
}

async fn timed(run: impl Future<Output = Result<()>>) -> Result<f64> {
    let began = Instant::now();
    run.await?;
    Ok(began.elapsed().as_secs_f64())
}

async fn run_one(engine: &Engine) -> Result<()> {
    let outcome = engine.begin(talk()).await?.finished().await?.outcome();
    ensure!(outcome.success, "a discussion failed: {:?}", outcome.error);
    Ok(())
}

/// A discussion of three voices in two rounds with a synthesis.
pub(crate) fn talk() -> Spec {
    let spec = spec("synthesis", 2, 3);
    let seat = |it: &Participant| Participant { provider: "alpha".to_owned(), ..it.clone() };
    Spec { participants: spec.participants.iter().map(seat).collect(), ..spec }
}

/// An engine whose only provider is at this address.
pub(crate) fn engine(database: &Database, url: &str) -> Result<Engine> {
    let endpoint = Endpoint {
        base: format!("{url}/v1").parse()?,
        wire: wire("openai-chat").context("the wire is there")?,
        key: None,
        key_names: Vec::new(),
        key_path: None,
    };
    let source = Source {
        name: "alpha".to_owned(),
        transport: Transport::Http(Arc::new(endpoint)),
        model: "alpha-1".to_owned(),
        usual: ModelInfo { window: 128_000, price: None, quirks: Quirks::default() },
        models: BTreeMap::new(),
        width: Width::at_once(10_000),
        timeouts: Timeouts::default(),
    };
    let voices = Arc::new(RealVoices::of(vec![source]));
    let services = Services {
        store: database.store.clone(),
        voices,
        tools: Arc::new(NoTools),
        clock: Arc::new(WallClock),
        registry: quorum_patterns::registry(),
        caps: Default::default(),
        telemetry: None,
    };
    Ok(Engine::new(services, Node::fresh("bench")))
}

/// The same calls as a script makes them.
struct Bare {
    client: reqwest::Client,
    address: String,
    body: String,
}

impl Bare {
    fn new(url: &str) -> Result<Bare> {
        let asked = "What does it cost? Say it in a few sentences, and build on what was said. ".repeat(12);
        let messages =
            json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": asked }]);
        let body = json!({
            "model": "alpha-1", "messages": messages, "stream": true,
            "stream_options": { "include_usage": true }, "max_tokens": 2_048, "temperature": 0.7,
        });
        // Fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::new();
        Ok(Bare { client, address: format!("{url}/v1/chat/completions"), body: body.to_string() })
    }

    async fn discussion(&self) -> Result<()> {
        for _ in 0..2 {
            try_join_all((0..3).map(|_| self.call())).await?;
        }
        self.call().await
    }

    async fn call(&self) -> Result<()> {
        let request = self.client.post(&self.address).header("content-type", "application/json");
        let mut response = request.body(self.body.clone()).send().await?.error_for_status()?;
        let (mut buffer, mut text) = (Vec::new(), String::new());
        while let Some(bytes) = response.chunk().await? {
            buffer.extend_from_slice(&bytes);
            while let Some(end) = buffer.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                let Some(data) = line.strip_prefix(b"data: ") else { continue };
                if let Ok(event) = serde_json::from_slice::<Value>(data) {
                    let piece = event.pointer("/choices/0/delta/content").and_then(Value::as_str);
                    text.push_str(piece.unwrap_or_default());
                }
            }
        }
        ensure!(!text.is_empty(), "the answer is empty");
        Ok(())
    }
}
