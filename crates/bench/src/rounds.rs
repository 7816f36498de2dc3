//! Checks whether a long discussion gets slower: its thousandth round compared with its tenth.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::StreamExt;
use quorum_core::{engine::feed::Signal, model::event::Event};

use crate::{
    database::{Database, spec},
    table::Table,
};

/// The number of rounds before and after each of the two that are averaged, since one alone is
/// noise.
const AROUND: usize = 9;

pub(crate) async fn late_against_early(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine(Duration::ZERO);
    let id = engine.open(spec("round-robin", 1_010, 4)).await?;
    let handle = engine.run(id).await?;
    let mut signals = Box::pin(handle.signals());
    let mut opened: Vec<Instant> = Vec::new();
    while let Some(signal) = signals.next().await {
        if matches!(signal, Signal::Fact { fact, .. } if matches!(fact.event, Event::RoundOpened { .. })) {
            opened.push(Instant::now());
        }
    }
    handle.finished().await?;
    let (early, late) = (around(&opened, 10)?, around(&opened, 1_000)?);
    let ratio = late / early;
    let measured = format!("{ratio:.2} ({:.2} ms / {:.2} ms)", late * 1e3, early * 1e3);
    table.row(
        "1,000th round / 10th round, four voices without latency",
        measured,
        "<= 1.5, noise",
        ratio <= 1.5,
    );
    Ok(())
}

/// The median duration of the rounds around this one, in seconds.
fn around(opened: &[Instant], round: usize) -> Result<f64> {
    let first = round - AROUND;
    let slice = opened.get(first..=(round + AROUND).min(opened.len() - 1)).context("the rounds were held")?;
    let mut took: Vec<f64> = slice.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    took.sort_by(f64::total_cmp);
    took.get(took.len() / 2).copied().context("a round")
}
