//! The scenarios of D17, each as a debate from start to end.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::{Event, Fact, Placed},
        lifecycle::Lifecycle,
        participant::Participant,
        settings::Settings,
        spec::{Spec, Timing, WindowSpec},
    },
    seams::Store,
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    registry,
    roles::{OPPONENT, PROPONENT},
};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel, tokens_of},
    spec::spec,
    table::Table,
};

use crate::{
    results::{Results, ordered},
    table,
};

fn of(format: Format, round_limit: u32) -> DebateSpec {
    DebateSpec { format, round_limit: Some(round_limit), ..DebateSpec::default() }
}

/// The same with this window strategy, which may pay for summaries.
fn in_window(order: Spec, strategy: &str) -> Spec {
    let window = WindowSpec { strategy: strategy.to_owned(), ..order.window.clone() };
    let paying = |settings: Settings| settings.with("windowSummaries", true);
    let settings = order.settings.clone();
    let settings = if strategy == "hybrid" { paying(settings) } else { settings };
    Spec { window, settings, ..order }
}

fn free_form(rounds: u32) -> Spec {
    ordered(&of(Format::FreeForm, rounds))
}

#[tokio::test(start_paused = true)]
async fn d17_a_valid_debate_goes_from_configuring_to_completed_and_judges_after_every_round() {
    let table = table(&panel());
    let id = table.open(free_form(2)).await.unwrap();
    let Finished::Over(state) = table.run(id).await.unwrap() else { panic!("it ends") };
    let moves: Vec<&str> = state.transitions.iter().map(|it| it.to.as_str()).collect();
    let expected = [
        "validating",
        "ready",
        "initializing",
        "running",
        "casting",
        "awaiting-responses",
        "judging",
        "awaiting-responses",
        "judging",
        "judging",
        "completing",
        "completed",
    ];
    let mut moves = moves;
    moves.dedup();
    let mut expected = expected.to_vec();
    expected.dedup();
    assert_eq!(moves, expected);
}

#[tokio::test(start_paused = true)]
async fn d17_an_invalid_debate_stays_unopened_and_says_everything_that_is_wrong() {
    let table = table(&panel());
    let mut order = free_form(0);
    order.participants.truncate(1);
    let refused = table.open(order).await.unwrap_err().to_string();
    assert!(
        refused.contains("missing: opponent and judge")
            && refused.contains("roundLimit: must be from 1 to 1000, not 0"),
        "{refused}"
    );
    assert_eq!(table.panel.steps().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn d17_a_debate_that_cant_start_is_an_error_and_can_be_retried() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let nobody = Table::over(store.clone(), &panel().away("*"), registry());
    let id = nobody.open(free_form(1)).await.unwrap();
    let Finished::Over(state) = nobody.run(id).await.unwrap() else { panic!("nobody is waited for") };
    assert_eq!((state.lifecycle, nobody.panel.steps().len()), (Lifecycle::Error, 0));
    let outcome = Table::over(store, &panel(), registry()).run(id).await.unwrap().outcome();
    assert_eq!((outcome.status, outcome.success), (Lifecycle::Completed, true));
}

#[tokio::test(start_paused = true)]
async fn d17_a_debater_whose_provider_is_down_is_retried_by_error_class_and_the_debate_ends_with_a_verdict() {
    let table = table(&panel().fails("bob", ErrorClass::ApiError));
    let (outcome, _) = table.hold(free_form(3)).await;
    let tries = table.panel.steps().iter().filter(|it| *it == "1/awaiting-responses/bob").count();
    assert_eq!(tries, 3, "an error of the provider is tried twice more");
    assert_eq!(outcome.failed_providers, ["bob"]);
    let ended = outcome.judging().unwrap().ended.map(|it| it.why);
    assert_eq!(ended.as_deref(), Some("side-empty"));
    assert!(outcome.verdict().is_some() && outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn d13_a_debate_that_lost_a_side_ends_in_error_with_a_verdict_and_a_retry_goes_on() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let failing = panel().fails_at("bob", "2/awaiting-responses/bob", ErrorClass::Network);
    let lost = Table::over(store.clone(), &failing, registry());
    let id = lost.open(free_form(3)).await.unwrap();
    let first = lost.run(id).await.unwrap().outcome();
    assert_eq!((first.status, first.success), (Lifecycle::Error, false));
    assert!(first.verdict().is_some(), "a verdict on what there is");

    let whole = Table::over(store, &panel(), registry());
    let again = whole.run(id).await.unwrap().outcome();
    assert_eq!((again.status, again.error.clone()), (Lifecycle::Completed, None));
    assert_eq!((again.rounds.len(), again.failed_providers.len()), (3, 0));
    assert_eq!(again.judging().unwrap().ended, None, "it went on to its last round");
    let asked = whole.panel.steps();
    assert!(asked.contains(&"2/awaiting-responses/bob".to_owned()), "{asked:?}");
    let paid = |step: &str| asked.iter().any(|it| it.as_str() == step);
    assert!(!paid("1/awaiting-responses/ann") && !paid("2/awaiting-responses/ann"), "{asked:?}");
    assert!(!paid("2/judging/cyd"), "an assessment that was paid for is kept: {asked:?}");
}

#[tokio::test(start_paused = true)]
async fn d17_a_rate_limit_is_waited_out() {
    let (outcome, _) = table(&panel().asks_to_wait("bob", 1_000)).hold(free_form(2)).await;
    assert_eq!((outcome.success, outcome.failed_providers.len()), (true, 0));
    assert_eq!(outcome.integrity.retries, 2, "once a round");
}

#[tokio::test(start_paused = true)]
async fn d17_a_debate_that_exceeds_its_windows_continues_and_warns() {
    let wordy = panel().window("*", 8_000).says("*", &"Very long response... ".repeat(100)).sums_up("*");
    for (strategy, summaries) in [("hybrid", true), ("slide", false)] {
        let order = in_window(free_form(20), strategy);
        let (outcome, _) = table(&wordy.anew()).hold(order).await;
        assert!(outcome.success, "{strategy}: {:?}", outcome.error);
        assert!(!outcome.integrity.tight_windows.is_empty(), "{strategy}");
        assert_eq!(outcome.integrity.summaries > 0, summaries, "{strategy}");
    }
}

#[tokio::test(start_paused = true)]
async fn d17_everyone_is_asked_to_answer_the_other_by_name_and_shown_its_speech() {
    let table = table(&panel().says("ann", "Tabs adapt.").says("bob", "Spaces last."));
    table.hold(free_form(2)).await;
    for (who, other, said) in [("ann", "bob", "Spaces last."), ("bob", "ann", "Tabs adapt.")] {
        let step = format!("2/awaiting-responses/{who}");
        let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
        let sent = asked.named(&asked.sent());
        assert!(sent.contains(&format!("by=\"{other}\"")) && sent.contains(said), "{sent}");
        assert!(sent.contains("Answer the strongest point against you, by name"), "{sent}");
        assert!(sent.contains(&format!("in a discussion with {other}.")), "{sent}");
    }
}

const WINDOW: u64 = 32_000;

/// Four debaters and a judge, for this many rounds.
fn of_four(rounds: u32, strategy: &str) -> Spec {
    let mut order = spec("debate");
    for (name, role) in [("dan", PROPONENT), ("eve", OPPONENT)] {
        let seat = Participant { name: name.into(), ..Participant::of("scripted").playing(role) };
        order.participants.push(seat);
    }
    let timing = Timing { total_ms: u64::MAX / 4, ..order.timing };
    let settings = of(Format::RoundLimited, rounds).settings();
    in_window(Spec { settings, timing, ..order }, strategy)
}

fn talkative() -> Panel {
    let speech = "the case for it is strong and ".repeat(800 / 7);
    panel().window("*", WINDOW).says("*", &speech).sums_up("*")
}

fn placed(facts: &[Fact]) -> impl Iterator<Item = &Placed> {
    facts.iter().filter_map(|it| if let Event::CallPlaced(it) = &it.event { Some(it) } else { None })
}

/// The mean prompt size of calls of this kind in these rounds.
fn mean(calls: &[(&AskedCall, u64)], kind: &str, rounds: std::ops::RangeInclusive<u32>) -> f64 {
    let of_kind =
        calls.iter().filter(|it| it.0.step.as_str().contains(kind) && rounds.contains(&it.0.call.round));
    let sizes: Vec<u64> = of_kind.map(|it| it.1).collect();
    sizes.iter().sum::<u64>() as f64 / sizes.len() as f64
}

async fn holds_500_rounds(strategy: &str) -> Vec<String> {
    let table = table(&talkative());
    let (outcome, facts) = table.hold(of_four(500, strategy)).await;
    assert!(outcome.success, "{strategy}: {:?}", outcome.error);
    assert_eq!(outcome.rounds.len(), 500, "{strategy}");
    let asked = table.panel.asked();
    let calls: Vec<(&AskedCall, u64)> = asked.iter().zip(placed(&facts).map(|it| it.counted)).collect();
    for (asked, counted) in &calls {
        let answer = u64::from(asked.call.max_tokens);
        assert!(counted + answer <= WINDOW, "{strategy} {}: {counted}", asked.step);
        // Counting all sent text again takes a while.
        if asked.call.round % 100 == 0 {
            let sent = tokens_of(&asked.call);
            assert!(sent + answer <= WINDOW, "{strategy} {}: {sent} are sent", asked.step);
        }
    }
    for kind in ["/awaiting-responses/", "/judging/"] {
        let (early, late) = (mean(&calls, kind, 81..=120), mean(&calls, kind, 461..=500));
        assert!((early - late).abs() / early < 0.1, "{strategy} {kind}: {early} early, {late} late");
        assert!(early > 8_000.0, "{strategy} {kind}: the window is used: {early}");
    }
    asked.iter().map(|it| it.step.to_string()).filter(|it| it.starts_with("summary/")).collect()
}

#[tokio::test(start_paused = true)]
async fn d09_a_round_limited_debate_of_four_over_500_rounds_slides_through_32k_at_a_flat_cost() {
    assert_eq!(holds_500_rounds("slide").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn d09_a_round_limited_debate_of_four_over_500_rounds_is_summarised_and_never_twice() {
    let summaries = holds_500_rounds("hybrid").await;
    assert_eq!(summaries.iter().collect::<BTreeSet<_>>().len(), summaries.len(), "none is asked for twice");
    assert!((50..600).contains(&summaries.len()), "{}", summaries.len());
}
