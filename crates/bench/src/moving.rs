//! `ax db move`: from SQLite to PostgreSQL and back.

use std::time::Duration;

use anyhow::{Result, ensure};
use quorum::database::{self, Location, Purpose, relocate};
use quorum_core::seams::Node;

use crate::{
    database::{Database, spec},
    load::run_all,
    postgres::Server,
    table::Table,
};

const DISCUSSIONS: usize = 500;

/// How many facts a discussion has at least: three rounds of five voices.
const FACTS: u64 = 36;

/// How many facts a second are moved in each direction, counted like the command does: the
/// comparison afterwards is not part of it.
pub(crate) async fn both_ways(database: &Database, table: &mut Table) -> Result<()> {
    let engine = database.engine_on(database.store.clone(), Duration::ZERO, Node::fresh("orders"));
    run_all(&engine, DISCUSSIONS, &spec("round-robin", 3, 5)).await?;
    // A database that a node uses is not moved.
    engine.leave().await;
    engine.deregister().await?;
    drop(engine);
    let server = Server::start()?;
    let file = database::Database::open(&Location::File(database.file("bench.db")), Purpose::Read)?;
    let shared = database::Database::open(&server.location()?, Purpose::Use)?;
    let back = database::Database::open(&Location::File(database.file("back.db")), Purpose::Use)?;
    one_way("SQLite to PostgreSQL", (&file, &shared), table).await?;
    one_way("PostgreSQL to SQLite", (&shared, &back), table).await
}

async fn one_way(
    way: &str,
    (from, to): (&database::Database, &database::Database),
    table: &mut Table,
) -> Result<()> {
    let moved = relocate(from, to, &mut |_| ()).await?;
    ensure!(DISCUSSIONS as u64 * FACTS <= moved.facts, "only {} facts were moved", moved.facts);
    let rate = moved.facts as f64 / moved.writing.as_secs_f64();
    table.row(
        &format!("`ax db move` from {way}, facts per second"),
        format!("{rate:.0} ({} facts of {} discussions)", moved.facts, moved.written),
        ">= 5,000",
        5_000.0 <= rate,
    );
    Ok(())
}
