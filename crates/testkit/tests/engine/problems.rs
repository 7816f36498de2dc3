//! The error of a failed discussion: a standard code (INV-DISC-401), and whether a retry may help
//! (INV-DISC-402).

use quorum_core::model::{
    command::Command,
    error::ErrorClass,
    money::{Price, Usd},
    outcome::Outcome,
    spec::{Limits, Recursion, Spec, TimeoutStrategy, Timing, Tolerance},
};
use quorum_testkit::panel::{Panel, panel};

use crate::{for_two, order, table};

/// A discussion that fails, under the code the source documents give it.
struct Case {
    code: &'static str,
    panel: Panel,
    spec: Spec,
}

fn strict(spec: Spec) -> Spec {
    Spec { tolerance: Tolerance { go_on: false, min_providers: 2 }, ..spec }
}

fn limited(limits: Limits) -> Spec {
    Spec { limits, rounds: 10, ..order("in-turn") }
}

fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

fn prices() -> Price {
    Price::new(usd(3.0), usd(15.0))
}

/// A provider that fails here may answer at the next attempt.
fn failing_providers() -> Vec<Case> {
    let case = |code, panel, spec| Case { code, panel, spec };
    let slow = Timing { step_ms: 60_000, total_ms: 75_000, reserve_ms: 30_000 };
    vec![
        case("DISCUSSION_ALL_PROVIDERS_FAILED", panel().fails("*", ErrorClass::ApiError), order("synthesis")),
        case(
            "DISCUSSION_INSUFFICIENT_PROVIDERS",
            panel().fails("bob", ErrorClass::ApiError),
            for_two(order("in-turn")),
        ),
        case("DISCUSSION_INSUFFICIENT_PROVIDERS", panel().away("bob").away("cyd"), order("synthesis")),
        case(
            "DISCUSSION_PROVIDER_FAILED",
            panel().fails("cyd", ErrorClass::ApiError),
            strict(order("synthesis")),
        ),
        case("DISCUSSION_PROVIDER_TIMEOUT", panel().hangs("cyd"), strict(order("synthesis"))),
        case(
            "DISCUSSION_TIMEOUT",
            panel().takes("*", 20_000),
            Spec { timing: slow, rounds: 5, ..order("in-turn") },
        ),
        case("DISCUSSION_SYNTHESIS_FAILED", nobody_sums_up(), Spec { rounds: 1, ..order("in-turn") }),
    ]
}

fn nobody_sums_up() -> Panel {
    let fails =
        |panel: Panel, who: &str| panel.fails_at(who, &format!("1/deciding/{who}"), ErrorClass::ApiError);
    ["ann", "bob", "cyd"].into_iter().fold(panel(), fails)
}

/// The same order fails in the same way, even if every provider works.
fn impossible_orders() -> Vec<Case> {
    let case = |code, spec| Case { code, panel: panel().priced(prices()), spec };
    vec![
        case("DISCUSSION_CALL_BUDGET_EXCEEDED", limited(Limits { calls: Some(4), ..Limits::default() })),
        case(
            "DISCUSSION_TOKEN_BUDGET_EXCEEDED",
            limited(Limits { tokens: Some(2_000), ..Limits::default() }),
        ),
        case(
            "DISCUSSION_COST_BUDGET_EXCEEDED",
            limited(Limits { usd: Some(usd(0.02)), ..Limits::default() }),
        ),
        case("STATE_INVALID", order("rogue")),
    ]
}

/// Code and retryability as a result's JSON has them.
fn error(outcome: &Outcome) -> (String, bool) {
    let result = serde_json::to_value(outcome).unwrap();
    let error = &result["error"];
    (error["code"].as_str().unwrap_or("none").to_owned(), error["retryable"].as_bool().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn inv_disc_401_inv_disc_402_a_failed_provider_has_its_code_and_trying_again_helps() {
    for Case { code, panel: failing, spec } in failing_providers() {
        let (outcome, _) = table(&failing).hold(spec.clone()).await;
        assert_eq!(error(&outcome), (code.to_owned(), true));
        let (again, _) = table(&panel()).hold(spec).await;
        assert_eq!((again.success, again.error), (true, None), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_401_inv_disc_402_an_impossible_order_has_its_code_and_trying_again_does_not_help() {
    for Case { code, panel, spec } in impossible_orders() {
        for _ in 0..2 {
            let (outcome, _) = table(&panel).hold(spec.clone()).await;
            assert_eq!(error(&outcome), (code.to_owned(), false));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_401_inv_disc_402_an_abort_has_its_code_and_is_nothing_to_try_again() {
    let table = table(&panel().hangs("*"));
    let id = table.open(order("synthesis")).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(error(&outcome), ("DISCUSSION_ABORTED".to_owned(), false));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_401_inv_disc_402_a_circular_sub_discussion_has_its_code() {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Fixed });
    let spec = Spec { recursion, rounds: 1, ..order("in-turn") };
    let (outcome, _) = table(&panel().convenes("ann", "Tabs or SPACES?")).hold(spec).await;
    let refused = serde_json::to_value(&outcome.sub_discussions[0].error).unwrap();
    assert_eq!(refused["code"], "DISCUSSION_CIRCULAR_DISCUSSION");
    assert_eq!(refused["retryable"], false);
}
