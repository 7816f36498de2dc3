//! Kills a discussion after every single write: the result is the same, and no recorded answer is
//! asked for again.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::Event,
        participant::Participant,
        spec::{Recursion, Spec, TimeoutStrategy},
    },
    seams::{Store, Voices},
};
use quorum_testkit::{
    faulty::{Fault, Faulty},
    kill::resume_anywhere,
    panel::{Panel, panel},
    table::Table,
};
use tokio::time::{Duration, Instant, sleep};

use crate::{order, registry::registry};

async fn survives(panel: Panel, spec: Spec) -> u64 {
    resume_anywhere(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>, &panel, registry(), spec).await
}

#[tokio::test(start_paused = true)]
async fn f1_every_tiny_pattern_survives_every_crash() {
    for (pattern, least) in [("synthesis", 8), ("in-turn", 8), ("until-two", 10)] {
        let deaths = survives(panel(), order(pattern)).await;
        assert!(deaths >= least, "{pattern} died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn f1_failures_and_retries_survive_every_crash() {
    let failing = panel().fails("bob", ErrorClass::ApiError).fails_first("cyd", ErrorClass::Network, 1);
    survives(failing.clone(), order("synthesis")).await;
    survives(failing, order("in-turn")).await;
}

#[tokio::test(start_paused = true)]
async fn f1_sub_discussions_survive_every_crash() {
    let convening = panel().convenes("ann", "how wide is a tab?").convenes("bob", "who pays?");
    let recursion = Some(Recursion { max_depth: 2, strategy: TimeoutStrategy::Cascade });
    let timing = quorum_core::model::spec::Timing { total_ms: 180_000, ..order("synthesis").timing };
    for (pattern, least) in [("synthesis", 46), ("in-turn", 47)] {
        let spec = Spec { recursion, timing, rounds: 1, ..order(pattern) };
        let deaths = survives(convening.clone(), spec).await;
        assert!(deaths >= least, "{pattern} died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn f10_a_received_answer_survives_an_outage_of_the_store() {
    for fault in [Fault::Away, Fault::LosesAnswer] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        // Every third write fails, whatever it is; opening is the first.
        let faulty = Faulty::new(store, move |number| if number % 3 == 2 { fault } else { Fault::None });
        let table = Table::over(Arc::new(faulty), &panel().convenes("ann", "how wide?"), registry());
        let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Fixed });
        let (outcome, facts) = table.hold(Spec { recursion, ..order("in-turn") }).await;
        assert!(outcome.success, "{fault:?}: {:?}", outcome.error);
        let mut steps = table
            .panel
            .asked()
            .iter()
            .map(|it| format!("{} {}", it.call.discussion, it.step))
            .collect::<Vec<_>>();
        let asked = steps.len();
        steps.sort();
        steps.dedup();
        assert_eq!(steps.len(), asked, "{fault:?}: nothing is asked twice");
        assert!(
            facts.iter().zip(1..).all(|(fact, number)| fact.seq.0 == number),
            "{fault:?}: no gap, no repeat"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f1_an_early_end_by_a_failure_that_is_not_tolerated_survives_every_crash() {
    let mut spec = order("until-two");
    spec.participants.push(Participant { name: "dan".to_owned(), ..spec.participants[0].clone() });
    spec.tolerance.go_on = false;
    let failing = panel().fails("ann", ErrorClass::Authentication).takes("dan", 50_000);
    survives(failing, spec).await;
}

#[tokio::test(start_paused = true)]
async fn f1_a_sub_discussion_nobody_needs_any_more_survives_every_crash() {
    let convening = panel().takes("*", 1_000).takes("ann", 500).convenes("ann", "how wide is a tab?");
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Cascade });
    survives(convening, Spec { recursion, rounds: 1, ..order("until-two") }).await;
}

/// Dies while waiting for as long as a busy provider asked; the next process must wait as long,
/// even though its provider is not busy.
async fn waits_on_after_a_crash(busy: Panel, calm: Panel, spec: Spec) {
    for writes in 1.. {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mortal =
            Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &busy.anew(), registry());
        let id = mortal.open(spec.clone()).await.unwrap();
        mortal.run(id).await.unwrap_err();
        let reborn = Table::over(store, &calm.anew(), registry());
        if !matches!(reborn.facts(id).await.last().map(|it| &it.event), Some(Event::CallFailed { .. })) {
            continue;
        }
        let began = Instant::now();
        assert!(reborn.run(id).await.unwrap().outcome().success);
        assert!(Duration::from_secs(30) <= began.elapsed(), "{:?}", began.elapsed());
        return;
    }
}

#[tokio::test(start_paused = true)]
async fn f5_a_wait_that_a_provider_asked_for_survives_a_crash() {
    let busy = panel().asks_to_wait("bob", 30_000);
    waits_on_after_a_crash(busy, panel(), Spec { rounds: 1, ..order("in-turn") }).await;
}

#[tokio::test(start_paused = true)]
async fn f5_a_wait_before_a_summary_survives_a_crash() {
    let mut spec = Spec { rounds: 4, ..order("in-turn") };
    spec.window.strategy = "summarise".to_owned();
    spec.manner.max_tokens = 512;
    let calm = panel().window("*", 8_000).says("*", &"Very long response... ".repeat(150)).sums_up("*");
    let busy = calm.clone().asks_to_wait_before_summing_up("*", 30_000);
    waits_on_after_a_crash(busy, calm, spec).await;
}

#[tokio::test(start_paused = true)]
async fn f5_after_a_crash_only_the_rate_limited_seat_waits() {
    let busy = panel().asks_to_wait("bob", 30_000);
    let spec = Spec { rounds: 1, ..order("in-turn") };
    for writes in 1.. {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mortal =
            Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &busy.anew(), registry());
        let Ok(id) = mortal.open(spec.clone()).await else { continue };
        mortal.run(id).await.unwrap_err();
        let reborn = Table::over(store, &panel(), registry());
        if !matches!(reborn.facts(id).await.last().map(|it| &it.event), Some(Event::CallFailed { .. })) {
            continue;
        }
        let began = Instant::now();
        let lane = reborn.panel.voice(&spec, &spec.participants[1]).unwrap().lane;
        let another = async {
            // Sleeps because another request to this provider must come after the discussion has
            // resumed; the time is virtual.
            sleep(Duration::from_secs(1)).await;
            drop(lane.enter(0).await.unwrap());
            began.elapsed()
        };
        let (run, entered) = tokio::join!(reborn.run(id), another);
        assert!(run.unwrap().outcome().success);
        assert!(Duration::from_secs(30) <= entered, "{entered:?}");
        return;
    }
}
