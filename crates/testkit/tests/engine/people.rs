//! A person on the panel: nothing waits in memory, days may pass, and only the person whose turn it
//! is may speak.

use std::sync::Arc;

use quorum_core::{
    engine::{SayError, handle::Finished},
    memory::MemoryStore,
    model::{
        command::{Command, Say},
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::StoppingReason,
        participant::{Participant, Person},
        spec::Spec,
    },
    seams::{Store, StoreError},
};
use quorum_testkit::{
    faulty::Faulty,
    panel::{Panel, panel},
    table::Table,
};

use crate::{order, registry::registry, table};

/// ann and cyd are models, bob is a person.
fn with_bob(pattern: &str) -> Spec {
    let mut spec = order(pattern);
    spec.participants[1] = Participant::person("bob");
    spec
}

async fn say(table: &Table, id: DiscussionId, who: &str, text: &str) -> Result<(), String> {
    let say = Say { participant: who.to_owned(), text: text.to_owned() };
    table.engine.say(id, say, None).await.map(drop).map_err(|error| error.to_string())
}

fn speeches(finished: &Finished) -> Vec<String> {
    let rounds = finished.outcome().rounds;
    rounds
        .iter()
        .flat_map(|round| round.responses.iter())
        .map(|it| format!("{}: {}", it.provider, it.content))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn c02_a_persons_turn_leaves_nothing_in_memory_and_goes_on_days_later() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = Table::over(store.clone(), &panel(), registry());
    let id = first.open(with_bob("in-turn")).await.unwrap();
    for day in 1..=2 {
        // Each day a new process.
        let today = Table::owned_by(&format!("day {day}"), store.clone(), &panel(), registry());
        let Finished::Waiting(state) = today.run(id).await.unwrap() else { panic!("it is bob's turn") };
        assert_eq!((state.lifecycle, state.awaiting[0].participant.as_str()), (Lifecycle::Running, "bob"));
        tokio::time::advance(tokio::time::Duration::from_secs(86_400)).await;
        say(&today, id, "bob", &format!("day {day}")).await.unwrap();
    }
    let last = Table::owned_by("day 3", store, &panel(), registry());
    let finished = last.run(id).await.unwrap();
    let expected = [
        "ann: ann after 0",
        "bob: day 1",
        "cyd: cyd after 2",
        "ann: ann after 3",
        "bob: day 2",
        "cyd: cyd after 5",
    ];
    assert_eq!(speeches(&finished), expected);
    assert!(finished.outcome().success);
    assert!(finished.outcome().total_duration_ms < 1_000, "days of silence are not active time");
}

#[tokio::test(start_paused = true)]
async fn out_of_turn_unknown_empty_twice_or_over_is_refused_and_changes_nothing() {
    let table = table(&panel());
    let id = table.open(Spec { rounds: 1, ..with_bob("in-turn") }).await.unwrap();
    let early = say(&table, id, "bob", "me first").await.unwrap_err();
    assert_eq!(early, "it is not bob's turn: no person is awaited; nothing was changed");
    table.run(id).await.unwrap();
    let before = table.facts(id).await;
    assert!(say(&table, id, "ann", "I am a person").await.unwrap_err().ends_with("its people are bob"));
    assert!(say(&table, id, "bob", "  \n").await.unwrap_err().starts_with("a turn must have 1 to 100000"));
    assert!(say(&table, id, "bob", &"x".repeat(1 << 20)).await.unwrap_err().contains("this has 1048576"));
    assert_eq!(table.facts(id).await, before);
    say(&table, id, "bob", "now").await.unwrap();
    let twice = say(&table, id, "bob", "and another thing").await.unwrap_err();
    assert_eq!(twice, "it is not bob's turn: no person is awaited; nothing was changed");
    let finished = table.run(id).await.unwrap();
    assert_eq!(speeches(&finished), ["ann: ann after 0", "bob: now", "cyd: cyd after 2"]);
    assert!(say(&table, id, "bob", "too late").await.unwrap_err().contains("is over"));
    let nobody = DiscussionId::fresh();
    assert!(say(&table, nobody, "bob", "hello?").await.unwrap_err().contains("there is no discussion"));
}

#[tokio::test(start_paused = true)]
async fn c07_of_concurrent_turns_of_a_person_one_is_accepted() {
    let table = table(&panel());
    let id = table.open(Spec { rounds: 1, ..with_bob("in-turn") }).await.unwrap();
    table.run(id).await.unwrap();
    let words = (0..50).map(|number| {
        let table = table.clone();
        async move { say(&table, id, "bob", &format!("number {number}")).await.is_ok() }
    });
    let taken = futures::future::join_all(words).await.into_iter().filter(|taken| *taken).count();
    assert_eq!(taken, 1);
    let finished = table.run(id).await.unwrap();
    assert_eq!(speeches(&finished).iter().filter(|it| it.starts_with("bob")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_seat_belongs_to_its_user() {
    let table = table(&panel());
    let mut spec = with_bob("in-turn");
    spec.participants[1].person = Some(Person { user: Some("u1".to_owned()) });
    let id = table.open(spec).await.unwrap();
    table.run(id).await.unwrap();
    let words = || Say { participant: "bob".to_owned(), text: "hi".to_owned() };
    let theirs = SayError::NotTheirs { participant: "bob".to_owned() };
    assert_eq!(table.engine.say(id, words(), Some("u2")).await, Err(theirs.clone()));
    assert_eq!(table.engine.say(id, words(), None).await, Err(theirs));
    assert!(table.engine.say(id, words(), Some("u1")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn in_a_group_the_others_are_asked_first_and_their_answers_kept() {
    let table = table(&panel());
    let id = table.open(Spec { rounds: 1, ..with_bob("synthesis") }).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("it is bob's turn") };
    assert_eq!(state.turns.len(), 2);
    say(&table, id, "bob", "from the heart").await.unwrap();
    let finished = table.run(id).await.unwrap();
    assert_eq!(speeches(&finished), ["ann: ann after 0", "bob: from the heart", "cyd: cyd after 0"]);
    assert_eq!(table.panel.steps(), ["1/talking/ann", "1/talking/cyd", "1/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn early_exit_may_pass_a_person_over() {
    let table = table(&panel());
    let (outcome, _) = table.hold(Spec { rounds: 1, ..with_bob("until-two") }).await;
    assert!(outcome.success);
    assert_eq!(outcome.rounds[0].responses.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_person() {
    let table = table(&panel());
    let id = table.open(with_bob("in-turn")).await.unwrap();
    table.run(id).await.unwrap();
    table.engine.send(id, Command::Stop).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert_eq!(
        (outcome.status, outcome.stopping_reason),
        (Lifecycle::Completed, Some(StoppingReason::USER_STOP))
    );
    let late = say(&table, id, "bob", "wait!").await.unwrap_err();
    assert!(late.contains("is over"), "{late}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_sent_while_a_run_is_about_to_wait_is_noticed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = Table::over(store.clone(), &panel(), registry());
    let id = first.open(Spec { rounds: 1, ..with_bob("in-turn") }).await.unwrap();
    first.run(id).await.unwrap();
    let say = Command::Say(Say { participant: "bob".to_owned(), text: "just in time".to_owned() });
    let second = Table::over(Arc::new(Faulty::hearing_late(store, say)), &panel(), registry());
    let finished = second.run(id).await.unwrap();
    assert!(matches!(finished, Finished::Over(_)), "it was heard, so nothing is waited for");
    assert_eq!(speeches(&finished), ["ann: ann after 0", "bob: just in time", "cyd: cyd after 2"]);
}

#[tokio::test(start_paused = true)]
async fn f1_a_persons_turns_survive_every_crash() {
    let (expected, _) = spoken_through(&panel(), u64::MAX).await;
    let mut writes = 1;
    loop {
        let (speeches, died) = spoken_through(&panel(), writes).await;
        assert_eq!(speeches, expected, "killed after write {writes}");
        if !died {
            return;
        }
        writes += 1;
    }
}

/// Runs a discussion in which bob gives his two turns, killed once after this many writes. Returns
/// what was said, and whether it was killed.
async fn spoken_through(panel: &Panel, writes: u64) -> (Vec<String>, bool) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mortal = Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &panel.anew(), registry());
    let id = mortal.open(with_bob("in-turn")).await.unwrap();
    let mut table = mortal;
    let mut died = false;
    for _ in 0..8 {
        match table.run(id).await {
            Err(_) => {
                died = true;
                table = Table::over(store.clone(), &panel.anew(), registry());
            }
            Ok(finished @ Finished::Over(_)) => return (speeches(&finished), died),
            Ok(Finished::Waiting(state)) => {
                let word = format!("word {}", state.round);
                match say(&table, id, "bob", &word).await {
                    Ok(()) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    panic!("it never ended");
}

#[tokio::test(start_paused = true)]
async fn a_store_refuses_a_turn_that_is_not_awaited() {
    let table = table(&panel());
    let id = table.open(with_bob("in-turn")).await.unwrap();
    let say = Command::Say(Say { participant: "bob".to_owned(), text: "hi".to_owned() });
    let refused = StoreError::NotAwaited { participant: "bob".to_owned(), awaited: Vec::new() };
    assert_eq!(table.store.send(id, say).await, Err(refused));
}
