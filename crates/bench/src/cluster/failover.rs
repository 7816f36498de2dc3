//! Check 8: the primary is lost, and a standby takes its place.

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Result, ensure};
use quorum_testkit::own_postgres::{OwnPostgres, Stop};
use tokio::time::sleep;

use super::{
    Effort, Found, history,
    stand::{Setup, Stand},
};

const LOAD: usize = 60;

pub(crate) async fn both(folder: PathBuf, _: Effort) -> Result<Found> {
    let sync = synchronous(folder.join("sync")).await?;
    let asynchronous = asynchronous(folder.join("async")).await?;
    drop(std::fs::remove_dir_all(folder));
    let counts = format!("synchronous: {}. Asynchronous: {}", sync.counts, asynchronous.counts);
    Ok(Found { counts, passed: sync.passed && asynchronous.passed })
}

async fn loaded(folder: &std::path::Path) -> Result<(Stand, OwnPostgres)> {
    let stand = Stand::start(folder, Setup::default()).await?;
    let standby = stand.database.standby(&folder.join("standby"), "standby")?;
    stand.order(LOAD, 2).await?;
    Ok((stand, standby))
}

/// Makes the standby the primary, and leads all nodes to it.
async fn fail_over(stand: &mut Stand, standby: OwnPostgres) -> Result<()> {
    stand.database.stop(Stop::Immediate)?;
    standby.promote()?;
    stand.proxies.iter().for_each(|it| it.turn(standby.port()));
    stand.database = standby;
    Ok(())
}

async fn synchronous(folder: PathBuf) -> Result<Found> {
    let (mut stand, standby) = loaded(&folder).await?;
    for sql in ["ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()"] {
        stand.database.sql(sql).map_err(anyhow::Error::msg)?;
    }
    stand.until_recorded(LOAD as u64 * 2).await?;
    let before = written(&stand)?;
    fail_over(&mut stand, standby).await?;
    let kept = written(&stand)?;
    // A server is not its own standby.
    for sql in ["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"] {
        stand.database.sql(sql).map_err(anyhow::Error::msg)?;
    }
    stand.until_over().await?;
    let lost = before.saturating_sub(kept);
    Found::of(&stand, &format!("{before} facts seen before, {lost} lost"), lost == 0, 0)
}

async fn asynchronous(folder: PathBuf) -> Result<Found> {
    let (mut stand, standby) = loaded(&folder).await?;
    stand.until_recorded(LOAD as u64).await?;
    let receiver = standby.sql("SELECT pid FROM pg_stat_wal_receiver").map_err(anyhow::Error::msg)?;
    signal("-STOP", &receiver)?;
    // What is written from now on doesn't arrive, except for what fits into the socket.
    stand.until_recorded(LOAD as u64 * 3).await?;
    stand.quiesce().await?;
    let (before, answers) = (written(&stand)?, history::needed(&stand.database)?);
    stand.database.stop(Stop::Immediate)?;
    signal("-KILL", &receiver)?;
    sleep(Duration::from_millis(500)).await;
    fail_over(&mut stand, standby).await?;
    let lost_answers = answers.saturating_sub(history::needed(&stand.database)?);
    let lost = before.saturating_sub(written(&stand)?);
    stand.provider.keep_back(false);
    stand.until_over().await?;
    let counts =
        format!("{lost} of {before} facts lost, among them {lost_answers} answers; no log has a gap");
    // What was lost is asked again, and so is what was in flight.
    let in_flight = lost_answers + LOAD as u64;
    Found::of(&stand, &counts, true, in_flight)
}

fn written(stand: &Stand) -> Result<u64> {
    history::number(&stand.database, "SELECT count(*) FROM facts")
}

fn signal(signal: &str, pid: &str) -> Result<()> {
    ensure!(Command::new("kill").args([signal, pid]).status()?.success(), "the receiver is gone");
    Ok(())
}
