//! Check 12: a database is moved from SQLite to PostgreSQL, and the move is killed again and
//! again.

use std::{path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context, Result, ensure};
use quorum_testkit::own_postgres::OwnPostgres;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    Effort, Found, history,
    node::{Node, Start},
    provider::Provider,
    stand::{Setup, config},
};

const DISCUSSIONS: usize = 300;
const KILLS: u64 = 5;

pub(crate) async fn killed(folder: PathBuf, _: Effort) -> Result<Found> {
    let database = OwnPostgres::start(&folder.join("database"), &["fsync=off"])?;
    let provider = Provider::start(Duration::from_millis(5))?;
    let setup = Setup { latency: Duration::ZERO, ..Setup::default() };
    let start = Start::new(&folder.join("node"), &config(setup, provider.port), None)?;
    fill(start.node().await?).await?;
    let before = checked(&start)?;
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", database.port());
    let there = Start { database: Some(url), ..start };
    let total = before["facts"].as_u64().context("facts")?;
    let mut kills = 0;
    for number in 1..=KILLS {
        kills += u64::from(killed_at(&there, &database, number * total / (KILLS + 2)).await?);
    }
    let done = there.command(&["db", "move"]).output()?;
    ensure!(done.status.success(), "the last move failed: {}", String::from_utf8_lossy(&done.stderr));
    let after = checked(&there)?;
    let counts = format!(
        "{} discussions with {} facts, killed {kills} times, then {} discussions with {} facts; flaws: {} and {}",
        before["discussions"],
        before["facts"],
        after["discussions"],
        after["facts"],
        before["flaws"],
        after["flaws"]
    );
    let same = |name: &str| before[name] == after[name];
    let passed = same("discussions") && same("facts") && after["flaws"] == json!([]) && kills == KILLS;
    drop(database);
    drop(std::fs::remove_dir_all(&folder));
    Ok(Found { counts, passed })
}

/// Runs discussions to their end on a node, and ends it.
async fn fill(node: Node) -> Result<()> {
    let mut ids = Vec::new();
    for number in 0..DISCUSSIONS {
        let order = json!({
            "topic": format!("Question {number}?"), "pattern": "round-robin", "rounds": 1,
            "providers": ["alpha", "beta"],
        });
        let told = node.post("/api/discussions", &order).await?;
        ids.push(told["discussionId"].as_str().context("an id")?.to_owned());
    }
    for id in &ids {
        node.events(id, "").await?;
    }
    node.end().await.map(drop)
}

/// What `ax db check` says of the configured database.
fn checked(start: &Start) -> Result<Value> {
    let done = start.command(&["db", "check", "--all", "--json"]).output()?;
    let told = String::from_utf8_lossy(&done.stderr);
    serde_json::from_slice(&done.stdout).with_context(|| format!("the check failed: {told}"))
}

/// Starts a move, and kills the process when this many facts are copied. Returns whether it was in
/// time.
async fn killed_at(start: &Start, database: &OwnPostgres, facts: u64) -> Result<bool> {
    let mut command = start.command(&["db", "move"]);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    loop {
        // The tables are made by the first move.
        let moved = history::number(database, "SELECT count(*) FROM facts").unwrap_or_default();
        if process.try_wait()?.is_some() {
            return Ok(false);
        }
        if facts <= moved {
            process.kill()?;
            process.wait()?;
            return Ok(true);
        }
        sleep(Duration::from_millis(2)).await;
    }
}
