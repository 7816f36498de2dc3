//! Schedules with one fault each, whose consequences are known exactly.

use std::{cell::Cell, time::Duration};

use tokio::time::Instant;

use super::{
    link::Connection,
    schedule::{Fault, Schedule},
    world::{LEASE_MS, World},
};

/// Plays one fault at this moment, once for each way in which the nodes' beats may fall.
fn play(at: u64, fault: &Fault, check: impl Fn(&World, Instant)) {
    for phase in 0..20 {
        let starts = [0, 1 + phase * 37 % 500, 1 + phase * 91 % 500];
        let faults = vec![(at, fault.clone())];
        let schedule = Schedule { starts, orders: vec![0, 100, 400, 900], faults, commands: Vec::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let world = World::new();
            let fault = Instant::now() + Duration::from_millis(at + starts.iter().sum::<u64>());
            let played = world.clone().play(&schedule).await;
            assert_eq!(played, Ok(()), "{starts:?}");
            check(&world, fault);
        });
    }
}

#[test]
fn f17_an_outage_of_ten_seconds_repeats_nothing_and_makes_no_node_dead() {
    for connection in [Connection::Refused, Connection::Swallowed, Connection::Mute] {
        let fault = Fault::Database { for_ms: 10_000, connection };
        // Nothing may be repeated: this fault allows no repetition, and invariant 9 is checked.
        play(1_200, &fault, |world, _| assert_eq!(world.reaped(), [0, 0, 0]));
    }
}

#[test]
fn f17_an_observer_that_could_not_read_beats_makes_no_node_dead() {
    let fault = Fault::Cut { node: 1, for_ms: 10_000, connection: Connection::Refused };
    play(1_200, &fault, |world, _| {
        let reaped = world.reaped();
        // The two others see one death; the one that was cut off sees none.
        assert_eq!((reaped[1], reaped[0] + reaped[2]), (0, 1));
    });
}

#[tokio::test(start_paused = true)]
async fn f17_a_node_that_learned_at_a_claim_that_it_is_gone_kept_its_runs() {
    assert_eq!(World::new().claim_of_a_ghost().await, 1);
}

#[test]
fn f17_what_a_killed_node_ran_goes_on_within_its_lease_and_one_heartbeat() {
    const SLACK_MS: u64 = 200;
    let (most, seen) = (Duration::from_millis(LEASE_MS + LEASE_MS / 3 + SLACK_MS), Cell::new(0));
    for (at, node) in [(1_000, 0), (1_130, 1), (1_390, 2), (1_710, 0), (1_950, 1)] {
        play(at, &Fault::Crash { node, for_ms: 60_000 }, |world, crashed| {
            let takeovers = world.takeovers(crashed);
            assert!(takeovers.iter().all(|it| *it <= most), "{takeovers:?}");
            seen.set(seen.get() + takeovers.len());
        });
    }
    // Which node runs what depends on the phases; enough of them held something.
    assert!(50 < seen.get(), "{}", seen.get());
}
