//! A simulated cluster: several nodes over one store, in virtual time, with crashes, pauses,
//! partitions and a slow or absent database by seeded schedules. After each, the ten invariants of
//! many nodes are checked.

#![expect(clippy::unwrap_used, reason = "a test whose cluster is lost can only stop")]

mod direct;
mod history;
mod invariants;
mod link;
mod provider;
mod schedule;
mod world;

#[path = "../engine/registry.rs"]
mod registry;

use schedule::Schedule;
use world::World;

/// How many schedules are played: some usually, many in the long mode.
fn schedules() -> u64 {
    if std::env::var_os("QUORUM_LONG").is_some() { 10_000 } else { 300 }
}

fn play(seed: u64) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let schedule = Schedule::of(seed);
    let played = runtime.unwrap().block_on(async { World::new().play(&schedule).await });
    played.map_err(|wrong| format!("seed {seed}: {wrong}\n{schedule:#?}"))
}

#[test]
fn f17_seeded_faults_break_no_invariant() {
    // One schedule again: `QUORUM_SEED=7 cargo test -p quorum-testkit --test cluster`.
    let seeds = match std::env::var("QUORUM_SEED").ok().and_then(|it| it.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..schedules(),
    };
    let wrong: Vec<String> = seeds.filter_map(|seed| play(seed).err()).take(3).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_same_seed_plays_the_same_schedule() {
    assert_eq!(format!("{:?}", Schedule::of(7)), format!("{:?}", Schedule::of(7)));
    assert_ne!(format!("{:?}", Schedule::of(7)), format!("{:?}", Schedule::of(8)));
}
