//! Events over HTTP: the latency from a vendor's piece to a client's event, and the cost of a
//! subscriber.
//!
//! Vendor, server and clients are three processes; the server is this one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    bench_server::BenchServer,
    database::Database,
    listener::{self, Latencies},
    machine,
    stamper::STAMPER,
    table::Table,
    vendor::Pace,
};

/// Ten pieces a second, after enough time for every client to connect.
const STEADY: Pace = Pace { first: 4_000, next: 100, pieces: 200 };

/// How long clients listen.
const LISTENING_MS: u64 = 10_000;

const MANY: usize = 1_000;

/// The latency of a piece with 1, 100 and 1,000 running discussions, each with its own client.
pub(crate) async fn latency(database: &Database, table: &mut Table) -> Result<()> {
    for count in [1, 100, MANY] {
        let server = BenchServer::open(database, STAMPER, STEADY).await?;
        let ids = start_discussions(&server, count).await?;
        let latencies = listener::result(&mut listener::start(&server.address(), &ids, LISTENING_MS)?)?;
        let what = format!("from a provider's piece to a client's event, {count} streams: p99");
        let shown = shown(latencies);
        match count {
            100 => table.row(&what, shown, "< 5 ms", latencies.p99 < 5_000),
            _ => table.note(&what, shown),
        }
    }
    Ok(())
}

/// A thousand subscribers of one discussion: their latency, and the memory of each.
pub(crate) async fn watchers(database: &Database, table: &mut Table) -> Result<()> {
    let server = BenchServer::open(database, STAMPER, STEADY).await?;
    let ids = start_discussions(&server, 1).await?;
    // Memory that only the first client allocates is already in use.
    listener::result(&mut listener::start(&server.address(), &ids, LISTENING_MS)?)?;
    let before = machine::resident_bytes()?;
    let mut clients = listener::start(&server.address(), &vec![ids[0].clone(); MANY], LISTENING_MS / 2)?;
    sleep(Duration::from_millis(LISTENING_MS / 4)).await;
    let each = machine::resident_bytes()?.saturating_sub(before) as f64 / MANY as f64 / 1_024.0;
    let latencies = listener::result(&mut clients)?;
    table.note("1,000 watchers of one discussion, from its piece to their events: p99", shown(latencies));
    table.row("memory per watcher", format!("{each:.1} KiB"), "< 64 KiB", each < 64.0);
    Ok(())
}

pub(crate) fn shown(latencies: Latencies) -> String {
    let ms = |micros: i64| micros as f64 / 1e3;
    format!("{:.2} ms (p50 {:.2} ms, {} events)", ms(latencies.p99), ms(latencies.p50), latencies.count)
}

/// Starts this many discussions.
async fn start_discussions(server: &BenchServer, count: usize) -> Result<Vec<String>> {
    start_discussions_at(&server.address(), count).await
}

/// Starts this many discussions of a server at this address, in which one voice speaks at a time.
pub(crate) async fn start_discussions_at(address: &str, count: usize) -> Result<Vec<String>> {
    // Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let address = format!("http://{address}/api/discussions");
    let request_body = json!({
        "topic": "What does it cost?", "pattern": "round-robin", "rounds": 2, "providers": ["alpha", "alpha"],
        "allowUnpriced": true,
    });
    let ordered = async || {
        let request = client.post(&address).header("content-type", "application/json");
        let answer = request.body(request_body.to_string()).send().await?.text().await?;
        let answer: Value = serde_json::from_str(&answer)?;
        ensure!(answer["discussionId"].is_string(), "a request was refused: {answer}");
        Ok(answer["discussionId"].as_str().context("an id")?.to_owned())
    };
    stream::iter(0..count).map(|_| ordered()).buffer_unordered(64).try_collect().await
}
