//! The panel as one model: how soon a stream begins, how late its chunks are, and what it costs
//! against our own endpoints.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{
    bench_server::BenchServer,
    database::Database,
    events::shown,
    panel_client::{self, Bursts},
    stamper::STAMPER,
    table::Table,
    vendor::{Pace, VENDOR},
};

/// Ten pieces a second.
const STEADY: Pace = Pace { first: 2_000, next: 100, pieces: 100 };

/// A model that takes a second.
const FAST_MODEL: Pace = Pace { first: 500, next: 25, pieces: 20 };

/// A voice that thinks for a minute.
const THOUGHTFUL: Pace = Pace { first: 60_000, next: 0, pieces: 1 };

/// Fifty streams at the same moment: the first chunk, and the latency of the others.
pub(crate) async fn streams(database: &Database, table: &mut Table) -> Result<()> {
    let server = BenchServer::open(database, STAMPER, STEADY).await?;
    let (address, bursts) = (server.address(), Bursts { streams: 50, times: 8, reading_ms: 10_000 });
    let measured = tokio::task::spawn_blocking(move || panel_client::measure(&address, bursts));
    let (first, pieces) = measured.await??;
    let what = "50 streams of /v1 at once, from the request to the first chunk: p99";
    table.row(what, shown(first), "<= 100 ms", first.p99 <= 100_000);
    let what = "from a provider's piece to a chunk of /v1, 50 streams: p99";
    table.row(what, shown(pieces), "<= 10 ms", pieces.p99 <= 10_000);
    Ok(())
}

/// The longest silence of a stream.
pub(crate) async fn silence(database: &Database, table: &mut Table) -> Result<()> {
    let server = BenchServer::open(database, STAMPER, THOUGHTFUL).await?;
    let (longest, all) = panel_client::silence(&server.address()).await?;
    ensure!(Duration::from_secs(60) <= all, "the voice answered after {all:?}");
    let shown = format!("{:.2} s", longest.as_secs_f64());
    let is_met = longest <= Duration::from_secs(11);
    table.row("the longest silence of a stream of /v1, a voice thinks 60 s", shown, "<= 11 s", is_met);
    Ok(())
}

/// A discussion as an answer of a model against the same one over our own endpoints.
pub(crate) async fn overhead(database: &Database, table: &mut Table) -> Result<()> {
    let server = BenchServer::open(database, VENDOR, FAST_MODEL).await?;
    let asker = Asker::new(&server.address());
    let [mut ours, mut plain, mut streamed] = [f64::MAX; 3];
    for _ in 0..3 {
        ours = ours.min(timed(asker.discussion()).await?);
        plain = plain.min(timed(asker.completion(Answered::Whole)).await?);
        streamed = streamed.min(timed(asker.completion(Answered::Streamed)).await?);
    }
    for (what, took) in [("plain", plain), ("streamed", streamed)] {
        let (what, ratio) = (format!("a discussion over /v1, {what} / over /api (best of 3)"), took / ours);
        table.row(&what, format!("{ratio:.4} ({took:.3} s / {ours:.3} s)"), "<= 1.01", ratio <= 1.01);
    }
    Ok(())
}

async fn timed(run: impl Future<Output = Result<()>>) -> Result<f64> {
    let began = Instant::now();
    run.await?;
    Ok(began.elapsed().as_secs_f64())
}

/// How an answer comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    Whole,
    Streamed,
}

/// A client of both kinds of endpoints.
struct Asker {
    client: reqwest::Client,
    base: String,
}

impl Asker {
    fn new(address: &str) -> Asker {
        // Fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Asker { client: reqwest::Client::new(), base: format!("http://{address}") }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<String> {
        let request = self.client.post(format!("{}{path}", self.base));
        let request = request.header("content-type", "application/json").body(body.to_string());
        Ok(request.send().await?.error_for_status()?.text().await?)
    }

    async fn discussion(&self) -> Result<()> {
        let providers = ["alpha", "alpha", "alpha"];
        let body = json!({ "topic": "What does it cost?", "rounds": 2, "providers": providers, "allowUnpriced": true });
        let told: Value = serde_json::from_str(&self.post("/api/discussions", &body).await?)?;
        let events = told["links"]["events"].as_str().context("a link to its events")?;
        let events = self.client.get(format!("{}{events}", self.base)).send().await?.text().await?;
        ensure!(events.contains("event: discussion-completed"), "it did not end: {events}");
        Ok(())
    }

    async fn completion(&self, answered: Answered) -> Result<()> {
        let stream = answered == Answered::Streamed;
        let told = self.post("/v1/chat/completions", &json!({
            "model": "quorum", "messages": [{ "role": "user", "content": "What does it cost?" }], "stream": stream,
            "quorum": { "providers": ["alpha", "alpha", "alpha"], "rounds": 2 },
        })).await?;
        let end = if stream { "data: [DONE]" } else { "\"finish_reason\":\"stop\"" };
        ensure!(told.contains(end), "it did not end: {told}");
        Ok(())
    }
}
