//! What it costs: one table, measured in one run, so that a noisy machine spoils no ratio.
//!
//! `cargo xtask bench` builds this for release and runs it. Everything is recorded in a real SQLite database with
//! `synchronous=FULL` in a temporary folder on the disk the checkout is on.

mod bare;
mod events;
mod helper;
mod listener;
mod load;
mod machine;
mod place;
mod record;
mod rounds;
mod stamper;
mod start;
mod table;
mod vendor;
mod voices;

use anyhow::{Result, bail};
use futures::future::LocalBoxFuture;

use crate::{listener::LISTENER, place::Place, stamper::STAMPER, table::Table, vendor::VENDOR};

/// Something that is measured on a fresh database.
type Measure = for<'a> fn(&'a Place, &'a mut Table) -> LocalBoxFuture<'a, Result<()>>;

/// Everything there is to measure; names on the command line choose from it.
const MEASURES: &[(&str, &str, Measure)] = &[
    ("facts", "durable facts a second by 64 writers", |place, table| {
        Box::pin(record::facts_per_second(place, table))
    }),
    ("append", "one fact by one writer", |place, table| Box::pin(record::one_append(place, table))),
    ("one", "one discussion at 50 ms against its critical path", |place, table| {
        Box::pin(load::one(place, table))
    }),
    ("hundred", "a hundred of them in lockstep, and processor time per call", |place, table| {
        Box::pin(load::hundred(place, table))
    }),
    ("thousand", "a thousand at a second, and memory per discussion", |place, table| {
        Box::pin(load::thousand(place, table))
    }),
    ("sequential", "500 discussions of six calls in a row against the same calls bare", |place, table| {
        Box::pin(load::sequential(place, table))
    }),
    ("resume", "until a record of 10,000 facts asks its next question", |place, table| {
        Box::pin(record::resume(place, table))
    }),
    ("rounds", "late rounds of a long talk against early ones", |place, table| {
        Box::pin(rounds::late_against_early(place, table))
    }),
    ("voice", "one discussion over HTTP against the same calls bare", |place, table| {
        Box::pin(voices::one(place, table))
    }),
    ("steady", "a thousand over HTTP, one every 25 ms", |place, table| {
        Box::pin(voices::steady(place, table))
    }),
    ("burst", "a thousand over HTTP at the same moment: time, processor, memory", |place, table| {
        Box::pin(voices::burst(place, table))
    }),
    ("chunks", "processor time per streamed piece", |place, table| Box::pin(voices::chunks(place, table))),
    ("events", "from a provider's piece to a client's event", |place, table| {
        Box::pin(events::latency(place, table))
    }),
    ("watchers", "a thousand who watch one discussion: delay and memory", |place, table| {
        Box::pin(events::watchers(place, table))
    }),
    ("start", "how long the command takes to start", |_, table| Box::pin(async { start::version(table) })),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match wanted.first().map(String::as_str) {
        Some(VENDOR) => return vendor::be_one(&wanted[1..]),
        Some(STAMPER) => return stamper::be_one(&wanted[1..]),
        Some(LISTENER) => return listener::be_one(&wanted[1..]),
        Some("--help" | "-h") => return say_how(),
        _ => {}
    }
    let is_known = |wanted: &String| MEASURES.iter().any(|(name, ..)| name == wanted);
    if let Some(unknown) = wanted.iter().find(|it| !is_known(it)) {
        bail!("nothing named {unknown} is measured; `--help` lists what is");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut table = Table::default();
    for (name, _, measure) in MEASURES {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            runtime.block_on(async { measure(&Place::fresh()?, &mut table).await })?;
        }
    }
    table.print();
    Ok(())
}

fn say_how() -> Result<()> {
    println!(
        "Measures what it costs and prints one table. Names choose what is measured; without any, it is everything.\n"
    );
    println!("Usage: quorum-bench [NAME…]\n");
    for (name, what, _) in MEASURES {
        println!("  {name:<12}{what}");
    }
    Ok(())
}
