//! Floods: an answer past its limit is cut there for every reader, and is billed in full.

use std::sync::Arc;

use futures::StreamExt;
use quorum_core::{
    engine::feed::Signal,
    memory::MemoryStore,
    model::{
        error::Code,
        event::{Event, Fact, Fork},
        id::Step,
        money::{Price, Usage, Usd},
        spec::{Limits, Spec},
        transcript::{Finish, Turn},
    },
    seams::Store,
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{AskedCall, Panel, panel},
};

use crate::{order, registry::registry, table};

const MARK: &str = "[cut off here: it went past its token limit]";

/// 200,000 tokens from a participant that was allowed 200.
fn flood() -> String {
    format!("Ann begins. {}", "the case for it is strong and ".repeat(200_000 / 7))
}

fn flooding() -> Panel {
    panel().window("*", 16_000).says("ann", &flood()).uses("ann", 50, 200_000)
}

fn turns(facts: &[Fact]) -> Vec<Arc<Turn>> {
    let turn = |fact: &Fact| match &fact.event {
        Event::TurnCompleted { turn } => Some(turn.clone()),
        _ => None,
    };
    facts.iter().filter_map(turn).collect()
}

/// The rendered messages of this call.
fn shown(asked: &[AskedCall], step: &str) -> String {
    let asked = asked.iter().find(|it| it.step == Step::from(step)).unwrap();
    asked.named(&asked.call.render().into_iter().map(|it| it.1).collect::<String>())
}

#[tokio::test(start_paused = true)]
async fn f18_a_flooding_member_does_not_silence_the_others() {
    let table = table(&flooding().says("bob", "Bob begins.").says("cyd", "Cyd begins."));
    let (outcome, facts) = table.hold(Spec { rounds: 2, ..order("in-turn") }).await;
    let asked = table.panel.asked();
    for step in ["2/talking/ann", "2/talking/bob", "2/talking/cyd", "2/deciding/ann"] {
        let shown = shown(&asked, step);
        assert!(["ann begins.", "bob begins.", "cyd begins."].iter().all(|it| shown.contains(it)), "{step}");
        // A participant's own turns are sent back to it without a mark, but not to a writer.
        assert_eq!(shown.contains(MARK), !step.ends_with("talking/ann"), "{step}");
    }
    let turns = turns(&facts);
    let cut = turns.iter().filter(|it| it.finish == Finish::Truncated).count();
    assert_eq!((cut, outcome.integrity.cut_short), (3, 3), "two speeches and the decision");
    assert_eq!(outcome.integrity.truncations, 0, "everybody heard everything that was kept");
    assert!(outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn f18_what_was_cut_costs_what_the_provider_reports() {
    let usd = |dollars| Usd::from_dollars(dollars).unwrap();
    let table = table(&flooding().priced(Price::new(usd(3.0), usd(15.0))));
    let (_, facts) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let turn = turns(&facts).remove(0);
    assert!(flood().starts_with(&*turn.text) && turn.text.len() < 3 * 1_024, "{}", turn.text.len());
    assert_eq!((turn.bill.usage, turn.bill.estimated), (Usage::new(50, 200_000), false));
    assert_eq!(turn.bill.cost, Some(usd(3.000_15)));
}

#[tokio::test(start_paused = true)]
async fn f18_watchers_see_a_flood_cut_where_the_record_has_it_cut() {
    let table = table(&flooding());
    let id = table.open(Spec { rounds: 1, ..order("in-turn") }).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    let signals = handle.signals();
    handle.finished().await.unwrap();
    let pieces = signals.filter_map(|signal| async move {
        match signal {
            Signal::Piece(piece) if piece.step == Step::from("1/talking/ann") => Some(piece.text.clone()),
            Signal::Piece(_) | Signal::Fact { .. } | Signal::Trouble(_) => None,
        }
    });
    let seen: String = pieces.collect().await;
    let turn = turns(&table.facts(id).await).remove(0);
    assert_eq!(turn.finish, Finish::Truncated);
    assert_eq!(seen, *turn.text);
}

#[tokio::test(start_paused = true)]
async fn f18_a_flood_without_end_is_taken_as_it_is_and_not_asked_for_again() {
    let table = table(&flooding().never_ends("ann").takes("ann", 100));
    let (_, facts) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let turn = turns(&facts).remove(0);
    assert_eq!((turn.finish, turn.duration_ms), (Finish::Truncated, 5_100));
    assert!(turn.bill.estimated);
    let written = turn.bill.usage.completion;
    assert!((190_000..=220_000).contains(&written), "all that came is counted: {written}");
    let asked = table.panel.steps();
    assert_eq!(asked, ["1/talking/ann", "1/talking/bob", "1/talking/cyd", "1/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn f18_a_flood_counts_in_full_for_the_budget() {
    let table = table(&flooding());
    let limits = Limits { tokens: Some(100_000), ..Limits::default() };
    let (outcome, facts) = table.hold(Spec { limits, rounds: 3, ..order("in-turn") }).await;
    assert_eq!(turns(&facts)[0].finish, Finish::Truncated, "most of what counts was dropped");
    assert_eq!(outcome.error.unwrap().code, Code::TokenBudgetExceeded);
    assert_eq!(table.panel.steps(), ["1/talking/ann"], "nothing more is asked once the budget is spent");
}

#[tokio::test(start_paused = true)]
async fn f18_a_flood_is_the_same_after_any_crash_and_in_a_fork() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let spec = Spec { rounds: 2, ..order("in-turn") };
    assert!(resume_anywhere(store, &flooding(), registry(), spec.clone()).await > 5);

    let table = table(&flooding());
    let (first, facts) = table.hold(spec.clone()).await;
    let asked = table.panel.steps().len();
    let fork = Fork { of: first.discussion_id, at: Step::from("1/talking/ann") };
    let id = table.engine.fork(fork, spec).await.unwrap();
    table.run(id).await.unwrap();
    assert_eq!(table.panel.steps().len(), asked, "nothing is paid twice");
    let texts =
        |facts: &[Fact]| turns(facts).iter().map(|it| (it.text.clone(), it.finish)).collect::<Vec<_>>();
    assert_eq!(texts(&table.facts(id).await), texts(&facts));
    assert_eq!(turns(&facts)[0].finish, Finish::Truncated);
}
