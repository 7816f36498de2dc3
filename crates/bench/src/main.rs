//! Benchmarks: one table, measured in one run, so that a noisy machine affects both sides of every
//! ratio.
//!
//! `cargo xtask bench` builds this for release and runs it. Everything is recorded in a real SQLite
//! database with `synchronous=FULL` in a temporary folder on the checkout's disk.

mod bare;
mod bench_server;
mod database;
mod events;
mod helper;
mod listener;
mod load;
mod machine;
mod moving;
mod panel;
mod panel_client;
mod postgres;
mod recall;
mod record;
mod rounds;
mod speed;
mod stamper;
mod start;
mod table;
mod vendor;
mod voices;

use anyhow::{Context, Result, bail};
use futures::future::LocalBoxFuture;

use crate::{
    database::Database,
    listener::LISTENER,
    panel_client::PANEL_CLIENT,
    speed::subject::{self, SERVING_SUBJECT, SUBJECT},
    stamper::STAMPER,
    table::Table,
    vendor::VENDOR,
};

/// A measurement on a fresh database.
type Measure = for<'a> fn(&'a Database, &'a mut Table) -> LocalBoxFuture<'a, Result<()>>;

/// All measurements; names on the command line select from them.
const MEASURES: &[(&str, &str, Measure)] = &[
    ("facts", "durable facts per second by 64 writers", |database, table| {
        Box::pin(record::facts_per_second(database, table))
    }),
    ("append", "one fact by one writer", |database, table| Box::pin(record::one_append(database, table))),
    ("one", "one discussion at 50 ms against its critical path", |database, table| {
        Box::pin(load::one(database, table))
    }),
    ("hundred", "a hundred concurrent discussions, and processor time per call", |database, table| {
        Box::pin(load::hundred(database, table))
    }),
    (
        "thousand",
        "a thousand discussions with calls of one second, and memory per discussion",
        |database, table| Box::pin(load::thousand(database, table)),
    ),
    ("sequential", "500 discussions of six calls in a row against the bare calls", |database, table| {
        Box::pin(load::sequential(database, table))
    }),
    ("resume", "resuming a record of 10,000 facts, up to its next question", |database, table| {
        Box::pin(record::resume(database, table))
    }),
    ("recall", "the search for past discussions in an archive of 10,000", |database, table| {
        Box::pin(recall::search(database, table))
    }),
    ("rounds", "late rounds of a long talk against early ones", |database, table| {
        Box::pin(rounds::late_against_early(database, table))
    }),
    ("voice", "one discussion over HTTP against the bare calls", |database, table| {
        Box::pin(voices::one(database, table))
    }),
    ("steady", "a thousand over HTTP, one every 25 ms", |database, table| {
        Box::pin(voices::steady(database, table))
    }),
    ("burst", "a thousand over HTTP at the same moment: time, processor, memory", |database, table| {
        Box::pin(voices::burst(database, table))
    }),
    ("chunks", "processor time per streamed piece", |database, table| {
        Box::pin(voices::chunks(database, table))
    }),
    ("events", "from a provider's piece to a client's event", |database, table| {
        Box::pin(events::latency(database, table))
    }),
    ("watchers", "a thousand subscribers of one discussion: latency and memory", |database, table| {
        Box::pin(events::watchers(database, table))
    }),
    ("panel", "fifty streams of /v1 at once: the first chunk, and each piece", |database, table| {
        Box::pin(panel::streams(database, table))
    }),
    ("silence", "a stream of /v1 while a voice thinks for a minute", |database, table| {
        Box::pin(panel::silence(database, table))
    }),
    ("overhead", "a discussion over /v1 against the same one over /api", |database, table| {
        Box::pin(panel::overhead(database, table))
    }),
    ("floor-one", "one synthesis against the floor: a minimal client on one core", |database, table| {
        Box::pin(speed::one(database, table))
    }),
    ("floor-hundred", "a hundred at once against the floor", |database, table| {
        Box::pin(speed::hundred(database, table))
    }),
    ("floor-arriving", "a thousand that arrive over 3.5 s against the floor", |database, table| {
        Box::pin(speed::arriving(database, table))
    }),
    (
        "floor-thousand",
        "a thousand at the same moment against the floor: time, processor, memory",
        |database, table| Box::pin(speed::thousand(database, table)),
    ),
    ("floor-pieces", "processor time of a piece that comes alone against the floor", |database, table| {
        Box::pin(speed::pieces(database, table))
    }),
    (
        "floor-events",
        "from a provider's piece to a client's event against a bare relay",
        |database, table| Box::pin(speed::latency(database, table)),
    ),
    (
        "floor-serve",
        "processor time of a piece through the server against a bare relay",
        |database, table| Box::pin(speed::processor_time(database, table)),
    ),
    ("postgres", "PostgreSQL: facts per second against SQLite, and one append", |database, table| {
        Box::pin(postgres::facts(database, table))
    }),
    ("claims", "PostgreSQL: a claim while 1,000 and 100,000 discussions run", |database, table| {
        Box::pin(postgres::claims(database, table))
    }),
    ("takeover", "PostgreSQL: 100 discussions of a node that died", |database, table| {
        Box::pin(postgres::takeover(database, table))
    }),
    ("between", "PostgreSQL: commands and live text from node to node", |database, table| {
        Box::pin(postgres::between(database, table))
    }),
    ("nodes", "PostgreSQL: 500 discussions on three nodes against one with SQLite", |database, table| {
        Box::pin(postgres::three_nodes(database, table))
    }),
    ("idle", "PostgreSQL: statements of a node that has nothing to do", |_, table| {
        Box::pin(postgres::idle(table))
    }),
    ("move", "`ax db move` between SQLite and PostgreSQL", |database, table| {
        Box::pin(moving::both_ways(database, table))
    }),
    ("start", "how long the command takes to start", |_, table| Box::pin(async { start::version(table) })),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match wanted.first().map(String::as_str) {
        Some(VENDOR) => return vendor::run(&wanted[1..]),
        Some(STAMPER) => return stamper::run(&wanted[1..]),
        Some(LISTENER) => return listener::run(&wanted[1..]),
        Some(SUBJECT) => return subject::run(&wanted[1..]),
        Some(SERVING_SUBJECT) => return subject::serve(&wanted[1..]),
        Some(PANEL_CLIENT) => return panel_client::run(&wanted[1..]),
        Some("--help" | "-h") => return print_help(),
        _ => {}
    }
    let is_known = |wanted: &String| MEASURES.iter().any(|(name, ..)| name == wanted);
    if let Some(unknown) = wanted.iter().find(|it| !is_known(it)) {
        bail!("there is no measurement {unknown}; `--help` lists them");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut table = Table::default();
    for (name, _, measure) in MEASURES {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            let measured = runtime.block_on(async { measure(&Database::fresh()?, &mut table).await });
            measured.with_context(|| format!("the measurement `{name}` failed"))?;
        }
    }
    table.print();
    Ok(())
}

fn print_help() -> Result<()> {
    println!(
        "Runs the benchmarks and prints one table. Names select measurements; the default is all of them.\n"
    );
    println!("Usage: quorum-bench [NAME…]\n");
    for (name, what, _) in MEASURES {
        println!("  {name:<12}{what}");
    }
    Ok(())
}
