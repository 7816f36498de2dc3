//! The store alone: durable facts per second, a single append, and resuming a long record.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use futures::{StreamExt, future::join_all};
use quorum_core::{
    engine::feed::Signal,
    model::{
        command::Command,
        event::{Event, Fact},
        id::{DiscussionId, Seq, Step},
        time::Timestamp,
    },
    seams::{Append, Claim, Node, Store, Then},
};

use crate::{
    database::{Database, spec},
    table::Table,
};

const WRITERS: usize = 64;
const EACH: u64 = 400;

/// 64 writers, each of which waits until a fact is durable before the next.
pub(crate) async fn facts_per_second(database: &Database, table: &mut Table) -> Result<()> {
    let rate = facts_per_second_of(database, database.store.clone()).await?;
    table.row(
        "durable facts per second, 64 writers, synchronous=FULL",
        format!("{rate:.0}"),
        ">= 15,000",
        rate >= 15_000.0,
    );
    Ok(())
}

/// The same in this store.
pub(crate) async fn facts_per_second_of(database: &Database, store: Arc<dyn Store>) -> Result<f64> {
    let claims = open_in(database, store.clone(), WRITERS).await?;
    let began = Instant::now();
    let written = join_all(claims.into_iter().map(|claim| write_in(&*store, claim, EACH))).await;
    written.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(WRITERS as f64 * EACH as f64 / began.elapsed().as_secs_f64())
}

/// Appends by a single writer, one fact at a time.
pub(crate) async fn one_append(database: &Database, table: &mut Table) -> Result<()> {
    table.note("a single append", format!("{:.0} us", commit_seconds(database).await? * 1e6));
    Ok(())
}

/// How long one commit by one writer takes, in seconds.
pub(crate) async fn commit_seconds(database: &Database) -> Result<f64> {
    let claim = open_in(database, database.store.clone(), 1).await?.pop().context("a claim")?;
    let began = Instant::now();
    write_in(&*database.store, claim, 500).await?;
    Ok(began.elapsed().as_secs_f64() / 500.0)
}

/// How long a discussion with a record of 10,000 facts takes to resume and ask its next question.
pub(crate) async fn resume(database: &Database, table: &mut Table) -> Result<()> {
    // Two facts per turn, and a few per round.
    let id = paused_after(database, 10_000).await?;
    let engine = database.engine(Duration::ZERO);
    let facts = database.store.read(id, Seq::START, usize::MAX).await?.len();
    engine.send(id, Command::Resume).await?;
    let began = Instant::now();
    let handle = engine.run(id).await?;
    let placed = |signal: &Signal| matches!(signal, Signal::Fact { fact, .. } if matches!(fact.event, Event::CallPlaced(_)));
    let mut signals = Box::pin(handle.signals());
    while let Some(signal) = signals.next().await {
        if placed(&signal) {
            break;
        }
    }
    let ms = began.elapsed().as_secs_f64() * 1e3;
    engine.send(id, Command::Abort).await?;
    handle.finished().await?;
    table.row(&format!("{facts} facts resumed"), format!("{ms:.1} ms"), "< 100 ms", ms < 100.0);
    Ok(())
}

/// A discussion that was paused after about this many facts.
async fn paused_after(database: &Database, facts: u64) -> Result<DiscussionId> {
    let engine = database.engine(Duration::ZERO);
    let id = engine.open(spec("round-robin", 100_000, 4)).await?;
    let handle = engine.run(id).await?;
    let mut signals = Box::pin(handle.signals());
    while let Some(signal) = signals.next().await {
        if matches!(signal, Signal::Fact { fact, .. } if fact.seq.0 >= facts) {
            engine.send(id, Command::Pause).await?;
            break;
        }
    }
    handle.finished().await?;
    Ok(id)
}

/// Claims this many new discussions in this store.
pub(crate) async fn open_in(database: &Database, store: Arc<dyn Store>, count: usize) -> Result<Vec<Claim>> {
    let engine = database.engine_on(store, Duration::ZERO, Node::fresh("writers"));
    let mut claims = Vec::new();
    for _ in 0..count {
        let id = engine.open(spec("synthesis", 1, 3)).await?;
        claims.push(engine.claim(id).await?);
    }
    Ok(claims)
}

/// Appends this many facts, one after the other, and returns the time of each.
pub(crate) async fn write_in(store: &dyn Store, claim: Claim, count: u64) -> Result<Vec<Duration>> {
    let (mut expected, mut times) = (Seq(3), Vec::new());
    for _ in 0..count {
        let step = Some(Step::new(1, "speaking", "voice0"));
        let event = Event::PhaseEntered { phase: "speaking".to_owned(), round: 1 };
        let fact = Fact { seq: expected.next(), at: Timestamp(0), active_ms: 0, step, event };
        let (id, claim, then) = (claim.id, claim.clone(), Then::Continue);
        let append = Append { claim, id, expected, facts: vec![fact].into(), then, digest: None };
        let began = Instant::now();
        expected = store.append(append).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}
