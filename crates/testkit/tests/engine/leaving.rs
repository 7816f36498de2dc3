//! A process that is told to exit: answers that have arrived are recorded before anything else, and
//! nothing that was answered is asked for again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{command::Command, event::Event, id::DiscussionId, lifecycle::Lifecycle, spec::Spec},
};
use quorum_testkit::{
    faulty::{Beats, Fault, Faulty},
    panel::{Panel, panel},
    table::Table,
};
use tokio::{sync::watch, time::sleep};

use crate::{order, registry::registry, subs::recursive};

/// Three participants that answer after 1, 2 and 3 seconds.
fn slow() -> Panel {
    panel().takes("ann", 1_000).takes("bob", 2_000).takes("cyd", 3_000)
}

/// Runs the discussion in a process that is told to leave after this many milliseconds.
async fn left_after(table: &Table, id: DiscussionId, ms: u64) -> Finished {
    let handle = table.engine.run(id).await.unwrap();
    sleep(Duration::from_millis(ms)).await;
    table.engine.leave().await;
    handle.finished().await.unwrap()
}

async fn answered(table: &Table, id: DiscussionId) -> Vec<String> {
    let turn = |event: &Event| match event {
        Event::TurnCompleted { turn } => Some(turn.step.to_string()),
        _ => None,
    };
    table.facts(id).await.iter().filter_map(|fact| turn(&fact.event)).collect()
}

#[tokio::test(start_paused = true)]
async fn f13_calls_under_way_are_recorded_and_never_made_again() {
    // Every 250 ms of a talk and a decision that take some 7 s.
    for moment in (0..8_000).step_by(250) {
        for pattern in ["synthesis", "in-turn"] {
            let store = Arc::new(MemoryStore::new());
            let first = Table::owned_by("first", store.clone(), &slow(), registry());
            let id = first.open(Spec { rounds: 2, ..order(pattern) }).await.unwrap();
            let finished = left_after(&first, id, moment).await;
            let asked = first.panel.steps();
            let mut recorded = answered(&first, id).await;
            assert_eq!(recorded.len(), asked.len(), "{pattern} left at {moment}: {asked:?} {recorded:?}");
            if let Finished::Waiting(state) = &finished {
                assert_ne!(state.lifecycle, Lifecycle::Paused, "{pattern} left at {moment}");
            }

            let second = Table::owned_by("second", store, &slow(), registry());
            let ended = second.run(id).await.unwrap().outcome();
            assert!(ended.success, "{pattern} left at {moment}");
            assert_eq!(ended.integrity.repeated_calls, 0, "{pattern} left at {moment}");
            recorded.extend(second.panel.steps());
            recorded.sort();
            let mut once = recorded.clone();
            once.dedup();
            assert_eq!(recorded, once, "{pattern} left at {moment}: every step is asked for once");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f13_a_received_answer_is_recorded_before_an_abort_takes_effect() {
    let is_slow = Arc::new(AtomicBool::new(false));
    let fault = |is_slow: bool| if is_slow { Fault::AnswersLate } else { Fault::None };
    let slowed = is_slow.clone();
    let store = Faulty::new(Arc::new(MemoryStore::new()), move |_| fault(slowed.load(Ordering::SeqCst)));
    let script = panel().takes("ann", 3_000).takes("bob", 1_000).takes("cyd", 3_000);
    let table = Table::over(Arc::new(store), &script, registry());
    let id = table.open(Spec { rounds: 1, ..order("synthesis") }).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // bob answers while the abort is being recorded, which takes a second.
    sleep(Duration::from_millis(500)).await;
    is_slow.store(true, Ordering::SeqCst);
    table.engine.send(id, Command::Abort).await.unwrap();
    handle.finished().await.unwrap();
    assert_eq!(answered(&table, id).await, ["1/talking/bob"]);
}

/// A network that swallows everything gives no error either.
#[tokio::test(start_paused = true)]
async fn a_node_whose_beats_get_no_answer_places_no_calls_after_its_lease() {
    let (line, beats) = watch::channel(Beats::Written);
    let store = Faulty::beating(Arc::new(MemoryStore::new()), beats);
    let table = Table::over(Arc::new(store), &slow(), registry()).with_lease(3_000);
    let id = table.open(Spec { rounds: 9, ..order("in-turn") }).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Its first beat was answered; the lease ends 3 s after the last one.
    sleep(Duration::from_millis(500)).await;
    line.send_replace(Beats::Swallowed);
    let mut asked = Vec::new();
    for _ in 0..4 {
        sleep(Duration::from_secs(4)).await;
        asked.push(table.panel.steps().len());
    }
    assert_eq!(asked, [asked[0]; 4]);
    line.send_replace(Beats::Written);
    assert!(handle.finished().await.unwrap().outcome().success);
    assert!(asked[0] < table.panel.steps().len());
}

#[tokio::test(start_paused = true)]
async fn f13_a_sub_discussion_leaves_with_the_one_above() {
    let store = Arc::new(MemoryStore::new());
    let spec = recursive("synthesis", 2);
    let script = || slow().convenes("ann", "About {topic}");
    let whole = Table::owned_by("whole", Arc::new(MemoryStore::new()), &script(), registry());
    let (expected, _) = whole.hold(spec.clone()).await;
    for moment in (0..12_000).step_by(1_500) {
        let first = Table::owned_by("first", store.clone(), &script(), registry());
        let id = first.open(spec.clone()).await.unwrap();
        left_after(&first, id, moment).await;
        let second = Table::owned_by("second", store.clone(), &script(), registry());
        let ended = second.run(id).await.unwrap().outcome();
        assert_eq!(ended.synthesis, expected.synthesis, "left at {moment}");
        assert_eq!(ended.integrity.repeated_calls, 0, "left at {moment}");
        let asked = first.panel.steps().len() + second.panel.steps().len();
        assert_eq!(asked, whole.panel.steps().len(), "left at {moment}");
    }
}
