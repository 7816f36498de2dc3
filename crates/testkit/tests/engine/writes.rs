//! When facts are written: an answer together with the next question, but never later than the next
//! wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quorum_core::{
    engine::{RunError, handle::Finished},
    memory::MemoryStore,
    model::{
        command::Command,
        event::{Event, Fact},
        id::DiscussionId,
        lifecycle::Lifecycle,
        spec::Spec,
    },
    seams::{Store, StoreError, Voices},
};
use quorum_testkit::{
    faulty::{Fault, Faulty},
    panel::panel,
    table::Table,
};
use tokio::time::sleep;

use crate::{order, registry::registry, table};

/// The questions and answers, in the order they were recorded.
fn exchange(facts: &[Fact]) -> Vec<String> {
    let told = facts.iter().filter_map(|fact| match &fact.event {
        Event::CallPlaced(placed) => Some(format!("ask {}", placed.participant)),
        Event::TurnCompleted { turn } => Some(format!("{} said", turn.participant)),
        _ => None,
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_and_the_next_questions_are_one_write() {
    let writes = Arc::new(AtomicU64::new(0));
    let counted = writes.clone();
    let count = move |number| {
        counted.store(number + 1, Ordering::SeqCst);
        Fault::None
    };
    let faulty = Faulty::new(Arc::new(MemoryStore::new()), count);
    let table = Table::over(Arc::new(faulty), &panel().takes("*", 100), registry());
    let (outcome, _) = table.hold(Spec { rounds: 2, ..order("synthesis") }).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(writes.load(Ordering::SeqCst), 5, "the order, two rounds, the synthesis, the end");
}

#[tokio::test(start_paused = true)]
async fn f10_an_answer_is_durable_before_the_next_one_is_waited_for() {
    let table = table(&panel());
    let spec = Spec { rounds: 1, ..order("in-turn") };
    let lane = table.panel.voice(&spec, &spec.participants[1]).unwrap().lane;
    lane.close_for(Duration::from_secs(30));
    let id = table.open(spec).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the second must be waiting for the lane; the time is virtual.
    sleep(Duration::from_secs(10)).await;
    assert_eq!(exchange(&table.facts(id).await), ["ask ann", "ann said"]);
    assert!(handle.finished().await.unwrap().outcome().success);
}

#[tokio::test(start_paused = true)]
async fn f10_an_answer_outlives_a_fault_of_this_program() {
    let table = table(&panel());
    let id = table.open(order("hasty")).await.unwrap();
    assert!(matches!(table.run(id).await, Err(RunError::Fault(_))));
    assert_eq!(exchange(&table.facts(id).await), ["ask ann", "ann said"]);
}

#[tokio::test(start_paused = true)]
async fn f10_a_fault_in_one_call_keeps_what_others_answered() {
    let table = table(&panel().takes("*", 100).panics("bob"));
    let id = table.open(order("synthesis")).await.unwrap();
    assert!(matches!(table.run(id).await, Err(RunError::Fault(_))));
    let told = exchange(&table.facts(id).await);
    assert_eq!(told, ["ask ann", "ask bob", "ask cyd", "ann said", "cyd said"]);
}

#[tokio::test(start_paused = true)]
async fn begin_runs_like_open_and_run() {
    let (one, two) = (table(&panel()), table(&panel()));
    let (outcome, facts) = one.hold(order("in-turn")).await;
    let handle = two.engine.begin(order("in-turn")).await.unwrap();
    let begun = handle.finished().await.unwrap().outcome();
    assert_eq!((begun.synthesis, begun.success), (outcome.synthesis, outcome.success));
    assert_eq!(exchange(&two.facts(handle.id()).await), exchange(&facts));
    assert!(!two.engine.is_running(handle.id()));
}

#[tokio::test(start_paused = true)]
async fn a_discussion_begun_twice_is_one() {
    let table = table(&panel());
    let id = DiscussionId::fresh();
    let first = table.engine.begin_as(id, order("in-turn")).await.unwrap();
    let second = table.engine.begin_as(id, order("in-turn")).await.unwrap();
    let fenced = RunError::Store(StoreError::Fenced(id));
    assert_eq!(first.finished().await, Err(fenced), "the second run took it over");
    assert!(second.finished().await.unwrap().outcome().success);
    let again = table.engine.begin_as(id, order("in-turn")).await.unwrap();
    assert!(matches!(again.finished().await, Ok(Finished::Over(_))));
}

#[tokio::test(start_paused = true)]
async fn a_command_to_a_discussion_just_begun_takes_effect() {
    let table = table(&panel());
    let handle = table.engine.begin(order("in-turn")).await.unwrap();
    table.engine.send(handle.id(), Command::Pause).await.unwrap();
    let Finished::Waiting(state) = handle.finished().await.unwrap() else { panic!("not paused") };
    assert_eq!(state.lifecycle, Lifecycle::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_discussion_that_could_not_begin_is_not_running() {
    let dead = Faulty::new(Arc::new(MemoryStore::new()) as Arc<dyn Store>, |_| Fault::Dead);
    let table = Table::over(Arc::new(dead), &panel(), registry());
    let id = DiscussionId::fresh();
    assert!(table.engine.begin_as(id, order("in-turn")).await.is_err());
    assert!(!table.engine.is_running(id));
}

/// A table whose store confirms the opening of a discussion late.
fn late_table() -> Table {
    let late = |number| if number == 0 { Fault::AnswersLate } else { Fault::None };
    Table::over(Arc::new(Faulty::new(Arc::new(MemoryStore::new()), late)), &panel(), registry())
}

#[tokio::test(start_paused = true)]
async fn of_two_begun_at_once_the_running_one_got_no_command() {
    let (table, id) = (late_table(), DiscussionId::fresh());
    // Runs for longer than the store's delay.
    let spec = Spec { rounds: 100, ..order("in-turn") };
    let first = async {
        let first = table.engine.begin_as(id, spec.clone()).await.unwrap();
        table.engine.send(id, Command::Pause).await.unwrap();
        first.finished().await
    };
    let second = async { table.engine.begin_as(id, spec.clone()).await.unwrap().finished().await.unwrap() };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first, Err(RunError::Store(StoreError::Fenced(id))), "the second took it over");
    let Finished::Waiting(state) = second else { panic!("the pause was not heard") };
    assert_eq!(state.lifecycle, Lifecycle::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_not_awaited_is_recorded_and_run() {
    let (table, id) = (late_table(), DiscussionId::fresh());
    let begin = table.engine.begin_as(id, order("in-turn"));
    assert!(tokio::time::timeout(Duration::from_millis(1), begin).await.is_err(), "it is not waited for");
    // Sleeps because there is no handle to wait with; the time is virtual.
    sleep(Duration::from_secs(60)).await;
    assert_eq!(table.engine.state(id).await.unwrap().lifecycle, Lifecycle::Completed);
}
