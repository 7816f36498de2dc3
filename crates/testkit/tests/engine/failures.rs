//! Participants that fail: retried according to their error class, dropped at their deadline, never
//! asked again.

use quorum_core::{
    model::{
        error::{Code, ErrorClass, Problem},
        event::Event,
        money::{Price, Usd},
        outcome::StoppingReason,
        spec::{Manner, Spec, Timing, Tolerance},
    },
    seams::Voices,
};
use quorum_testkit::{
    log::story,
    panel::{Panel, panel, tokens_of},
};
use tokio::time::{Duration, Instant, sleep};

use crate::{for_two, order, table};

#[tokio::test(start_paused = true)]
async fn inv_disc_102_a_provider_that_sleeps_is_left_behind_at_its_timeout() {
    let table = table(&panel().hangs("bob"));
    let timing = Timing { step_ms: 5_000, ..order("synthesis").timing };
    let began = Instant::now();
    let (outcome, _) = table.hold(Spec { timing, rounds: 1, ..order("synthesis") }).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(5) && took < Duration::from_millis(5_250), "{took:?}");
    assert_eq!(outcome.failed_providers, ["bob"]);
    assert!(outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_102_retries_and_back_off_are_inside_the_timeout() {
    let table = table(&panel().fails("bob", ErrorClass::Network));
    let timing = Timing { step_ms: 3_000, ..order("synthesis").timing };
    let began = Instant::now();
    table.hold(Spec { timing, rounds: 1, ..order("synthesis") }).await;
    assert!(began.elapsed() < Duration::from_millis(3_250), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn d12_a_failing_call_is_repeated_as_its_class_says() {
    let table = table(&panel().fails("bob", ErrorClass::ApiError).says("ann", "yes").says("cyd", "no"));
    let (_, facts) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let expected = "\
configuring -> validating
validating -> ready
ready -> initializing
seated ann bob cyd
initializing -> running
round 1: talking
ann: yes
bob failed (api_error), again in 1001 ms
bob failed (api_error), again in 2003 ms
bob is out (api_error)
cyd: no
running -> completing
ann: yes
decided: yes
concluded: success completed
completing -> completed
";
    assert_eq!(normalised(&story(&facts)), normalised(expected));
}

#[tokio::test(start_paused = true)]
async fn f3_the_text_of_a_broken_answer_is_kept_and_billed_but_is_no_turn() {
    let table = table(&priced(panel().breaks_off("bob")));
    let (outcome, facts) = table.hold(Spec { rounds: 1, ..order("in-turn") }).await;
    let broken: Vec<(&str, u64)> = facts.iter().filter_map(|it| said_by(&it.event)).collect();
    assert_eq!(broken, [("half a wo", 3); 4]);
    let spent = outcome.metadata.cost_summary.by_provider["bob"].cost_usd();
    assert!(spent.is_some_and(|usd| usd > 0.0), "{:?}", outcome.metadata.cost_summary);
    let heard = outcome.rounds.iter().flat_map(|it| &it.responses).any(|it| it.content.contains("half a wo"));
    assert!(!heard);
}

fn said_by(event: &Event) -> Option<(&str, u64)> {
    let broken = match event {
        Event::CallFailed { broken, .. } => broken.as_ref()?,
        Event::TurnFailed(failed) => failed.broken.as_ref()?,
        _ => return None,
    };
    Some((&broken.text, broken.bill.usage.completion))
}

fn priced(panel: Panel) -> Panel {
    panel.priced(Price::new(Usd::from_dollars(3.0).unwrap(), Usd::from_dollars(15.0).unwrap()))
}

/// The story without jitter, which depends on how many random numbers were drawn before.
fn normalised(story: &str) -> String {
    let mut lines = Vec::new();
    for line in story.lines() {
        match line.split_once("again in ") {
            Some((before, ms)) => {
                let ms: u64 = ms.trim_end_matches(" ms").parse().unwrap();
                lines.push(format!("{before}again in {} s", ms / 1_000));
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[tokio::test(start_paused = true)]
async fn inv_disc_400_a_dead_participant_is_not_asked_again() {
    let table = table(&panel().fails("bob", ErrorClass::Authentication));
    let (outcome, _) = table.hold(Spec { rounds: 3, ..order("synthesis") }).await;
    let asked = table.panel.steps().iter().filter(|step| step.ends_with("bob")).count();
    assert_eq!(asked, 1, "{:?}", table.panel.steps());
    assert!(outcome.success);
    assert_eq!(
        outcome.integrity.missing[0].reason,
        "failed in round 1 after 1 attempt: bob failed by script"
    );
}

#[tokio::test(start_paused = true)]
async fn inv_disc_101_too_few_left_ends_with_a_synthesis_of_what_was_said() {
    let table = table(&panel().fails("bob", ErrorClass::Validation).says("ann", "paid for"));
    let (outcome, _) = table.hold(for_two(order("in-turn"))).await;
    assert!(!outcome.success);
    assert_eq!(outcome.error.unwrap().code, Code::InsufficientProviders);
    assert_eq!(outcome.synthesis, "paid for");
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::MODEL_UNAVAILABLE));
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_all_participants_is_reported() {
    let table = table(&panel().fails("*", ErrorClass::Authentication));
    let (outcome, _) = table.hold(order("synthesis")).await;
    assert_eq!(outcome.error.unwrap().code, Code::AllProvidersFailed);
    assert_eq!(table.panel.steps().len(), 3, "no synthesis is asked for without answers");
}

#[tokio::test(start_paused = true)]
async fn stop_on_failure_ends_at_the_first_failure() {
    let tolerance = Tolerance { go_on: false, min_providers: 2 };
    for (class, code) in
        [(ErrorClass::Authentication, Code::ProviderFailed), (ErrorClass::Timeout, Code::ProviderTimeout)]
    {
        let table = table(&panel().fails("cyd", class));
        let (outcome, _) = table.hold(Spec { tolerance, ..order("synthesis") }).await;
        assert_eq!(outcome.error.map(|it| it.code), Some(code));
        assert!(!outcome.synthesis.is_empty(), "what was paid for is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_100_an_unavailable_participant_is_listed_and_not_asked() {
    let table = table(&panel().away("cyd"));
    let (outcome, _) = table.hold(order("synthesis")).await;
    assert!(outcome.success && outcome.integrity.degraded);
    assert_eq!(outcome.failed_providers, ["cyd"]);
    assert!(!table.panel.steps().iter().any(|step| step.ends_with("cyd")));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_100_too_few_at_the_start_costs_nothing_and_may_be_tried_again() {
    let store = std::sync::Arc::new(quorum_core::memory::MemoryStore::new());
    let empty = quorum_testkit::table::Table::over(
        store.clone(),
        &panel().away("bob").away("cyd"),
        crate::registry::registry(),
    );
    let id = empty.open(order("synthesis")).await.unwrap();
    let outcome = empty.run(id).await.unwrap().outcome();
    let problem = outcome.error.unwrap();
    assert_eq!(problem.code, Code::InsufficientProviders);
    assert!(
        problem.retryable && problem.message.contains("bob, cyd: nobody there (check the connection)"),
        "{problem}"
    );
    assert_eq!(empty.panel.steps(), [""; 0]);

    let full = quorum_testkit::table::Table::over(store, &panel(), crate::registry::registry());
    assert!(
        full.run(id).await.unwrap().outcome().success,
        "error -> ready is a new run over the same record"
    );
}

#[tokio::test(start_paused = true)]
async fn f3_an_answer_that_breaks_off_is_never_a_finished_one() {
    let table = table(&panel().breaks_off("bob"));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..order("synthesis") }).await;
    assert_eq!(outcome.failed_providers, ["bob"]);
    assert_eq!(outcome.integrity.retries, 3);
}

#[tokio::test(start_paused = true)]
async fn f5_no_retry_comes_before_retry_after() {
    let table = table(&panel().asks_to_wait("bob", 7_000).takes("bob", 10));
    let began = Instant::now();
    let (outcome, _) = table.hold(Spec { rounds: 1, ..order("synthesis") }).await;
    assert!(outcome.success && outcome.integrity.retries == 1);
    assert!(began.elapsed() >= Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn a03_a_pattern_that_leaves_its_table_is_state_invalid() {
    let table = table(&panel());
    let (outcome, _) = table.hold(order("rogue")).await;
    let problem = outcome.error.unwrap();
    assert_eq!(problem.code, Code::StateInvalid);
    assert_eq!(problem.message, "a discussion can't go from talking in round 1 to talking in round 3");
}

#[tokio::test(start_paused = true)]
async fn inv_disc_001_a_phase_that_is_not_in_the_table_is_refused() {
    let (outcome, facts) = table(&panel()).hold(order("astray")).await;
    let message = "a discussion can't go from talking in round 1 to shouting in round 1";
    assert_eq!(outcome.error, Some(Problem::new(Code::StateInvalid, message)));
    let entered: Vec<&Event> =
        facts.iter().map(|it| &it.event).filter(|it| matches!(it, Event::PhaseEntered { .. })).collect();
    assert_eq!(entered, [&Event::PhaseEntered { phase: "talking".to_owned(), round: 1 }]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_014_a_second_vote_in_the_same_round_is_refused() {
    let table = table(&panel());
    let (outcome, _) = table.hold(order("recasting")).await;
    let message = "step 1/talking/ann was taken twice in one run; a pattern must name each effect once";
    assert_eq!(outcome.error, Some(Problem::new(Code::StateInvalid, message)));
    assert_eq!(table.panel.steps(), ["1/talking/ann"]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_102_waiting_in_a_closed_lane_before_a_retry_is_inside_the_timeout() {
    let table = table(&panel().fails_first("bob", ErrorClass::Network, 1));
    let timing = Timing { step_ms: 5_000, ..order("synthesis").timing };
    let spec = Spec { timing, rounds: 1, ..order("synthesis") };
    let lane = table.panel.voice(&spec, &spec.participants[1]).unwrap().lane;
    let began = Instant::now();
    let closing = async {
        // Sleeps because the lane must close while bob waits for his second attempt; the time is
        // virtual.
        sleep(Duration::from_millis(500)).await;
        lane.close_for(Duration::from_secs(50));
    };
    let ((outcome, _), ()) = tokio::join!(table.hold(spec), closing);
    assert_eq!(outcome.failed_providers, ["bob"]);
    assert!(began.elapsed() < Duration::from_millis(5_250), "{:?}", began.elapsed());
    assert_eq!(table.panel.asked().iter().filter(|it| it.call.participant.name == "bob").count(), 1);
    assert_eq!(outcome.metadata.cost_summary.total_calls, 4);
}

#[tokio::test(start_paused = true)]
async fn f5_nobody_queues_at_a_provider_that_is_closed_for_longer_than_a_minute() {
    let table = table(&panel());
    let spec = Spec { rounds: 1, ..order("synthesis") };
    let lane = table.panel.voice(&spec, &spec.participants[1]).unwrap().lane;
    lane.close_for(Duration::from_secs(3_600));
    let began = Instant::now();
    let (outcome, _) = table.hold(spec).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(outcome.failed_providers, ["bob"]);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn d09_a_window_has_room_for_the_longest_answer_allowed() {
    // A window of 100,000 tokens, less 90,000 for the answer and the reserve, has room for one turn
    // of 3,000 but not for two, so the answer has to be shorter.
    let table = table(&panel().says("*", &"x".repeat(9_000)));
    let manner = Manner { max_tokens: 90_000, ..order("in-turn").manner };
    let (outcome, _) = table.hold(Spec { manner, rounds: 1, ..order("in-turn") }).await;
    assert_eq!((outcome.integrity.truncations, outcome.integrity.cut_views.len()), (0, 0));
    for asked in table.panel.asked() {
        let size = tokens_of(&asked.call) + u64::from(asked.call.max_tokens);
        assert!(size <= 100_000 - 4_096 && 85_000 < asked.call.max_tokens, "{}: {size}", asked.step);
    }
    assert!(table.panel.asked().iter().any(|it| it.call.max_tokens < 90_000));
}
