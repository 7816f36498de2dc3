//! Property tests: whatever the commands and costs, only legal transitions happen and no budget is
//! exceeded.

use std::time::Duration;

use proptest::{collection::vec, prelude::*};
use quorum_core::{
    engine::handle::{Finished, Handle},
    model::{
        command::Command,
        error::ErrorClass,
        event::{Event, Fact},
        id::DiscussionId,
        lifecycle::Lifecycle,
        money::{Price, Spent, Usd},
        spec::{Limits, Recursion, Spec, TimeoutStrategy, Timing},
    },
};
use quorum_testkit::{
    panel::{Panel, panel},
    table::Table,
};
use tokio::time::{sleep, timeout};

use crate::{order, table};

/// 2,000 discussions with 50 commands each: 100,000 steps.
const DISCUSSIONS: u32 = 2_000;
const COMMANDS: usize = 50;

fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        80 => Just(Command::Pause),
        100 => Just(Command::Resume),
        1 => Just(Command::Stop),
        1 => Just(Command::Abort),
    ]
}

fn pattern() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("synthesis"), Just("in-turn"), Just("until-two")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: DISCUSSIONS, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f14_commands_in_any_order_make_only_legal_moves(
        pattern in pattern(),
        commands in vec((command(), 0..60_u64), COMMANDS),
    ) {
        let facts = in_virtual_time(steered(pattern, &commands));
        let moves = legal(&facts);
        prop_assert!(moves.is_ok(), "{}", moves.unwrap_err());
    }
}

/// Runs a discussion while these commands come in, each after its delay in milliseconds; runs it
/// again whenever it waits.
async fn steered(pattern: &str, commands: &[(Command, u64)]) -> Vec<Fact> {
    let table = table(&panel().takes("*", 40));
    let id = table.open(Spec { rounds: 12, ..order(pattern) }).await.unwrap();
    let mut running: Option<Handle> = None;
    for (command, after) in commands {
        if running.is_none() {
            running = table.engine.run(id).await.ok();
        }
        // Sleeps because commands must fall between and into calls; the time is virtual.
        sleep(Duration::from_millis(*after)).await;
        let _ = table.engine.send(id, command.clone()).await;
        if let Some(handle) = &running
            && timeout(Duration::from_millis(1), handle.finished()).await.is_ok()
        {
            running = None;
        }
    }
    finish(&table, id).await;
    table.facts(id).await
}

async fn finish(table: &Table, id: DiscussionId) {
    for _ in 0..3 {
        let _ = table.engine.send(id, Command::Resume).await;
        if let Ok(handle) = table.engine.run(id).await
            && let Ok(Finished::Over(_)) = handle.finished().await
        {
            return;
        }
    }
    panic!("a resumed discussion comes to its end");
}

/// Checks that every transition is in the table and begins where the last ended, that calls are
/// placed only while the discussion runs or completes, and that it ends once.
fn legal(facts: &[Fact]) -> Result<(), String> {
    let mut stands = Lifecycle::Configuring;
    for fact in facts {
        match &fact.event {
            Event::LifecycleChanged { from, to } => {
                if *from != stands || !from.may_become(*to) {
                    return Err(format!("{from} -> {to} while {stands} at {}", fact.seq));
                }
                stands = *to;
            }
            Event::CallPlaced(_) if !matches!(stands, Lifecycle::Running | Lifecycle::Completing) => {
                return Err(format!("a call while {stands} at {}", fact.seq));
            }
            _ => {}
        }
    }
    let ended = matches!(stands, Lifecycle::Completed | Lifecycle::Aborted);
    let seqs = facts.iter().zip(1..).all(|(fact, number)| fact.seq.0 == number);
    if ended && seqs { Ok(()) } else { Err(format!("ended {stands}, in order: {seqs}")) }
}

prop_compose! {
    fn limits()(
        calls in proptest::option::of(1..25_u32),
        tokens in proptest::option::of(200..60_000_u64),
        cents in proptest::option::of(1..60_u32),
    ) -> Limits {
        let usd = cents.and_then(|cents| Usd::from_dollars(f64::from(cents) / 100.0));
        Limits { calls, tokens, usd, allow_unpriced: false }
    }
}

prop_compose! {
    fn costly_panel()(
        used in vec((0..64_u64, 0..200_u64, 1..400_u64), 3),
        convenes in vec(any::<bool>(), 3),
        fails in proptest::option::of(0..3_usize),
    ) -> Panel {
        let price = Price::new(Usd::from_dollars(3.0).unwrap(), Usd::from_dollars(15.0).unwrap());
        let mut panel = panel().priced(price);
        for (index, name) in ["ann", "bob", "cyd"].into_iter().enumerate() {
            let (prompt, completion, takes) = used[index];
            panel = panel.uses(name, prompt, completion).takes(name, takes);
            if convenes[index] {
                panel = panel.convenes(name, "what is behind: {topic}");
            }
            if fails == Some(index) {
                panel = panel.fails_first(name, ErrorClass::Network, 2);
            }
        }
        panel
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s9_inv_disc_621_no_call_starts_that_does_not_fit(pattern in pattern(), limits in limits(), panel in costly_panel()) {
        let (spent, made) = in_virtual_time(held(pattern, limits, &panel));
        prop_assert!(limits.calls.is_none_or(|most| spent.calls <= most && made <= most), "{spent:?} {made} {limits:?}");
        prop_assert!(limits.tokens.is_none_or(|most| spent.tokens <= most), "{spent:?} {limits:?}");
        prop_assert!(limits.usd.is_none_or(|most| spent.usd <= most), "{spent:?} {limits:?}");
    }
}

/// What the whole tree of discussions spent, and how many calls the panel got.
async fn held(pattern: &str, limits: Limits, panel: &Panel) -> (Spent, u32) {
    let table = table(&panel.anew());
    let recursion = Some(Recursion { max_depth: 2, strategy: TimeoutStrategy::Budget });
    let timing = Timing { total_ms: 180_000, ..order(pattern).timing };
    let id = table.open(Spec { limits, recursion, timing, ..order(pattern) }).await.unwrap();
    table.run(id).await.unwrap();
    let spent = table.engine.state(id).await.unwrap().spent;
    (spent, table.panel.steps().len() as u32)
}
