//! Repetition by meaning: with an embedding model if one is set, by words if it fails, and not
//! misled by a denial (D08).

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        command::Command,
        error::ErrorClass,
        event::{Event, Fact, Fork},
        id::Step,
        lifecycle::Lifecycle,
        money::{Price, Usd},
        outcome::Outcome,
        spec::{Limits, Spec},
    },
    seams::Store,
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    registry,
};
use quorum_testkit::{
    embedder::ScriptedEmbedder,
    faulty::Faulty,
    kill::resume_anywhere,
    panel::{Panel, panel},
    table::Table,
};

use crate::{
    results::{Results, ordered},
    table,
};

const MODEL: &str = "acme/embed-1";

fn order(rounds: u32) -> Spec {
    ordered(&compared_by(Some(MODEL), rounds))
}

fn compared_by(model: Option<&str>, rounds: u32) -> DebateSpec {
    DebateSpec {
        format: Format::RoundLimited,
        round_limit: Some(rounds),
        embeddings: model.map(str::to_owned),
        ..DebateSpec::default()
    }
}

/// ann says one thing and then another; bob says something new in every round.
fn saying(one: &str, other: &str) -> Panel {
    let bob =
        panel().says_in("bob", 1, "Rents rose in every city.").says_in("bob", 2, "Trains are late again.");
    bob.says_in("ann", 1, one).says_in("ann", 2, other).says_in("bob", 3, "Bread is dear.")
}

/// bob's speeches are far from each other and from everything else.
fn apart() -> ScriptedEmbedder {
    let embedder = ScriptedEmbedder::default().sees("Rents rose in every city.", &[0.0, 1.0, 0.0]);
    embedder.sees("Trains are late again.", &[0.0, 0.0, 1.0]).sees("Bread is dear.", &[0.0, -1.0, 0.0])
}

fn measured(outcome: &Outcome) -> Vec<String> {
    let told = outcome.detections().into_iter().filter(|it| it.detector == "repetition");
    told.map(|it| format!("{} {} {}", it.round, it.participant.as_deref().unwrap_or("-"), it.measure))
        .collect()
}

fn compared(facts: &[Fact]) -> usize {
    facts.iter().filter(|it| matches!(it.event, Event::Compared(_))).count()
}

fn problem(facts: &[Fact]) -> Option<String> {
    facts.iter().find_map(|it| if let Event::Compared(it) = &it.event { it.problem.clone() } else { None })
}

const ONE: &str = "Tabs let each reader pick a width.";
const REWORDED: &str = "Indentation should suit whoever looks at it.";

#[tokio::test(start_paused = true)]
async fn d08_repeating_a_statement_in_other_words_is_a_repetition_by_embeddings() {
    let (outcome, _) = table(&saying(ONE, REWORDED)).hold(ordered(&compared_by(None, 2))).await;
    assert_eq!(measured(&outcome), [""; 0], "words alone do not tell");
    let table = table(&saying(ONE, REWORDED).embeds(apart()));
    let (outcome, facts) = table.hold(order(2)).await;
    assert_eq!(measured(&outcome), ["2 ann embeddings"]);
    assert_eq!(compared(&facts), 1, "in the first round there is nothing to compare with");
    assert_eq!(table.panel.embedded().len(), 1);
    assert_eq!(table.panel.embedded()[0].len(), 4);
}

#[tokio::test(start_paused = true)]
async fn d08_a_denial_is_not_a_repetition_though_the_embedder_finds_it_similar() {
    let pairs = [
        (
            "We should adopt tabs across the whole code base.",
            "We should not adopt tabs across the whole code base.",
            false,
        ),
        ("Tabs are better than spaces for teams.", "Tabs are worse than spaces for teams.", false),
        ("The law would increase rents in the city.", "The law would reduce rents in the city.", false),
        (
            "There is evidence that the drug works in adults.",
            "There is no evidence that the drug works in adults.",
            false,
        ),
        ("Tabs beat spaces.", "Spaces beat tabs.", false),
        ("Poverty causes crime in most cities.", "Crime causes poverty in most cities.", false),
        ("Die Steuer ist gerecht und einfach.", "Die Steuer ist nicht gerecht und einfach.", false),
        ("这个方案很好", "这个方案不很好", false),
        ("We cannot afford a second rewrite now.", "We can't afford a second rewrite now.", true),
        ("Tabs are worse than spaces here.", "Tabs aren't better than spaces here.", true),
        (ONE, REWORDED, true),
    ];
    for (one, other, again) in pairs {
        let (outcome, _) = table(&saying(one, other).embeds(apart())).hold(order(2)).await;
        let by_meaning = measured(&outcome).contains(&"2 ann embeddings".to_owned());
        assert_eq!(by_meaning, again, "{one} / {other}: {:?}", measured(&outcome));
        assert!(again || measured(&outcome).is_empty(), "{one} / {other}: {:?}", measured(&outcome));
    }
}

#[tokio::test(start_paused = true)]
async fn d08_a_failing_embedder_is_retried_once_and_then_words_are_compared() {
    for (class, calls) in [(ErrorClass::Network, 2), (ErrorClass::Authentication, 1)] {
        let table = table(&saying(ONE, ONE).embeds(apart().fails_first(class, usize::MAX)));
        let (outcome, facts) = table.hold(order(2)).await;
        assert_eq!(measured(&outcome), ["2 ann trigrams", "2 ann lexical"], "{class:?}");
        assert_eq!(table.panel.embedded().len(), calls, "{class:?}");
        assert_eq!(problem(&facts).as_deref(), Some("the embedder failed by script"));
        assert!(outcome.success && !outcome.integrity.degraded, "{class:?}");
    }
    let table = table(&saying(ONE, REWORDED).embeds(apart().fails_first(ErrorClass::Network, 1)));
    let (outcome, facts) = table.hold(order(2)).await;
    assert_eq!((measured(&outcome), problem(&facts)), (vec!["2 ann embeddings".to_owned()], None));
}

#[tokio::test(start_paused = true)]
async fn d08_an_embedder_that_never_answers_takes_no_longer_than_a_step() {
    let table = table(&saying(ONE, ONE).embeds(apart().hangs()));
    let (outcome, facts) = table.hold(order(2)).await;
    assert_eq!(measured(&outcome), ["2 ann trigrams", "2 ann lexical"]);
    assert_eq!(problem(&facts).as_deref(), Some("no embeddings in time"));
    let step_ms = order(2).timing.step_ms;
    assert!((step_ms..step_ms + 5_000).contains(&outcome.total_duration_ms), "{}", outcome.total_duration_ms);
}

#[tokio::test(start_paused = true)]
async fn an_abort_does_not_wait_for_an_embedder() {
    let table = table(&saying(ONE, ONE).embeds(apart().hangs()));
    let id = table.open(order(2)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Virtual time; it sleeps because the abort must come while the embedder is being asked.
    tokio::time::sleep(tokio::time::Duration::from_secs(5)).await;
    assert_eq!(table.panel.embedded().len(), 1);
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.status, Lifecycle::Aborted);
    assert!(outcome.total_duration_ms < 10_000, "{}", outcome.total_duration_ms);
    assert_eq!(outcome.integrity.abandoned_calls, 1);
}

fn dollar_a_million() -> Price {
    let dollar = Usd::from_dollars(1.0).unwrap();
    Price::new(dollar, dollar)
}

#[tokio::test(start_paused = true)]
async fn s9_comparing_stays_within_every_budget_and_is_billed() {
    let panel = saying(ONE, REWORDED).embeds(apart().priced(dollar_a_million())).priced(dollar_a_million());
    let whole = table(&panel.anew());
    let (outcome, _) = whole.hold(order(3)).await;
    let costs = outcome.metadata.cost_summary;
    assert_eq!(
        (costs.by_provider[MODEL].calls, costs.by_provider[MODEL].tokens),
        (2, 60),
        "four texts, then two"
    );
    assert_eq!(costs.by_provider[MODEL].cost_usd(), Some(0.000_06));
    for calls in 2..costs.total_calls {
        let limits = Limits { calls: Some(calls), ..Limits::default() };
        let table = table(&panel.anew());
        let (outcome, _) = table.hold(Spec { limits, ..order(3) }).await;
        let made = table.panel.asked().len() + table.panel.embedded().len();
        assert!(made <= calls as usize, "{made} of {calls}");
        assert!(!outcome.synthesis.is_empty());
    }
    let limits = Limits { usd: Usd::from_dollars(1.0), ..Limits::default() };
    let unpriced = table(&saying(ONE, ONE).embeds(apart()).priced(dollar_a_million()));
    let refused = unpriced.open(Spec { limits, ..order(2) }).await.unwrap_err().to_string();
    assert!(refused.starts_with("maxCost: the price of acme/embed-1 is unknown"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_embedder_is_refused_before_anything_is_asked() {
    let refused = table(&panel()).open(order(2)).await.unwrap_err().to_string();
    let expected =
        "embeddings: no provider has the embedding model acme/embed-1; leave it out to compare words";
    assert_eq!(refused, expected);
}

#[tokio::test(start_paused = true)]
async fn f1_comparing_survives_every_crash_and_is_never_repeated() {
    let always = || saying(ONE, REWORDED).embeds(apart());
    let failing = || saying(ONE, ONE).embeds(apart().fails_first(ErrorClass::Network, usize::MAX));
    for (panel, least) in [(always(), 16), (failing(), 22)] {
        let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
        let deaths = resume_anywhere(store, &panel, registry(), order(3)).await;
        assert!(deaths >= least, "died {deaths} times only");
    }
    for writes in 1.. {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let first = Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &always(), registry());
        let id = first.open(order(3)).await.unwrap();
        let died = first.run(id).await.is_err();
        let before = compared(&first.facts(id).await);
        let second = Table::over(store, &always(), registry());
        second.run(id).await.unwrap();
        assert_eq!(second.panel.embedded().len(), 2 - before, "killed after write {writes}");
        if !died {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_with_another_judge_compares_nothing_again() {
    let table = table(&saying(ONE, REWORDED).embeds(apart()));
    let (first, _) = table.hold(order(3)).await;
    assert_eq!(table.panel.embedded().len(), 2);
    let mut changed = order(3);
    changed.participants[2].name = "dan".to_owned();
    let fork = Fork { of: first.discussion_id, at: Step::from("1/awaiting-responses/ann") };
    let id = table.engine.fork(fork, changed).await.unwrap();
    let second = table.run(id).await.unwrap().outcome();
    assert_eq!(table.panel.embedded().len(), 2);
    assert_eq!(measured(&second), measured(&first));
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_of_a_fork_compared_everything_again() {
    let table = table(&saying(ONE, REWORDED).embeds(apart()));
    let (first, _) = table.hold(order(3)).await;
    let compared = table.panel.embedded().len();
    let mut of = first.discussion_id;
    for _ in 0..3 {
        let fork = Fork { of, at: Step::from("1/awaiting-responses/ann") };
        of = table.engine.fork(fork, order(3)).await.unwrap();
        assert_eq!(measured(&table.run(of).await.unwrap().outcome()), measured(&first));
        assert_eq!(table.panel.embedded().len(), compared, "nothing is paid twice");
    }
}

#[tokio::test(start_paused = true)]
async fn a_comparison_is_not_a_turn() {
    let table = table(&saying(ONE, REWORDED).embeds(apart()));
    let (_, facts) = table.hold(order(2)).await;
    let placed = facts.iter().filter(|it| matches!(it.event, Event::CallPlaced(_)));
    let started = placed.filter(|it| !it.step.as_ref().is_some_and(Step::is_aside));
    assert_eq!(started.count(), table.panel.asked().len());
}
