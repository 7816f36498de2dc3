//! E7: how many discussions an evaluation holds in a second.

use std::{path::PathBuf, sync::Arc, time::Instant};

use anyhow::Result;
use quorum::{
    Quorum,
    voices::{WorldVoices, world::World},
};
use quorum_store::SqliteStore;

use crate::{
    engine::{evaluated, in_memory},
    table::Table,
};

/// The usual six protocols.
const SIX: &str = "single,majority,self-consistency,voting:2,synthesis:2,settle";

pub(crate) async fn measured(table: &mut Table) -> Result<()> {
    let world: World = "martingale".parse().map_err(anyhow::Error::msg)?;
    let began = Instant::now();
    let (held, _) = evaluated(in_memory(&world)?, &world, 1_000, "majority,settle").await?;
    let rate = held as f64 / began.elapsed().as_secs_f64();
    table.row("E7 discussions in a second, in memory", format!("{rate:.0}"), ">= 500", rate >= 500.0);
    let folder = Folder::fresh()?;
    let began = Instant::now();
    let (held, _) = evaluated(folder.durable(&world)?, &world, 300, "majority,settle").await?;
    let rate = held as f64 / began.elapsed().as_secs_f64();
    table.row("E7 discussions in a second, durable", format!("{rate:.0}"), ">= 100", rate >= 100.0);
    let folder = Folder::fresh()?;
    let began = Instant::now();
    evaluated(folder.durable(&world)?, &world, 1_000, SIX).await?;
    let took = began.elapsed().as_secs_f64();
    let what = "E7 1,000 questions × 6 protocols, durable";
    table.row(what, format!("{took:.1} s"), "<= 60 s", took <= 60.0);
    Ok(())
}

/// A folder on the checkout's disk that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn fresh() -> Result<Self> {
        let folder = std::env::current_dir()?.join("target").join(format!("lab-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }

    fn durable(&self, world: &World) -> Result<(Quorum, Arc<WorldVoices>)> {
        let store = Arc::new(SqliteStore::open(self.0.join("lab.db"))?);
        let voices = Arc::new(WorldVoices::new(world.clone()));
        Ok((Quorum::builder().store(store).simulated().world(voices.clone()).build()?, voices))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
