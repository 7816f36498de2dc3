//! How fast facts are kept: `cargo run --release -p quorum-store --example append_speed [FOLDER] [WRITERS] [SECONDS]`.
//!
//! Each writer appends one fact at a time to a discussion of its own and waits until it is durable.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use quorum_core::{
    model::event::Event,
    seams::{StoreError, Then},
};
use quorum_store::SqliteStore;
use quorum_testkit::conformance::store::fixture::{Writer, open, said, second};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from).join("quorum-append-speed");
    let writers = arguments.next().map_or(Ok(64), |it| it.parse())?;
    let time = Duration::from_secs(arguments.next().map_or(Ok(5), |it| it.parse())?);
    std::fs::create_dir_all(&folder)?;
    println!("fsync alone: {:?}", fsync(&folder)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for (kind, event) in [("small facts", small()), ("turns of 1,500 characters", turn())] {
        for writers in [1, writers] {
            let file = folder.join(format!("{}.db", uuid::Uuid::new_v4()));
            let (facts, took) = runtime.block_on(measure(&file, writers, time, &event))?;
            let a_second = facts as f64 / took.as_secs_f64();
            let each = took.as_secs_f64() * 1e6 * writers as f64 / facts as f64;
            println!("{kind}, {writers} writers: {a_second:.0} facts/s, {each:.0} µs from asking to answer");
        }
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

fn small() -> Event {
    Event::RoundClosed { round: 1 }
}

fn turn() -> Event {
    said("ann", 1, &"a word or two, ".repeat(100))
}

async fn measure(
    file: &Path,
    writers: usize,
    time: Duration,
    event: &Event,
) -> Result<(u64, Duration), StoreError> {
    let store = Arc::new(SqliteStore::open(file)?);
    let began = Instant::now();
    let tasks = (0..writers).map(|_| tokio::spawn(write(store.clone(), event.clone(), began + time)));
    let written = futures::future::join_all(tasks.collect::<Vec<_>>()).await;
    Ok((written.into_iter().flatten().sum(), began.elapsed()))
}

async fn write(store: Arc<SqliteStore>, event: Event, until: Instant) -> u64 {
    let id = open(&*store, "how fast?", second(1)).await;
    let mut writer = Writer::claiming(&*store, id, "one").await;
    let mut written = 0;
    while Instant::now() < until && writer.write(second(2), vec![event.clone()], Then::Continue).await.is_ok()
    {
        written += 1;
    }
    written
}

/// What it takes to have 4 KiB on the disk, in the middle of many tries.
fn fsync(folder: &Path) -> std::io::Result<Duration> {
    use std::io::Write;
    let mut file = std::fs::File::create(folder.join("fsync"))?;
    let mut times = Vec::new();
    for _ in 0..200 {
        file.write_all(&[0; 4_096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}
