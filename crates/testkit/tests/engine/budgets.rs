//! Budgets: a call that doesn't fit never starts, and paid answers are never thrown away.

use quorum_core::model::{
    error::Code,
    money::{Price, Usd},
    outcome::StoppingReason,
    spec::{Limits, Spec, Timing},
};
use quorum_testkit::panel::{Panel, panel, tokens_of};

use crate::{order, table};

fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

fn priced(panel: Panel) -> Panel {
    panel.priced(Price::new(usd(3.0), usd(15.0)))
}

#[tokio::test(start_paused = true)]
async fn inv_disc_620_the_call_budget_keeps_one_back_for_the_synthesis() {
    let table = table(&panel());
    let limits = Limits { calls: Some(6), ..Limits::default() };
    let (outcome, _) = table.hold(Spec { limits, rounds: 3, ..order("synthesis") }).await;
    assert_eq!(table.panel.steps().len(), 4, "a second round of three would not leave one for the synthesis");
    assert_eq!(outcome.error.unwrap().code, Code::CallBudgetExceeded);
    assert_eq!(outcome.synthesis, "ann after 3");
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::BUDGET));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_621_the_cost_budget_ends_in_a_synthesis() {
    let table = table(&priced(panel().uses("*", 1_000, 200)));
    let limits = Limits { usd: Some(usd(0.06)), ..Limits::default() };
    let (outcome, _) = table.hold(Spec { limits, rounds: 10, ..order("in-turn") }).await;
    assert_eq!(outcome.error.unwrap().code, Code::CostBudgetExceeded);
    assert!(!outcome.synthesis.is_empty());
    let cost = outcome.metadata.estimated_cost.unwrap();
    assert!(cost > 0.0 && cost <= 0.06, "{cost}");
}

#[tokio::test(start_paused = true)]
async fn an_unpriced_voice_under_a_budget_of_money_is_refused_before_anything_is_spent() {
    let table = table(&panel());
    let limits = Limits { usd: Some(usd(1.0)), ..Limits::default() };
    let refused = table.open(Spec { limits, ..order("synthesis") }).await.unwrap_err().to_string();
    assert!(refused.starts_with("maxCost: the price of ann, bob, cyd is unknown"), "{refused}");
    let limits = Limits { allow_unpriced: true, ..limits };
    let (outcome, _) = table.hold(Spec { limits, ..order("synthesis") }).await;
    assert_eq!(outcome.metadata.estimated_cost, None);
    assert_eq!(outcome.metadata.cost_summary.unpriced, ["ann", "bob", "cyd"]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_644_the_cost_summary_adds_up_by_provider() {
    let table = table(&priced(panel().uses("ann", 100, 10).uses("bob", 200, 20).uses("cyd", 0, 0)));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..order("synthesis") }).await;
    let summary = outcome.metadata.cost_summary;
    assert_eq!((summary.total_calls, summary.total_tokens), (4, 2 * 110 + 220));
    let ann = &summary.by_provider["ann"];
    assert_eq!((ann.calls, ann.prompt_tokens, ann.completion_tokens), (2, 200, 20));
    assert_eq!(ann.cost_usd(), Some(0.0009));
    let sum: f64 = summary.by_provider.values().filter_map(|it| it.cost_usd()).sum();
    assert!((sum - summary.estimated_cost_usd).abs() < 1e-12);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_in_a_synthesis() {
    let table = table(&panel().takes("*", 20_000));
    let timing = Timing { step_ms: 60_000, total_ms: 75_000, reserve_ms: 30_000 };
    let (outcome, _) = table.hold(Spec { timing, rounds: 5, ..order("in-turn") }).await;
    assert_eq!(outcome.error.unwrap().code, Code::DiscussionTimeout);
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::TIMEOUT));
    assert_eq!(outcome.synthesis, "ann after 2", "the third speaker was left behind at 45 s");
    assert!(outcome.total_duration_ms < 75_000, "{}", outcome.total_duration_ms);
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_charges_beyond_the_worst_case_ends_asking() {
    let table = table(&priced(panel().uses("ann", 1_000_000, 0)));
    let limits = Limits { usd: Some(usd(1.0)), ..Limits::default() };
    let (outcome, _) = table.hold(Spec { limits, rounds: 2, ..order("in-turn") }).await;
    assert_eq!(
        table.panel.steps(),
        ["1/talking/ann"],
        "three dollars for one answer: nobody is asked any more"
    );
    assert_eq!(outcome.error.unwrap().code, Code::CostBudgetExceeded);
    assert_eq!(outcome.synthesis, "ann after 0");
}

#[tokio::test(start_paused = true)]
async fn many_short_turns_stay_within_the_token_budget() {
    for budget in [16_000, 64_000, 250_000] {
        let table = table(&panel().says("*", "Yes.").counts("*", 1.0));
        let limits = Limits { tokens: Some(budget), ..Limits::default() };
        let mut spec = Spec { limits, rounds: 100, ..order("in-turn") };
        spec.manner.max_tokens = 20;
        let (outcome, _) = table.hold(spec).await;
        let (used, last) = (outcome.metadata.cost_summary.total_tokens, table.panel.asked().pop().unwrap());
        assert!(last.step.as_str().contains("/deciding/"), "it ends in a synthesis: {}", last.step);
        // Another turn is about as long as the last call, and is reserved at its worst.
        assert!((budget - 6 * tokens_of(&last.call)..=budget).contains(&used), "{used} of {budget}");
        assert_eq!(outcome.error.unwrap().code, Code::TokenBudgetExceeded);
        assert_eq!(outcome.synthesis, "Yes.");
    }
}
