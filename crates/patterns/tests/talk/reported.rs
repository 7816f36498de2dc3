//! What a result reports about its calls and participants: models, tokens, costs, early exits,
//! lists, and whether a retry helps.

use quorum_core::model::{
    error::{Code, ErrorClass},
    money::{Price, Usd},
    outcome::Outcome,
    participant::Participant,
    spec::{Spec, Tolerance},
};
use quorum_testkit::{
    panel::{Panel, panel},
    spec::spec,
};

use crate::table;

fn price() -> Price {
    let usd = |dollars| Usd::from_dollars(dollars).unwrap();
    Price::new(usd(1.0), usd(2.0))
}

async fn hold(panel: &Panel, order: Spec) -> Outcome {
    table(panel).hold(order).await.0
}

/// The providers that took part, those that failed, and those that were dropped.
fn lists(outcome: &Outcome) -> [Vec<&str>; 3] {
    let lists = [&outcome.participating_providers, &outcome.failed_providers, &outcome.dropped];
    lists.map(|it| it.iter().map(String::as_str).collect())
}

/// A discussion in which ann and bob are sure at once, and cyd is not waited for.
fn sure(pattern: &str) -> (Panel, Spec) {
    let panel = panel().votes("*", "tabs", 0.99).says("*", "Sure.\n\nConfidence: 0.99");
    let panel = panel.takes("ann", 10).takes("bob", 20).takes("cyd", 5_000);
    (panel, Spec { rounds: 1, early_exit: Some(0.9), ..spec(pattern) })
}

#[tokio::test(start_paused = true)]
async fn a_response_has_the_model_asked_the_one_that_answered_its_tokens_and_its_cost() {
    let mut order = Spec { rounds: 1, ..spec("round-robin") };
    order.participants[0].model = Some("ann-1".to_owned());
    let panel = panel().answers_as("ann", "ann-1-20260102").uses("*", 100, 10).priced(price());
    let outcome = hold(&panel, order).await;
    let [ann, bob, _] = &outcome.rounds[0].responses[..] else { panic!("{:?}", outcome.rounds) };
    let told =
        (ann.model.as_deref(), ann.answered_by.as_deref(), ann.token_count, ann.cost_usd, ann.estimated);
    assert_eq!(told, (Some("ann-1"), Some("ann-1-20260102"), Some(110), Some(0.000_12), false));
    assert_eq!((bob.model.as_deref(), bob.answered_by.as_deref()), (None, None), "nobody named one");
    assert_eq!(outcome.metadata.cost_summary.by_provider["ann"].model.as_deref(), Some("ann-1"));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_622_an_early_exit_names_the_participants_left_out() {
    for (pattern, confidence) in [("voting", Some(0.99)), ("synthesis", None)] {
        let (panel, order) = sure(pattern);
        let outcome = hold(&panel, order).await;
        let exit = outcome.metadata.early_exit.clone().unwrap();
        assert_eq!((exit.triggered, exit.at_provider_count, exit.round), (true, 2, 1), "{pattern}");
        assert_eq!((exit.left_out, exit.confidence_score), (vec!["cyd".to_owned()], confidence), "{pattern}");
        assert_eq!(exit.reason, "2 answers were enough; not waited for: cyd");
        assert_eq!(lists(&outcome), [vec!["ann", "bob"], vec![], vec!["cyd"]], "{pattern}");
    }
    let outcome = hold(&panel(), Spec { rounds: 1, ..spec("voting") }).await;
    assert_eq!(outcome.metadata.early_exit, None);
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_a_call_that_was_given_up_is_estimated() {
    let (panel, order) = sure("synthesis");
    let outcome = hold(&panel.clone().priced(price()), order.clone()).await;
    let summary = &outcome.metadata.cost_summary;
    let cyd = &summary.by_provider["cyd"];
    assert!(cyd.estimated && cyd.prompt_tokens > 0 && cyd.cost > 0.0, "{cyd:?}");
    assert!(!summary.by_provider["bob"].estimated);
    let sum: f64 = summary.by_provider.values().map(|it| it.cost).sum();
    assert!((sum - summary.estimated_cost_usd).abs() < 1e-9, "{summary:?}");

    let outcome = hold(&panel, order).await;
    let summary = &outcome.metadata.cost_summary;
    let cyd = &summary.by_provider["cyd"];
    assert_eq!((cyd.cost, cyd.unpriced, cyd.cost_usd()), (0.0, true, None), "unpriced is not $0");
    assert_eq!(summary.unpriced, ["ann", "bob", "cyd"]);
    assert_eq!(outcome.metadata.estimated_cost, None);
}

#[tokio::test(start_paused = true)]
async fn a_participant_that_failed_after_speaking_is_in_one_list() {
    let panel = panel().fails_at("bob", "2/speaking/bob", ErrorClass::Authentication);
    let outcome = hold(&panel, spec("round-robin")).await;
    assert_eq!(lists(&outcome), [vec!["ann", "cyd"], vec!["bob"], vec![]]);
    let outcome = hold(&quorum_testkit::panel::panel().away("ann"), spec("round-robin")).await;
    assert_eq!(lists(&outcome), [vec!["bob", "cyd"], vec!["ann"], vec![]]);
}

#[tokio::test(start_paused = true)]
async fn a_second_seat_is_not_listed_as_another_provider() {
    let mut order = spec("debate");
    order.participants[2].name = "ann-2".to_owned();
    let outcome = hold(&panel(), order.clone()).await;
    assert_eq!(lists(&outcome), [vec!["ann", "bob"], vec![], vec![]]);
    let seats = [("ann".to_owned(), vec!["ann".to_owned(), "ann-2".to_owned()])];
    assert_eq!(outcome.seats, seats.into());

    order.participants[2] =
        Participant { model: Some("ann-2-large".into()), ..order.participants[2].clone() };
    let outcome = hold(&panel(), order).await;
    assert_eq!(outcome.participating_providers, ["ann", "bob", "ann-2"], "another model is another seat");
}

#[tokio::test(start_paused = true)]
async fn a_judges_second_seat_and_another_model_are_not_listed_as_other_providers() {
    let mut order = spec("debate");
    order.participants[2].name = "ann-judge".to_owned();
    let outcome = hold(&panel(), order.clone()).await;
    assert_eq!(lists(&outcome), [vec!["ann", "bob"], vec![], vec![]]);

    let names = ["scripted", "scripted/large", "scripted-judge"];
    order.participants.iter_mut().zip(names).for_each(|(seat, name)| seat.name = name.to_owned());
    order.participants[1].model = Some("large".to_owned());
    let outcome = hold(&panel(), order).await;
    assert_eq!(lists(&outcome), [vec!["scripted"], vec![], vec![]]);
    assert_eq!(outcome.seats, [("scripted".to_owned(), names.map(str::to_owned).to_vec())].into());
}

#[tokio::test(start_paused = true)]
async fn a_participant_that_only_failed_to_decide_is_not_listed_as_failed() {
    let mut order = Spec { rounds: 1, ..spec("synthesis") };
    order.settings.set("synthesizer", "ann");
    let outcome = hold(&panel().fails_at("ann", "1/deciding/ann", ErrorClass::ApiError), order).await;
    assert_eq!(lists(&outcome), [vec!["ann", "bob", "cyd"], vec![], vec![]]);
    let missing: Vec<(&str, bool)> =
        outcome.integrity.missing.iter().map(|it| (it.provider.as_str(), it.deciding)).collect();
    assert_eq!(missing, [("ann", true)]);
}

#[tokio::test(start_paused = true)]
async fn b04_a_retry_is_offered_only_where_it_can_help() {
    let check = async |class: ErrorClass, retryable: bool| {
        let failing = panel().fails("bob", class).fails("cyd", class);
        let outcome = hold(&failing, Spec { rounds: 1, ..spec("round-robin") }).await;
        let error = outcome.error.unwrap();
        assert_eq!((error.retryable, error.participant.as_deref()), (retryable, Some("cyd")), "{class:?}");
    };
    for class in [ErrorClass::Authentication, ErrorClass::Validation, ErrorClass::ContextOverflow] {
        check(class, false).await;
    }
    for class in [ErrorClass::Network, ErrorClass::RateLimit, ErrorClass::ApiError] {
        check(class, true).await;
    }
}

#[tokio::test(start_paused = true)]
async fn b06_provider_timeout_means_that_the_last_provider_needed_timed_out() {
    let tolerance = Tolerance { go_on: true, min_providers: 3 };
    let outcome = hold(&panel().hangs("cyd"), Spec { rounds: 1, tolerance, ..spec("round-robin") }).await;
    let error = outcome.error.unwrap();
    assert_eq!((error.code, error.retryable), (Code::ProviderTimeout, true));
    assert_eq!(error.message, "cyd timed out; only 2 providers are left, and 3 are needed");
}
