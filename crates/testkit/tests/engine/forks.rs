//! Forks: unchanged steps come from the record, only changed ones are asked.

use quorum_core::model::{event::Fork, id::Step, spec::Spec};
use quorum_testkit::panel::panel;

use crate::{order, table};

fn fork_of(of: quorum_core::model::id::DiscussionId, at: &str) -> Fork {
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
    // cyd leaves: ann and bob of round 1 heard nobody else, what comes later did.
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
async fn a_fork_at_an_unknown_step_is_refused_with_those_there_are() {
    let table = table(&panel());
    let (first, _) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let refused =
        table.engine.fork(fork_of(first.discussion_id, "9/talking/eve"), order("in-turn")).await.unwrap_err();
    let message = "at: nothing was answered at 9/talking/eve; there are 1/deciding/ann, 1/talking/ann, 1/talking/bob, 1/talking/cyd";
    assert_eq!(refused.to_string(), message);
}
