//! Check 8: the primary is lost, and a standby takes its place.

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use quorum_testkit::own_postgres::{OwnPostgres, Stop};
use serde_json::json;
use tokio::{task::JoinHandle, time::sleep};

use super::{
    Effort, Found,
    follower::{Seen, follow},
    history,
    stand::{Setup, Stand},
    steering::ids,
};

const LOAD: usize = 60;

/// The rounds of the discussion that a client follows: it must last longer than the rest.
const FOLLOWED_ROUNDS: u64 = 10;

pub(crate) async fn both(folder: PathBuf, _: Effort) -> Result<Found> {
    let sync = synchronous(folder.join("sync")).await?;
    let asynchronous = asynchronous(folder.join("async")).await?;
    drop(std::fs::remove_dir_all(folder));
    let counts = format!("synchronous: {}. Asynchronous: {}", sync.counts, asynchronous.counts);
    Ok(Found { counts, passed: sync.passed && asynchronous.passed })
}

/// A stand with a standby, and a client that follows one of the discussions.
struct Watched {
    stand: Stand,
    standby: Option<OwnPostgres>,
    id: String,
    follower: JoinHandle<Result<Seen>>,
}

async fn loaded(folder: &std::path::Path) -> Result<Watched> {
    let stand = Stand::start(folder, Setup::default()).await?;
    let standby = stand.database.standby(&folder.join("standby"), "standby")?;
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": FOLLOWED_ROUNDS,
        "providers": ["alpha", "beta"],
    });
    let id = stand.place(0, &order).await?;
    let follower = follow(&stand.nodes[1], &id);
    stand.order(LOAD, 2).await?;
    Ok(Watched { stand, standby: Some(standby), id, follower })
}

impl Watched {
    /// Makes the standby the primary, and leads all nodes to it.
    fn fail_over(&mut self) -> Result<()> {
        let standby = self.standby.take().context("there is a standby")?;
        let stand = &mut self.stand;
        stand.database.stop(Stop::Immediate)?;
        standby.promote()?;
        stand.proxies.iter().for_each(|it| it.turn(standby.port()));
        stand.database = standby;
        Ok(())
    }

    /// Compares what the client has seen of the new log with the whole of it.
    async fn seen(self) -> Result<(Stand, Followed)> {
        let seen = self.follower.await.context("the follower ends")??;
        let whole = self.stand.nodes[2].events(&self.id, "").await?;
        let is_whole = ids(&whole) == seen.ids;
        Ok((self.stand, Followed { events: seen.ids.len(), epochs: seen.epochs, is_whole }))
    }
}

/// The observations of the client that followed a discussion.
struct Followed {
    events: usize,
    epochs: u64,
    is_whole: bool,
}

impl Followed {
    fn passed(&self) -> bool {
        self.is_whole && self.epochs == 1
    }

    fn counts(&self) -> String {
        let missing = if self.is_whole { "none missing" } else { "NOT the whole log" };
        format!("a client began anew {} time, {} events, {missing}", self.epochs, self.events)
    }
}

async fn synchronous(folder: PathBuf) -> Result<Found> {
    let mut watched = loaded(&folder).await?;
    let stand = &watched.stand;
    for sql in ["ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()"] {
        stand.database.sql(sql).map_err(anyhow::Error::msg)?;
    }
    stand.until_recorded(LOAD as u64 * 2).await?;
    let before = written(stand)?;
    watched.fail_over()?;
    let stand = &watched.stand;
    let kept = written(stand)?;
    // A server is not its own standby.
    for sql in ["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"] {
        stand.database.sql(sql).map_err(anyhow::Error::msg)?;
    }
    stand.until_over().await?;
    let (lost, (stand, followed)) = (before.saturating_sub(kept), watched.seen().await?);
    let counts = format!("{before} facts seen before, {lost} lost; {}", followed.counts());
    Found::of(&stand, &counts, lost == 0 && followed.passed(), 0)
}

async fn asynchronous(folder: PathBuf) -> Result<Found> {
    let mut watched = loaded(&folder).await?;
    let stand = &watched.stand;
    stand.until_recorded(LOAD as u64).await?;
    let standby = watched.standby.as_ref().context("there is a standby")?;
    let receiver = standby.sql("SELECT pid FROM pg_stat_wal_receiver").map_err(anyhow::Error::msg)?;
    signal("-STOP", &receiver)?;
    // What is written from now on doesn't arrive, except for what fits into the socket.
    stand.until_recorded(LOAD as u64 * 3).await?;
    stand.quiesce().await?;
    let (before, answers) = (written(stand)?, history::needed(&stand.database)?);
    watched.stand.database.stop(Stop::Immediate)?;
    signal("-KILL", &receiver)?;
    sleep(Duration::from_millis(500)).await;
    watched.fail_over()?;
    let stand = &watched.stand;
    let lost_answers = answers.saturating_sub(history::needed(&stand.database)?);
    let lost = before.saturating_sub(written(stand)?);
    stand.provider.keep_back(false);
    stand.until_over().await?;
    let (stand, followed) = watched.seen().await?;
    let counts = format!(
        "{lost} of {before} facts lost, among them {lost_answers} answers; no log has a gap; {}",
        followed.counts()
    );
    // What was lost is asked again, and so is what was in flight: at most one call of each
    // discussion, that of the client included.
    let in_flight = lost_answers + LOAD as u64 + 1;
    Found::of(&stand, &counts, 0 < lost && followed.passed(), in_flight)
}

fn written(stand: &Stand) -> Result<u64> {
    history::number(&stand.database, "SELECT count(*) FROM facts")
}

fn signal(signal: &str, pid: &str) -> Result<()> {
    ensure!(Command::new("kill").args([signal, pid]).status()?.success(), "the receiver is gone");
    Ok(())
}
