//! What it costs: one table, measured in one run, so that a noisy machine spoils no ratio.
//!
//! `cargo xtask bench` builds this for release and runs it. Everything is recorded in a real SQLite database with
//! `synchronous=FULL` in a temporary folder on the disk the checkout is on.

mod bare;
mod load;
mod machine;
mod place;
mod record;
mod rounds;
mod start;
mod table;

use anyhow::Result;

use crate::{place::Place, table::Table};

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let mut table = Table::default();
    runtime.block_on(measure(&mut table))?;
    start::version(&mut table)?;
    table.print();
    Ok(())
}

async fn measure(table: &mut Table) -> Result<()> {
    record::facts_per_second(&Place::fresh()?, table).await?;
    record::one_append(&Place::fresh()?, table).await?;
    load::one(&Place::fresh()?, table).await?;
    load::hundred(&Place::fresh()?, table).await?;
    load::thousand(&Place::fresh()?, table).await?;
    load::sequential(&Place::fresh()?, table).await?;
    record::resume(&Place::fresh()?, table).await?;
    rounds::late_against_early(&Place::fresh()?, table).await
}
