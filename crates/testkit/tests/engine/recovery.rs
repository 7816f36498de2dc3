//! Recovery: what a discussion does when providers fail, and how it continues.

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::Command,
        error::{Code, ErrorClass},
        event::Event,
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::Outcome,
        participant::Participant,
        spec::{Limits, Recursion, Spec, TimeoutStrategy, Timing, Tolerance},
    },
    registry::Snapshot,
    seams::Store,
};
use quorum_testkit::{
    faulty::Faulty,
    panel::{Panel, panel},
    table::Table,
};
use tokio::time::{Duration, Instant, sleep};

use crate::{for_two, order, registry::registry, subs::recursive, table};

/// Holds a discussion with one panel; then the next process has another, over the same record.
struct Twice {
    store: Arc<dyn Store>,
    id: DiscussionId,
    first: Snapshot,
}

async fn held(failing: &Panel, spec: Spec) -> Twice {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let table = Table::over(store.clone(), failing, registry());
    let id = table.open(spec).await.unwrap();
    Twice { store, id, first: over(table.run(id).await.unwrap()) }
}

fn over(finished: Finished) -> Snapshot {
    match finished {
        Finished::Over(state) => state,
        Finished::Waiting(state) => panic!("it waits: {:?}", state.lifecycle),
    }
}

impl Twice {
    /// Goes on with this panel; the result, and what it was asked.
    async fn resumed(&self, panel: &Panel) -> (Outcome, Vec<String>) {
        let table = Table::over(self.store.clone(), &panel.anew(), registry());
        let state = over(table.run(self.id).await.unwrap());
        (state.outcome(), table.panel.steps())
    }
}

#[tokio::test(start_paused = true)]
async fn too_few_providers_left_ends_in_error_and_a_retry_asks_only_those_that_were_lost() {
    let failing = panel().fails_at("bob", "2/talking/bob", ErrorClass::Network);
    let twice = held(&failing, for_two(order("in-turn"))).await;
    let first = twice.first.outcome();
    assert_eq!((first.status, first.error.unwrap().code), (Lifecycle::Error, Code::InsufficientProviders));
    assert_eq!(first.synthesis, "ann after 3", "it still ends in a synthesis of what was said");

    let (again, asked) = twice.resumed(&panel()).await;
    assert_eq!((again.status, again.success, again.error), (Lifecycle::Completed, true, None));
    assert_eq!(asked, ["2/talking/bob", "2/deciding/ann"]);
    assert_eq!(again.failed_providers, [""; 0]);
    assert_eq!(again.metadata.cost_summary.total_calls, 3 + 4 + 1 + 2, "what was paid before counts");
}

#[tokio::test(start_paused = true)]
async fn after_all_providers_are_lost_a_retry_asks_again_and_decides() {
    let failing = panel().fails_at("bob", "2/talking/bob", ErrorClass::Network).fails_at(
        "ann",
        "2/deciding/ann",
        ErrorClass::Network,
    );
    let twice = held(&failing, for_two(order("in-turn"))).await;
    let first = twice.first.outcome();
    assert_eq!((first.status, first.error.map(|it| it.retryable)), (Lifecycle::Error, Some(true)));
    let (again, asked) = twice.resumed(&panel()).await;
    assert_eq!((again.status, again.success, again.error), (Lifecycle::Completed, true, None));
    assert_eq!(asked, ["2/talking/bob", "2/deciding/ann"]);
}

#[tokio::test(start_paused = true)]
async fn a_participant_lost_earlier_takes_part_again_from_the_round_that_failed() {
    let failing = panel().fails_at("ann", "1/talking/ann", ErrorClass::ApiError).fails_at(
        "bob",
        "2/talking/bob",
        ErrorClass::Timeout,
    );
    let twice = held(&failing, order("synthesis")).await;
    assert_eq!(twice.first.lifecycle, Lifecycle::Error);
    let (again, asked) = twice.resumed(&panel()).await;
    assert!(again.success, "{:?}", again.error);
    let mut asked = asked;
    asked.sort();
    assert_eq!(asked, ["2/deciding/ann", "2/talking/ann", "2/talking/bob"]);
}

#[tokio::test(start_paused = true)]
async fn a_participant_lost_for_good_is_not_asked_again_and_the_record_is_unchanged() {
    let twice = held(&panel().fails("bob", ErrorClass::Authentication), for_two(order("in-turn"))).await;
    let first = twice.first.outcome();
    let problem = first.error.clone().unwrap();
    assert_eq!((first.status, problem.retryable), (Lifecycle::Error, false), "{problem}");
    let (again, asked) = twice.resumed(&panel()).await;
    assert_eq!(asked, [""; 0]);
    assert_eq!(again, first);
}

#[tokio::test(start_paused = true)]
async fn nobody_could_write_the_synthesis_and_a_retry_asks_for_the_synthesis_alone() {
    let fails = |panel: Panel, who| panel.fails_at(who, &format!("1/deciding/{who}"), ErrorClass::ApiError);
    let failing = ["ann", "bob", "cyd"].into_iter().fold(panel(), fails);
    let twice = held(&failing, Spec { rounds: 1, ..order("in-turn") }).await;
    let first = twice.first.outcome();
    assert_eq!((first.status, first.error.unwrap().code), (Lifecycle::Error, Code::SynthesisFailed));
    let (again, asked) = twice.resumed(&panel()).await;
    assert_eq!((again.success, asked), (true, vec!["1/deciding/ann".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_tolerates_no_failure_ends_in_error_and_is_retried() {
    let tolerance = Tolerance { go_on: false, min_providers: 2 };
    let failing = panel().fails_at("cyd", "1/talking/cyd", ErrorClass::Network);
    let twice = held(&failing, Spec { tolerance, ..order("in-turn") }).await;
    assert_eq!(twice.first.lifecycle, Lifecycle::Error);
    let (again, asked) = twice.resumed(&panel()).await;
    assert!(again.success, "{:?}", again.error);
    assert_eq!(asked[0], "1/talking/cyd");
    assert_eq!(asked.len(), 1 + 3 + 1, "cyd, the second round, the synthesis");
}

#[tokio::test(start_paused = true)]
async fn f1_a_retry_killed_at_every_write_ends_alike_and_pays_nothing_twice() {
    let failing = || {
        panel().fails_at("ann", "1/talking/ann", ErrorClass::ApiError).fails_at(
            "bob",
            "2/talking/bob",
            ErrorClass::Network,
        )
    };
    let spec = || Spec { rounds: 3, ..order("in-turn") };
    let (whole, all) = held(&failing(), spec()).await.resumed(&panel()).await;
    for writes in 0.. {
        let twice = held(&failing(), spec()).await;
        let mortal = Arc::new(Faulty::dying_after(twice.store.clone(), writes));
        let dying = Table::over(mortal, &panel(), registry());
        let died = dying.run(twice.id).await.is_err();
        if !died {
            assert!(writes > 5, "{writes} deaths");
            return;
        }
        let (outcome, asked) = twice.resumed(&panel()).await;
        assert_eq!(outcome.synthesis, whole.synthesis, "after {writes} writes");
        let asked_at = |round: usize| outcome.rounds[round].responses.iter().map(|it| it.provider.clone());
        for round in 0..3 {
            let expected: Vec<String> =
                whole.rounds[round].responses.iter().map(|it| it.provider.clone()).collect();
            assert_eq!(asked_at(round).collect::<Vec<_>>(), expected, "round {round}, {writes} writes");
        }
        assert!(asked.len() <= all.len(), "after {writes} writes: {asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panel_rate_limited_for_longer_than_a_step_waits() {
    let busy = ["ann", "bob", "cyd"].into_iter().fold(panel(), |it, who| it.asks_to_wait(who, 300_000));
    for pattern in ["synthesis", "in-turn"] {
        let began = Instant::now();
        let (outcome, _) = table(&busy.anew()).hold(Spec { rounds: 1, ..order(pattern) }).await;
        assert!(outcome.success, "{pattern}: {:?}", outcome.error);
        assert!(began.elapsed() >= Duration::from_secs(300), "{pattern}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_participant_rate_limited_for_long_is_not_waited_for_when_the_others_are_enough() {
    let busy = panel().asks_to_wait("bob", 300_000);
    let began = Instant::now();
    let (outcome, _) = table(&busy).hold(Spec { rounds: 1, ..order("synthesis") }).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(outcome.failed_providers, ["bob"]);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_limits_our_rate_again_and_again_is_asked_less_and_less_often() {
    let busy = ["ann", "bob", "cyd"].into_iter().fold(panel(), |it, who| it.always_asks_to_wait(who, 100));
    let table = table(&busy);
    let timing = Timing { total_ms: 600_000, ..order("synthesis").timing };
    let (outcome, _) = table.hold(Spec { rounds: 1, timing, ..order("synthesis") }).await;
    assert_eq!(outcome.status, Lifecycle::Error);
    let calls = table.panel.asked().len();
    assert!((18..60).contains(&calls), "{calls} calls in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_not_waited_for_when_too_few_are_left_anyway() {
    let broken =
        ["ann", "bob"].into_iter().fold(panel(), |it, who| it.fails(who, ErrorClass::Authentication));
    let began = Instant::now();
    let table = table(&broken.asks_to_wait("cyd", 300_000));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..order("synthesis") }).await;
    assert_eq!(outcome.status, Lifecycle::Error);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_panel_rate_limited_beyond_the_time_left_ends_at_once_and_can_be_retried() {
    let busy = ["ann", "bob", "cyd"].into_iter().fold(panel(), |it, who| it.asks_to_wait(who, 7_200_000));
    let began = Instant::now();
    let twice = held(&busy, Spec { rounds: 1, ..order("synthesis") }).await;
    let first = twice.first.outcome();
    assert_eq!((first.status, first.error.unwrap().retryable), (Lifecycle::Error, true));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(twice.resumed(&panel()).await.0.success);
}

#[tokio::test(start_paused = true)]
async fn d12_a_429_without_retry_after_is_retried_inside_the_step() {
    let limited = panel().fails_first("bob", ErrorClass::RateLimit, 2);
    let began = Instant::now();
    let (outcome, _) = table(&limited).hold(Spec { rounds: 1, ..order("synthesis") }).await;
    assert_eq!((outcome.success, outcome.integrity.retries), (true, 2), "{:?}", outcome.integrity);
    assert_eq!(outcome.failed_providers, [""; 0]);
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_pause_in_the_last_round_pauses() {
    let table = table(&panel().takes("*", 100));
    let id = table.open(Spec { rounds: 1, ..order("synthesis") }).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the pause must come while the last calls are under way; the time is virtual.
    sleep(Duration::from_millis(50)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    let Finished::Waiting(state) = handle.finished().await.unwrap() else { panic!("it did not pause") };
    assert_eq!((state.lifecycle, state.turns.len()), (Lifecycle::Paused, 3));
    table.engine.send(id, Command::Resume).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(table.panel.steps().len(), 4, "nothing is asked twice");
}

#[tokio::test(start_paused = true)]
async fn a_sub_discussion_used_up_the_calls_that_its_root_needed() {
    let convening = panel().convenes("ann", "how wide?").convenes("bob", "how deep?");
    for cap in [8, 10, 12, 14, 20] {
        let limits = Limits { calls: Some(cap), ..Limits::default() };
        let spec = Spec { limits, rounds: 2, ..recursive("synthesis", 1) };
        let table = table(&convening.anew());
        let (outcome, _) = table.hold(spec).await;
        // Three seats, two rounds, the synthesis: seven calls, and one more for each that goes on.
        assert_eq!(outcome.rounds.len(), 2, "a cap of {cap}: {:?}", outcome.error);
        assert!(outcome.metadata.cost_summary.total_calls <= cap, "a cap of {cap}");
        assert!(table.panel.steps().contains(&"2/deciding/ann".to_owned()), "a cap of {cap}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_sub_discussion_found_is_kept_when_the_budget_ends() {
    // The time for talking ends at 40 s, and at 90 s with what is spent below; ann goes on at 75 s.
    let slow = panel().convenes("ann", "how wide?").takes("*", 25_000);
    let timing = Timing { step_ms: 60_000, total_ms: 180_000, reserve_ms: 50_000 };
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Fixed });
    let spec = Spec { timing, recursion, rounds: 1, ..order("in-turn") };
    let table = table(&slow);
    let (outcome, _) = table.hold(for_two(spec)).await;
    let found = outcome.sub_discussions[0].synthesis.clone().unwrap();
    let last = table.panel.asked().pop().unwrap();
    assert!(last.step.as_str().contains("/deciding/"), "{}: {:?}", last.step, outcome.error);
    let shown: Vec<String> = last.call.render().into_iter().map(|it| last.named(&it.1)).collect();
    let holds = |it: &String| it.contains("Sub-discussion on: how wide?") && it.contains(&found);
    assert!(shown.iter().any(holds), "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_sub_discussion_found_is_the_answer_when_nobody_can_be_asked_any_more() {
    let dear = panel().convenes("ann", "how wide?").says("bob", "four columns").uses("bob", 90_000, 10);
    let limits = Limits { tokens: Some(60_000), ..Limits::default() };
    let (outcome, _) = table(&dear).hold(for_two(Spec { limits, ..recursive("in-turn", 1) })).await;
    assert_eq!(outcome.error.unwrap().code, Code::TokenBudgetExceeded);
    let found = outcome.sub_discussions[0].synthesis.clone().unwrap();
    assert_eq!(outcome.synthesis, format!("how wide?\n\n{found}"));
}

#[tokio::test(start_paused = true)]
async fn a_judge_sat_in_a_debaters_sub_discussion() {
    let mut spec = recursive("in-turn", 1);
    spec.participants[2] = Participant { ..spec.participants[2].clone().aside() };
    let table = table(&panel().convenes("ann", "how wide?"));
    table.hold(spec).await;
    let below = table.panel.asked().into_iter().filter(|it| it.call.spec.topic == "how wide?");
    let below: Vec<String> = below.map(|it| it.call.participant.name.clone()).collect();
    assert!(!below.is_empty() && !below.contains(&"cyd".to_owned()), "{below:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_did_not_say_what_the_next_step_needed() {
    let limits = Limits { calls: Some(5), ..Limits::default() };
    let (outcome, _) = table(&panel()).hold(Spec { limits, rounds: 2, ..order("synthesis") }).await;
    let problem = outcome.error.unwrap();
    assert_eq!(
        problem.message,
        "the budget of 5 calls is used up: the next step would have needed up to 3, and 1 was left for it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_key_a_model_and_an_overflow_are_nothing_to_try_again() {
    let code = |class: ErrorClass| async move {
        let strict = Tolerance { go_on: false, min_providers: 2 };
        let tolerant = held(&panel().fails("*", class), order("synthesis")).await.first.outcome();
        let failing = panel().fails("bob", class);
        let strict = held(&failing, Spec { tolerance: strict, ..order("synthesis") }).await.first.outcome();
        [tolerant, strict].map(|it| it.error.unwrap().retryable)
    };
    for class in ErrorClass::ALL {
        let transient = match class {
            ErrorClass::Authentication | ErrorClass::Validation | ErrorClass::ContextOverflow => false,
            ErrorClass::Network
            | ErrorClass::RateLimit
            | ErrorClass::ApiError
            | ErrorClass::Timeout
            | ErrorClass::InvalidResponse => true,
        };
        assert_eq!(code(class).await, [transient; 2], "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_records_who_is_asked_again_and_how_much_is_kept() {
    let failing = panel().fails_at("bob", "2/talking/bob", ErrorClass::Network);
    let twice = held(&failing, for_two(order("in-turn"))).await;
    twice.resumed(&panel()).await;
    let facts = Table::over(twice.store.clone(), &panel(), registry()).facts(twice.id).await;
    let retried = facts.iter().find_map(|it| match &it.event {
        event @ Event::Retried { .. } => Some(serde_json::to_value(event).unwrap()),
        _ => None,
    });
    let expected = serde_json::json!({
        "type": "retried", "reseated": ["bob"], "kept": 3, "from": { "round": 2, "phase": "talking" },
    });
    assert_eq!(retried, Some(expected));
}
