//! Models that think before they answer: an answer that was all thinking is asked for once more,
//! with more room.

use quorum_core::model::{
    error::ErrorClass,
    event::{Event, Fact},
    money::{Price, Usd},
    spec::{Limits, Spec},
};
use quorum_testkit::{log::story, panel::Panel, panel::panel};

use crate::{order, table};

fn one_round() -> Spec {
    Spec { rounds: 1, ..order("in-turn") }
}

/// The token limits and reservations of all calls to bob, by step.
fn limits(facts: &[Fact]) -> Vec<(u32, u32, u64)> {
    let placed = facts.iter().filter_map(|it| match &it.event {
        Event::CallPlaced(placed) if placed.participant == "bob" => Some(placed),
        _ => None,
    });
    placed.map(|it| (it.attempt, it.max_tokens, it.reserved.tokens)).collect()
}

fn bobs_story(facts: &[Fact]) -> Vec<String> {
    story(facts).lines().filter(|it| it.starts_with("bob")).map(str::to_owned).collect()
}

fn dollars(panel: Panel) -> Panel {
    panel.priced(Price::new(Usd::from_dollars(1.0).unwrap(), Usd::from_dollars(1.0).unwrap()))
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_all_thinking_is_asked_for_again_with_more_room() {
    let words = one_round().manner.max_tokens;
    let thoughtful = panel().says("bob", "Tabs.").thinks("bob", 4_096, words + 5_000);
    let (outcome, facts) = table(&thoughtful).hold(one_round()).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let told = ["bob failed (invalid_response), again in 0 ms", "bob: Tabs."];
    assert_eq!(bobs_story(&facts), told);
    let [(1, first, one), (2, second, two)] = limits(&facts)[..] else { panic!("{:?}", limits(&facts)) };
    assert_eq!((first, second), (words + 4_096, words + 8_192));
    assert_eq!(two - one, 4_096, "more is reserved for more thinking");
}

#[tokio::test(start_paused = true)]
async fn thoughts_that_led_to_no_answer_cost_nothing() {
    let words = one_round().manner.max_tokens;
    let thoughtful = dollars(panel().thinks("bob", 4_096, words + 5_000));
    let (outcome, facts) = table(&thoughtful).hold(one_round()).await;
    let paid = facts.iter().find_map(|it| match &it.event {
        Event::CallFailed { only_thoughts: true, broken, .. } => broken.clone(),
        _ => None,
    });
    let paid = paid.unwrap();
    assert_eq!((&*paid.text, paid.bill.estimated), ("", false));
    assert_eq!(paid.bill.usage.reasoning, u64::from(words) + 4_096);
    let bob = &outcome.metadata.cost_summary.by_provider["bob"];
    let answers = facts.iter().filter_map(|it| match &it.event {
        Event::TurnCompleted { turn } if turn.participant == "bob" => turn.bill.cost,
        _ => None,
    });
    let all = answers.fold(paid.bill.cost.unwrap(), |sum, cost| sum + cost);
    assert_eq!(bob.cost_usd(), Some(all.dollars()));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_thinks_is_given_more_room_once_and_no_more() {
    let thoughtful = panel().thinks("bob", 4_096, u32::MAX);
    let (_, facts) = table(&thoughtful).hold(one_round()).await;
    let told = ["bob failed (invalid_response), again in 0 ms", "bob is out (invalid_response)"];
    assert_eq!(bobs_story(&facts), told);
    let why = facts.iter().find_map(|it| match &it.event {
        Event::TurnFailed(failed) => Some(failed.message.clone()),
        _ => None,
    });
    assert!(why.unwrap().contains("quirks = { thinking = 16384 }"), "twice of what was not enough");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_was_not_known_to_think_gets_the_usual_room_for_it() {
    let words = one_round().manner.max_tokens;
    let (outcome, facts) = table(&panel().thinks("bob", 0, words + 1)).hold(one_round()).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let limits: Vec<u32> = limits(&facts).iter().map(|it| it.1).collect();
    assert_eq!(limits, [words, words + 4_096]);
}

#[tokio::test(start_paused = true)]
async fn room_to_think_takes_at_most_half_of_a_window() {
    let words = one_round().manner.max_tokens;
    let small = panel().window("bob", 12_000).thinks("bob", 4_096, u32::MAX);
    let (_, facts) = table(&small).hold(one_round()).await;
    let limits: Vec<u32> = limits(&facts).iter().map(|it| it.1).collect();
    assert_eq!(limits, [words + 4_096, words + 6_000]);
}

#[tokio::test(start_paused = true)]
async fn more_room_to_think_is_given_only_if_the_budget_has_it() {
    let words = u64::from(one_round().manner.max_tokens);
    let thoughtful = panel().thinks("bob", 4_096, u32::MAX);
    let (_, facts) = table(&thoughtful).hold(one_round()).await;
    let enough_for_one = limits(&facts)[0].2 + 3 * (words + 2_000);
    let limits_of = Limits { tokens: Some(enough_for_one), ..Limits::default() };
    let (_, facts) = table(&thoughtful).hold(Spec { limits: limits_of, ..one_round() }).await;
    assert_eq!(limits(&facts).len(), 1, "{}", story(&facts));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_that_was_not_cut_off_is_retried_as_before() {
    let (_, facts) = table(&panel().says("bob", "")).hold(one_round()).await;
    let limits: Vec<u32> = limits(&facts).iter().map(|it| it.1).collect();
    assert_eq!(limits, [one_round().manner.max_tokens; 2]);
    let failed = facts.iter().filter(|it| {
        matches!(&it.event, Event::CallFailed { class, only_thoughts: false, .. } if *class == ErrorClass::InvalidResponse)
    });
    assert_eq!(failed.count(), 1);
}
