//! People's commands, from this process or another, at any moment.

use std::sync::Arc;

use quorum_core::{
    call::Message,
    engine::{RunError, handle::Finished},
    memory::MemoryStore,
    model::{
        command::{Command, Note},
        error::ErrorClass,
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::StoppingReason,
        spec::Spec,
    },
    seams::{Store, StoreError},
};
use quorum_testkit::{log::story, panel::panel, table::Table};
use tokio::time::{Duration, sleep};

use crate::{order, registry::registry, table};

/// Runs the discussion and sends each of these commands after its delay in milliseconds.
async fn run_with(table: &Table, id: DiscussionId, commands: &[(u64, Command)]) -> Finished {
    let handle = table.engine.run(id).await.unwrap();
    for (after, command) in commands {
        // Sleeps because the command must come while a call is under way; the time is virtual.
        sleep(Duration::from_millis(*after)).await;
        let _ = table.engine.send(id, command.clone()).await;
    }
    handle.finished().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_pause_lets_calls_finish_and_a_resume_asks_nothing_twice() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(order("in-turn")).await.unwrap();
    let Finished::Waiting(state) = run_with(&table, id, &[(150, Command::Pause)]).await else {
        panic!("not paused")
    };
    assert_eq!((state.lifecycle, state.turns.len()), (Lifecycle::Paused, 2));

    let Finished::Waiting(_) = table.run(id).await.unwrap() else {
        panic!("a pause holds until somebody resumes")
    };
    table.engine.send(id, Command::Resume).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success);
    let mut steps = table.panel.steps();
    let asked = steps.len();
    steps.sort();
    steps.dedup();
    assert_eq!(steps.len(), asked, "nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn a_stop_concludes_with_what_there_is() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(order("in-turn")).await.unwrap();
    let outcome = run_with(&table, id, &[(150, Command::Stop)]).await.outcome();
    assert!(outcome.success && outcome.integrity.degraded);
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::USER_STOP));
    assert_eq!(table.panel.steps(), ["1/talking/ann", "1/talking/bob", "1/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_discussion_can_be_stopped() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(order("in-turn")).await.unwrap();
    run_with(&table, id, &[(150, Command::Pause)]).await;
    table.engine.send(id, Command::Stop).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::USER_STOP));
    assert_eq!(outcome.status, Lifecycle::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_abort_drops_the_call_under_way_and_asks_nobody() {
    let table = table(&panel().takes("*", 10_000).says("ann", "best so far"));
    let id = table.open(order("in-turn")).await.unwrap();
    let outcome = run_with(&table, id, &[(10_500, Command::Abort)]).await.outcome();
    assert_eq!(
        (outcome.status, outcome.stopping_reason),
        (Lifecycle::Aborted, Some(StoppingReason::USER_ABORT))
    );
    assert_eq!(outcome.synthesis, "best so far");
    let words_of = (outcome.integrity.stand_in.as_deref(), outcome.consensus.synthesizer);
    assert_eq!(words_of, (Some("ann"), None), "one voice's words passed for the answer");
    assert!(outcome.integrity.degraded && outcome.integrity.abandoned_calls == 1);
    assert!(outcome.total_duration_ms < 10_600, "{}", outcome.total_duration_ms);
    assert_eq!(table.engine.send(id, Command::Resume).await, Err(StoreError::Over(id)));
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_remembered_by_the_next_process() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let id = {
        let first = Table::over(store.clone(), &panel().takes("*", 100), registry());
        let id = first.open(order("in-turn")).await.unwrap();
        first.engine.send(id, Command::Stop).await.unwrap();
        id
    };
    let second = Table::over(store, &panel(), registry());
    let finished = second.run(id).await.unwrap();
    assert_eq!(finished.outcome().stopping_reason, Some(StoppingReason::USER_STOP));
    assert_eq!(second.panel.steps(), [""; 0], "nothing was said, so there is nothing to sum up");
}

#[tokio::test(start_paused = true)]
async fn two_runners_of_one_discussion_exactly_one_wins() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let one = Table::owned_by("one", store.clone(), &panel(), registry());
    let other = Table::owned_by("other", store, &panel(), registry());
    let id = one.open(order("synthesis")).await.unwrap();
    let running = one.engine.run(id).await.unwrap();
    let refused = other.engine.run(id).await.err().unwrap().to_string();
    assert!(refused.contains("is being run by one"), "{refused}");
    assert!(running.finished().await.unwrap().outcome().success);
    assert!(other.run(id).await.unwrap().outcome().success, "a finished one may be looked at by anybody");
    assert_eq!(other.panel.steps(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a03_the_transition_history_is_readable() {
    let table = table(&panel());
    let id = table.open(Spec { rounds: 1, ..order("synthesis") }).await.unwrap();
    table.run(id).await.unwrap();
    let state = table.engine.state(id).await.unwrap();
    let moves: Vec<String> = state.transitions.iter().map(|it| format!("{} -> {}", it.from, it.to)).collect();
    let expected = [
        "configuring -> validating",
        "validating -> ready",
        "ready -> initializing",
        "initializing -> running",
        "running -> talking",
        "running -> completing",
        "completing -> completed",
    ];
    assert_eq!(moves, expected);
    assert!(state.transitions.is_sorted_by_key(|it| it.at));
    assert_eq!(state.visible_phase(), "completed");
    let facts = table.facts(id).await;
    assert!(story(&facts).ends_with("completing -> completed\n"));
}

#[tokio::test(start_paused = true)]
async fn a_pause_sent_before_the_talk_begins_is_not_lost() {
    let table = table(&panel());
    let id = table.open(order("in-turn")).await.unwrap();
    table.engine.send(id, Command::Pause).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("not paused") };
    assert_eq!((state.lifecycle, table.panel.steps().len()), (Lifecycle::Paused, 0));
}

/// Sends `command` after a pause that has not taken effect yet: ann still speaks while bob's second
/// attempt is held back.
async fn pause_then(command: Command) -> (Table, Finished) {
    let table = table(&panel().takes("ann", 5_000).fails_first("bob", ErrorClass::Network, 1));
    let id = table.open(Spec { rounds: 1, ..order("synthesis") }).await.unwrap();
    let finished = run_with(&table, id, &[(500, Command::Pause), (3_000, command)]).await;
    (table, finished)
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_revoked_before_it_takes_effect_stops_nothing() {
    let (table, finished) = pause_then(Command::Resume).await;
    let outcome = finished.outcome();
    assert_eq!((outcome.status, outcome.success), (Lifecycle::Completed, true));
    assert_eq!(table.panel.steps().len(), 5, "everyone, bob once more, and the synthesis");
}

#[tokio::test(start_paused = true)]
async fn a_stop_after_a_pause_that_is_not_obeyed_yet_concludes() {
    let outcome = pause_then(Command::Stop).await.1.outcome();
    let ended = (outcome.status, outcome.stopping_reason);
    assert_eq!(ended, (Lifecycle::Completed, Some(StoppingReason::USER_STOP)));
}

#[tokio::test(start_paused = true)]
async fn a_fenced_run_leaves_its_inbox_to_the_next_run() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(order("in-turn")).await.unwrap();
    let fenced = table.engine.run(id).await.unwrap();
    let finished = run_with(&table, id, &[(150, Command::Stop)]).await;
    assert!(fenced.finished().await.is_err());
    assert_eq!(finished.outcome().stopping_reason, Some(StoppingReason::USER_STOP));
}

#[tokio::test(start_paused = true)]
async fn a_claim_does_not_outlive_a_fault_of_this_program() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let one = Table::owned_by("one", store.clone(), &panel(), registry());
    let other = Table::owned_by("other", store, &panel(), registry());
    let id = one.open(order("faulty")).await.unwrap();
    assert!(matches!(one.run(id).await, Err(RunError::Fault(_))));
    assert!(other.engine.run(id).await.is_ok(), "nobody holds it any more");
}

#[tokio::test(start_paused = true)]
async fn a_note_is_shown_to_everyone_asked_afterwards_and_is_nobodys_turn() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(order("in-turn")).await.unwrap();
    let note = Command::Note(Note { text: "mind the budget".to_owned() });
    let outcome = run_with(&table, id, &[(150, note)]).await.outcome();
    assert!(outcome.success && !outcome.integrity.degraded);
    let is_note = |message: &Message| matches!(message, Message::Said { own: false, turn } if &*turn.text == "mind the budget");
    let shown: Vec<(String, usize)> = table
        .panel
        .asked()
        .iter()
        .map(|asked| (asked.step.to_string(), asked.call.messages.iter().filter(|it| is_note(it)).count()))
        .collect();
    // Two had been asked when the note came; every later participant, including the one that
    // decides, was shown it once.
    assert!(shown.iter().take(2).all(|(_, times)| *times == 0), "{shown:?}");
    assert!(shown.len() > 3 && shown.iter().skip(2).all(|(_, times)| *times == 1), "{shown:?}");
    assert!(
        outcome.rounds.iter().flat_map(|round| &round.responses).all(|it| it.content != "mind the budget")
    );
}
