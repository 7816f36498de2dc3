//! Many concurrent discussions, compared with their critical path: the calls that must wait for
//! each other, made without our code in the same run.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::future::join_all;
use quorum_core::{engine::Engine, model::spec::Spec};

use crate::{
    bare,
    database::{Database, spec},
    machine,
    table::Table,
};

const FIFTY: Duration = Duration::from_millis(50);

/// One discussion at 50 ms: two rounds and a synthesis wait for each other.
pub(crate) async fn one(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine(FIFTY);
    let mut best = f64::MAX;
    for _ in 0..5 {
        let path = bare::calls(1, 3, FIFTY).await;
        let took = run_all(&engine, 1, &spec("synthesis", 2, 3)).await?;
        best = best.min(took.as_secs_f64() / path.as_secs_f64());
    }
    let what = "wall time / critical path, 1 discussion at 50 ms (best of 5)";
    table.row(what, format!("{best:.3}"), "<= 1.05", best <= 1.05);
    Ok(())
}

/// A hundred concurrent discussions.
pub(crate) async fn hundred(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine(FIFTY);
    run_all(&engine, 100, &spec("synthesis", 2, 3)).await?;
    let path = bare::calls(100, 3, FIFTY).await;
    let cpu = machine::cpu_seconds()?;
    let took = run_all(&engine, 100, &spec("synthesis", 2, 3)).await?;
    let cpu = machine::cpu_seconds()? - cpu;
    let ratio = took.as_secs_f64() / path.as_secs_f64();
    table.row(
        "wall time / critical path, 100 discussions at 50 ms",
        format!("{ratio:.3}"),
        "<= 1.15",
        ratio <= 1.15,
    );
    table.note("processor time per call, recording on", format!("{:.0} us", cpu / 700.0 * 1e6));
    Ok(())
}

/// A thousand discussions with calls of one second, and the most memory they take.
pub(crate) async fn thousand(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine(Duration::from_secs(1));
    let spec = spec("synthesis", 2, 3);
    let (held, added) = machine::most_added(run_all(&engine, 1_000, &spec)).await?;
    let ratio = held?.as_secs_f64() / 3.0;
    table.row(
        "wall time / critical path, 1,000 discussions at 1 s",
        format!("{ratio:.3}"),
        "<= 1.10",
        ratio <= 1.10,
    );
    let kib = added as f64 / 1_000.0 / 1_024.0;
    table.row("memory per running discussion", format!("{kib:.1} KiB"), "< 64 KiB", kib < 64.0);
    Ok(())
}

/// 500 discussions of six calls in a row, against the same calls made bare.
pub(crate) async fn sequential(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine(FIFTY);
    let spec = spec("round-robin", 1, 5);
    let bare = bare::calls(500, 6, FIFTY).await;
    let held = run_all(&engine, 500, &spec).await?;
    let ratio = held.as_secs_f64() / bare.as_secs_f64();
    let measured = format!("{ratio:.2} ({:.2} s / {:.2} s)", held.as_secs_f64(), bare.as_secs_f64());
    table.row(
        "500 discussions of six calls of 50 ms / the same calls bare",
        measured,
        "<= 1.6",
        ratio <= 1.6,
    );
    Ok(())
}

/// How long this many concurrent discussions take.
pub(crate) async fn run_all(engine: &Engine, count: usize, spec: &Spec) -> Result<Duration> {
    let began = Instant::now();
    let one = || async {
        let finished = engine.begin(spec.clone()).await?.finished().await?;
        ensure!(finished.outcome().success, "a discussion failed");
        Ok(())
    };
    join_all((0..count).map(|_| one())).await.into_iter().collect::<Result<Vec<()>>>()?;
    Ok(began.elapsed())
}
