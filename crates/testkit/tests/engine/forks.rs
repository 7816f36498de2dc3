//! Forks: unchanged steps come from the record, only changed ones are asked.

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::{Command, Say},
        event::Fork,
        id::{DiscussionId, Step},
        participant::Participant,
        spec::{Manner, Spec, WindowSpec},
    },
    seams::Archive,
};
use quorum_testkit::{panel::panel, table::Table};

use crate::{order, registry::registry, table};

fn fork_of(of: DiscussionId, at: &str) -> Fork {
    Fork { of, at: Step::from(at) }
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_without_changes_asks_nobody() {
    let table = table(&panel());
    let (first, _) = table.hold(order("in-turn")).await;
    let asked = table.panel.steps().len();
    let id =
        table.engine.fork(fork_of(first.discussion_id, "1/talking/ann"), order("in-turn")).await.unwrap();
    let second = table.run(id).await.unwrap().outcome();
    assert_eq!(table.panel.steps().len(), asked, "nothing is paid twice");
    assert_eq!(second.synthesis, first.synthesis);
    assert_eq!(second.metadata.cost_summary.total_tokens, 0);
}

#[tokio::test(start_paused = true)]
async fn d15_after_the_fork_only_what_is_asked_differently_is_paid() {
    let table = table(&panel());
    let (first, _) = table.hold(order("in-turn")).await;
    let asked = table.panel.steps().len();
    let mut changed = order("in-turn");
    // cyd leaves: in round 1 ann and bob had not heard cyd; later speakers had.
    changed.participants.truncate(2);
    let id = table.engine.fork(fork_of(first.discussion_id, "1/talking/ann"), changed).await.unwrap();
    table.run(id).await.unwrap();
    assert_eq!(table.panel.steps()[asked..], ["2/talking/ann", "2/talking/bob", "2/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn d15_up_to_the_fork_everything_stands_whatever_is_asked() {
    let table = table(&panel());
    let (first, _) = table.hold(order("in-turn")).await;
    let asked = table.panel.steps().len();
    let mut changed = order("in-turn");
    changed.participants.truncate(2);
    let id = table.engine.fork(fork_of(first.discussion_id, "2/talking/bob"), changed).await.unwrap();
    table.run(id).await.unwrap();
    assert_eq!(table.panel.steps()[asked..], ["2/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn a_fork_at_an_unknown_step_is_refused_with_the_known_ones() {
    let table = table(&panel());
    let (first, _) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let refused =
        table.engine.fork(fork_of(first.discussion_id, "9/talking/eve"), order("in-turn")).await.unwrap_err();
    let message = "at: there is no answer at step 9/talking/eve; there are 1/deciding/ann, 1/talking/ann, 1/talking/bob, 1/talking/cyd";
    assert_eq!(refused.to_string(), message);
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_a_discussion_without_an_answer_is_refused_in_one_sentence() {
    let table = table(&panel());
    let id = table.engine.open(order("in-turn")).await.unwrap();
    let refused = table.engine.fork(fork_of(id, ""), order("in-turn")).await.unwrap_err();
    assert_eq!(refused.to_string(), "at: it has no answer yet that could be kept");
}

/// Runs the discussion to its end, with bob giving the same answer each time; returns how often he
/// was asked.
async fn with_bob_speaking(table: &Table, id: DiscussionId) -> usize {
    for asked in 0.. {
        if let Finished::Over(_) = table.run(id).await.unwrap() {
            return asked;
        }
        let word = Say { participant: "bob".to_owned(), text: "from the heart".to_owned() };
        table.engine.send(id, Command::Say(word)).await.unwrap();
    }
    unreachable!("a discussion ends")
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_keeps_what_people_have_said() {
    for pattern in ["in-turn", "synthesis"] {
        let mut spec = order(pattern);
        spec.participants[1] = Participant::person("bob");
        spec.tolerance.min_providers = 1;
        let table = table(&panel());
        let id = table.open(spec.clone()).await.unwrap();
        assert_eq!(with_bob_speaking(&table, id).await, 2);
        let calls = table.panel.steps().len();
        // With the same order no participant is asked anything, before or after the fork.
        for at in ["1/talking/ann", "2/talking/cyd"] {
            let same = table.engine.fork(fork_of(id, at), spec.clone()).await.unwrap();
            assert_eq!(
                (with_bob_speaking(&table, same).await, table.panel.steps().len()),
                (0, calls),
                "{at}"
            );
        }
        // Without cyd, bob is shown something else in the second round, but not in the first,
        // whether or not participants take turns.
        let mut smaller = spec.clone();
        smaller.participants.truncate(2);
        let changed = table.engine.fork(fork_of(id, "1/talking/ann"), smaller).await.unwrap();
        assert_eq!(with_bob_speaking(&table, changed).await, 1, "{pattern}");
    }
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_paid_for_summaries_again() {
    let wordy = panel().window("*", 8_000).says("*", &"Very long response... ".repeat(100)).sums_up("*");
    let table = table(&wordy);
    let window = WindowSpec { strategy: "summarise".to_owned(), ..order("in-turn").window };
    let manner = Manner { max_tokens: 512, ..order("in-turn").manner };
    let spec = Spec { rounds: 10, window, manner, ..order("in-turn") };
    let (first, _) = table.hold(spec.clone()).await;
    assert!(first.integrity.summaries > 0);
    let calls = table.panel.steps().len();
    let id = table.engine.fork(fork_of(first.discussion_id, "1/talking/ann"), spec).await.unwrap();
    let again = table.run(id).await.unwrap().outcome();
    assert_eq!(table.panel.steps().len(), calls, "nothing is paid twice");
    assert_eq!(again.integrity.summaries, first.integrity.summaries);
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_of_a_fork_asked_everything_again() {
    let table = table(&panel());
    let (first, _) = table.hold(order("in-turn")).await;
    let calls = table.panel.steps().len();
    let mut of = first.discussion_id;
    for _ in 0..3 {
        of = table.engine.fork(fork_of(of, "1/talking/ann"), order("in-turn")).await.unwrap();
        assert_eq!(table.run(of).await.unwrap().outcome().synthesis, first.synthesis);
        assert_eq!(table.panel.steps().len(), calls, "nothing is paid twice");
    }
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_forgot_how_its_providers_count_and_showed_other_turns() {
    let speeches = "the case for it is strong and ".repeat(60);
    let table = table(&panel().window("*", 8_000).says("*", &speeches).counts("*", 1.6));
    let manner = Manner { max_tokens: 512, ..order("in-turn").manner };
    let spec = Spec { rounds: 8, manner, ..order("in-turn") };
    let (first, _) = table.hold(spec.clone()).await;
    assert!(first.integrity.truncations > 0, "the window is full");
    let calls = table.panel.steps().len();
    let mut of = first.discussion_id;
    for _ in 0..2 {
        of = table.engine.fork(fork_of(of, "1/talking/ann"), spec.clone()).await.unwrap();
        table.run(of).await.unwrap();
        assert_eq!(table.panel.steps()[calls..], [""; 0], "nothing is paid twice");
    }
}

#[tokio::test(start_paused = true)]
async fn d15_forks_of_each_other_end() {
    let store = Arc::new(MemoryStore::new());
    let table = Table::over(store.clone(), &panel(), registry());
    let (first, _) = table.hold(order("in-turn")).await;
    let (id, order) = (first.discussion_id, order("in-turn"));
    let fork = table.engine.fork(fork_of(id, "1/talking/ann"), order.clone()).await.unwrap();
    table.run(fork).await.unwrap();
    store.remove(id).await.unwrap();
    table.engine.fork_as(id, fork_of(fork, "2/talking/cyd"), order).await.unwrap();
    let asked = table.panel.steps().len();
    assert_eq!(table.run(id).await.unwrap().outcome().synthesis, first.synthesis);
    // Turns up to the fork are taken over; what was asked for the later ones is no longer known.
    assert_eq!(table.panel.steps()[asked..], ["2/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_goes_on_when_its_source_has_been_forgotten() {
    let store = Arc::new(MemoryStore::new());
    let table = Table::over(store.clone(), &panel(), registry());
    let (first, _) = table.hold(order("in-turn")).await;
    let mut of = first.discussion_id;
    for _ in 0..2 {
        let fork = table.engine.fork(fork_of(of, "1/talking/ann"), order("in-turn")).await.unwrap();
        store.remove(of).await.unwrap();
        assert_eq!(table.run(fork).await.unwrap().outcome().synthesis, first.synthesis);
        of = fork;
    }
    assert_eq!(table.panel.steps().len(), 3 * 7, "what is gone is asked for again");
}
