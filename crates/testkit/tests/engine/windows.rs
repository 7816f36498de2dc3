//! Context windows: every request fits, its cost stays flat, and no turn is summarised twice (D09,
//! D10, D12).

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    memory::MemoryStore,
    model::{
        command::{Command, Note},
        error::{Code, ErrorClass},
        event::{Event, Fact},
        id::Step,
        participant::Participant,
        spec::{Limits, Manner, Spec, Timing, WindowSpec},
    },
    seams::Store,
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{AskedCall, Panel, panel, tokens_of},
};

use crate::{order, registry::registry, table};

const WINDOW: u64 = 32_000;

const SUMMARISE: &str = "summarise";
const TRUNCATE: &str = "truncate";

/// A speech of roughly this many tokens.
fn speech(tokens: usize) -> String {
    "the case for it is strong and ".repeat(tokens / 7)
}

/// A spec with four participants that speak in turn, at length.
fn long_talk(rounds: u32, strategy: &str) -> Spec {
    let order = order("in-turn");
    let dan = Participant { name: "dan".to_owned(), ..order.participants[0].clone() };
    let participants = order.participants.iter().cloned().chain([dan]).collect();
    let timing = Timing { total_ms: u64::MAX / 4, ..order.timing };
    let window = WindowSpec { strategy: strategy.to_owned(), ..order.window.clone() };
    let manner = Manner { max_tokens: 1_024, ..order.manner };
    Spec { rounds, participants, timing, window, manner, ..order }
}

fn talkative() -> Panel {
    panel().window("*", WINDOW).says("*", &speech(800))
}

fn is_speech(asked: &AskedCall) -> bool {
    asked.step.as_str().contains("/talking/")
}

fn is_summary(asked: &AskedCall) -> bool {
    asked.step.as_str().starts_with("summary/")
}

/// The mean size of the requests for speeches in these rounds. Summaries come and go within twenty
/// rounds.
fn mean_of(asked: &[AskedCall], rounds: std::ops::RangeInclusive<u32>) -> f64 {
    let speeches = asked.iter().filter(|it| rounds.contains(&it.call.round) && is_speech(it));
    let sizes: Vec<u64> = speeches.map(|it| tokens_of(&it.call)).collect();
    sizes.iter().sum::<u64>() as f64 / sizes.len() as f64
}

/// Enough rounds to outgrow a window many times over.
fn many_rounds() -> u32 {
    if std::env::var_os("QUORUM_LONG").is_some() { 500 } else { 150 }
}

async fn holds_many_rounds(strategy: &str) -> Vec<AskedCall> {
    // Every summary is as long as allowed.
    let table = table(&talkative().sums_up("*"));
    let rounds = many_rounds();
    let (outcome, facts) = table.hold(long_talk(rounds, strategy)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let asked = table.panel.asked();
    let placed =
        facts.iter().filter_map(|it| if let Event::CallPlaced(it) = &it.event { Some(it) } else { None });
    for (placed, asked) in placed.zip(&asked) {
        let answer = u64::from(asked.call.max_tokens);
        assert!(placed.counted + answer <= WINDOW, "{}: {}", asked.step, placed.counted);
        // Only now and then, because counting the whole request again takes time.
        if asked.call.round % 50 == 0 {
            let sent = tokens_of(&asked.call);
            assert!(
                sent <= placed.counted && sent * 11 > placed.counted * 10,
                "{sent} for {}",
                placed.counted
            );
        }
    }
    let (early, late) = (mean_of(&asked, 61..=80), mean_of(&asked, rounds - 19..=rounds));
    assert!(
        (early - late).abs() / early < 0.1,
        "{strategy}: {early} about round 70, {late} about round {rounds}"
    );
    assert!(early > 10_000.0, "the window is used: {early}");
    asked
}

#[tokio::test(start_paused = true)]
async fn d09_a_long_talk_slides_through_a_small_window_at_a_flat_cost() {
    let asked = holds_many_rounds("slide").await;
    assert!(!asked.iter().any(is_summary), "summaries are paid only when they were ordered");
}

#[tokio::test(start_paused = true)]
async fn d09_a_long_talk_is_summed_up_step_by_step_and_never_twice() {
    let asked = holds_many_rounds("summarise").await;
    let summaries: Vec<&AskedCall> = asked.iter().filter(|it| is_summary(it)).collect();
    let steps: BTreeSet<&str> = summaries.iter().map(|it| it.step.as_str()).collect();
    assert_eq!(steps.len(), summaries.len(), "none is asked for twice");
    let rounds = many_rounds() as usize;
    assert!((rounds / 10..rounds * 4 / 5).contains(&summaries.len()), "{}", summaries.len());
    assert!(summaries.iter().all(|it| it.call.temperature == 0.3 && it.call.participant.name == "ann"));
    let shares: Vec<f64> =
        summaries.iter().map(|it| f64::from(it.call.max_tokens) / tokens_of(&it.call) as f64).collect();
    assert!(
        shares.iter().all(|share| *share < 0.21),
        "a fifth of what it covers at most, by our count of it"
    );
}

fn short(overflow: &str) -> Spec {
    let spec = long_talk(6, "summarise");
    Spec { window: WindowSpec { overflow: overflow.to_owned(), ..spec.window.clone() }, ..spec }
}

fn cramped() -> Panel {
    panel().window("*", 8_000).says("*", &speech(600)).counts("*", 1.0).sums_up("*")
}

#[tokio::test(start_paused = true)]
async fn f1_summaries_survive_every_crash() {
    let make = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    for (panel, least) in [(cramped(), 31), (cramped().takes_in("bob", 3_200), 33)] {
        let deaths = resume_anywhere(make, &panel, registry(), short(SUMMARISE)).await;
        assert!(deaths >= least, "died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_not_taken_for_somebodys_turn() {
    let table = table(&cramped());
    let (outcome, facts) = table.hold(short(TRUNCATE)).await;
    let is_aside = |fact: &&Fact| fact.step.as_ref().is_some_and(Step::is_aside);
    let placed = |fact: &&Fact| matches!(fact.event, Event::CallPlaced(_));
    let completed = |fact: &&Fact| matches!(fact.event, Event::TurnCompleted { .. });
    let started = facts.iter().filter(placed).filter(|fact| !is_aside(fact)).count();
    assert!(outcome.integrity.summaries > 1, "{}", outcome.integrity.summaries);
    let turns = (started, facts.iter().filter(completed).count());
    assert_eq!(turns, (25, 25), "24 speeches and the synthesis");
}

#[tokio::test(start_paused = true)]
async fn d09_a_summary_of_a_few_tokens_is_not_asked_for() {
    let table = table(&panel().window("*", 2_400).says("*", &speech(60)).counts("*", 1.0).sums_up("*"));
    let (outcome, _) = table.hold(long_talk(4, "summarise")).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let asked = table.panel.asked();
    let limits: Vec<u32> = asked.iter().filter(|it| is_summary(it)).map(|it| it.call.max_tokens).collect();
    assert!(limits.iter().all(|it| 150 <= *it), "{limits:?}");
}

#[tokio::test(start_paused = true)]
async fn d09_a_tight_window_is_told_of_once_for_each_participant() {
    let table = table(&cramped());
    let (outcome, facts) = table.hold(long_talk(6, "slide")).await;
    let tight = facts.iter().filter(|it| matches!(it.event, Event::WindowTight(_))).count();
    assert_eq!(tight, 4);
    let percents: Vec<u32> = outcome.integrity.tight_windows.iter().map(|it| it.percent).collect();
    assert!(percents.iter().all(|percent| (80..130).contains(percent)), "{percents:?}");
    assert!(outcome.integrity.truncations > 0);
    assert_eq!(outcome.integrity.summaries, 0);
}

#[tokio::test(start_paused = true)]
async fn d09_a_summary_that_fails_is_done_without() {
    let table = table(&cramped().fails_to_sum_up("*"));
    let (outcome, facts) = table.hold(short(TRUNCATE)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(outcome.integrity.summaries, 0);
    assert_eq!(outcome.integrity.missing.len(), 0, "nobody is out for it");
    let tried = facts.iter().filter(|it| matches!(it.event, Event::Summarised(_))).count();
    assert!((1..4).contains(&tried), "tried {tried} times");
}

#[tokio::test(start_paused = true)]
async fn d09_summaries_keep_to_the_budget() {
    let free = table(&cramped());
    let (outcome, _) = free.hold(short(TRUNCATE)).await;
    let (calls, summaries) = (outcome.metadata.cost_summary.total_calls, outcome.integrity.summaries);
    assert!(summaries > 1, "{summaries}");
    assert_eq!(calls, 25 + summaries, "they are counted like any call");
    for limit in 2..calls {
        let limits = Limits { calls: Some(limit), ..Limits::default() };
        let table = table(&cramped());
        let (outcome, _) = table.hold(Spec { limits, ..short(TRUNCATE) }).await;
        assert!(table.panel.asked().len() as u32 <= limit);
        assert!(!outcome.synthesis.is_empty());
    }
}

fn sizes(asked: &[AskedCall], step: &str) -> Vec<u64> {
    asked.iter().filter(|it| it.step.as_str() == step).map(|it| tokens_of(&it.call)).collect()
}

fn failed(facts: &[Fact]) -> usize {
    facts.iter().filter(|it| matches!(it.event, Event::TurnFailed(_))).count()
}

#[tokio::test(start_paused = true)]
async fn d12_a_request_that_is_too_long_gets_one_smaller_try() {
    for overflow in [TRUNCATE, SUMMARISE] {
        let spec = Spec { rounds: 3, ..short(overflow) };
        let window = WindowSpec { strategy: "slide".to_owned(), ..spec.window.clone() };
        let spec = Spec { window, ..spec };
        let table_ = table(&cramped().takes_in("bob", 3_200));
        let (outcome, facts) = table_.hold(spec.clone()).await;
        assert!(outcome.success && failed(&facts) == 0, "{overflow:?}: {:?}", outcome.error);
        let asked = table_.panel.asked();
        let tries = sizes(&asked, "2/talking/bob");
        assert!(tries.len() == 2 && tries[1] < tries[0], "{overflow:?}: {tries:?}");
        assert!(sizes(&asked, "3/talking/bob").iter().all(|it| *it < tries[0]), "{overflow:?}");
        let summed_up = asked.iter().any(is_summary);
        assert_eq!(summed_up, overflow == SUMMARISE);
        let stubborn = table(&cramped().fails("bob", ErrorClass::ContextOverflow));
        let (_, facts) = stubborn.hold(spec).await;
        assert_eq!(sizes(&stubborn.panel.asked(), "1/talking/bob").len(), 2, "{overflow:?}: one try more");
        assert_eq!(failed(&facts), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn d12_a_talk_can_be_ordered_to_end_at_an_overflow() {
    let table = table(&cramped().takes_in("bob", 300));
    let window = WindowSpec { overflow: WindowSpec::END.to_owned(), ..order("in-turn").window };
    let spec = Spec { window, ..short(WindowSpec::END) };
    let (outcome, _) = table.hold(spec).await;
    let error = outcome.error.unwrap();
    assert_eq!((error.code, error.participant.as_deref()), (Code::ProviderFailed, Some("bob")));
    assert!(error.message.contains("no longer fits bob's window"), "{}", error.message);
    assert_eq!(table.panel.steps(), ["1/talking/ann", "1/talking/bob", "1/deciding/ann"]);
    assert!(!outcome.synthesis.is_empty());
}

#[tokio::test(start_paused = true)]
async fn d10_what_a_provider_counts_changes_what_it_is_shown() {
    let sizes_when = |times_ours| async move {
        let table = table(&cramped().counts("bob", times_ours));
        table.hold(long_talk(6, "slide")).await;
        sizes(&table.panel.asked(), "6/talking/bob")[0] as f64
    };
    let (plain, wordy) = (sizes_when(1.0).await, sizes_when(1.6).await);
    assert!(wordy * 1.3 < plain, "{wordy} for {plain}");
}

#[tokio::test(start_paused = true)]
async fn d09_notes_from_outside_are_counted_in_a_window() {
    let table = table(&cramped());
    let spec = long_talk(6, "slide");
    let manner = Manner { max_tokens: 512, ..spec.manner };
    let id = table.open(Spec { manner, ..spec }).await.unwrap();
    let note = Note { text: speech(1_500) };
    table.engine.send(id, Command::Note(note)).await.unwrap();
    assert!(table.run(id).await.unwrap().outcome().success);
    for asked in table.panel.asked() {
        let size = tokens_of(&asked.call) + u64::from(asked.call.max_tokens);
        assert!(size <= 8_000, "{}: {size}", asked.step);
    }
    let facts = table.facts(id).await;
    let late = facts.iter().rev().find_map(|it| match &it.event {
        Event::CallPlaced(placed) => Some(placed.counted),
        _ => None,
    });
    assert!(late >= table.panel.asked().last().map(|it| tokens_of(&it.call)), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_context_strategy_is_refused() {
    let refused = table(&panel()).open(long_talk(1, "hope")).await.unwrap_err().to_string();
    assert_eq!(
        refused,
        "windowStrategy: there is no context strategy named hope; there are slide, truncate, summarise"
    );
}
