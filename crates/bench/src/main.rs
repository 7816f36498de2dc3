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

use anyhow::Result;
use futures::future::LocalBoxFuture;

use crate::{listener::LISTENER, place::Place, stamper::STAMPER, table::Table, vendor::VENDOR};

/// Something that is measured on a fresh database.
type Measure = for<'a> fn(&'a Place, &'a mut Table) -> LocalBoxFuture<'a, Result<()>>;

/// Everything there is to measure; names on the command line choose from it.
const MEASURES: &[(&str, Measure)] = &[
    ("facts", |place, table| Box::pin(record::facts_per_second(place, table))),
    ("append", |place, table| Box::pin(record::one_append(place, table))),
    ("one", |place, table| Box::pin(load::one(place, table))),
    ("hundred", |place, table| Box::pin(load::hundred(place, table))),
    ("thousand", |place, table| Box::pin(load::thousand(place, table))),
    ("sequential", |place, table| Box::pin(load::sequential(place, table))),
    ("resume", |place, table| Box::pin(record::resume(place, table))),
    ("rounds", |place, table| Box::pin(rounds::late_against_early(place, table))),
    ("voice", |place, table| Box::pin(voices::one(place, table))),
    ("steady", |place, table| Box::pin(voices::steady(place, table))),
    ("burst", |place, table| Box::pin(voices::burst(place, table))),
    ("chunks", |place, table| Box::pin(voices::chunks(place, table))),
    ("events", |place, table| Box::pin(events::latency(place, table))),
    ("watchers", |place, table| Box::pin(events::watchers(place, table))),
    ("start", |_, table| Box::pin(async { start::version(table) })),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match wanted.first().map(String::as_str) {
        Some(VENDOR) => return vendor::be_one(&wanted[1..]),
        Some(STAMPER) => return stamper::be_one(&wanted[1..]),
        Some(LISTENER) => return listener::be_one(&wanted[1..]),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut table = Table::default();
    for (name, measure) in MEASURES {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            runtime.block_on(async { measure(&Place::fresh()?, &mut table).await })?;
        }
    }
    table.print();
    Ok(())
}
