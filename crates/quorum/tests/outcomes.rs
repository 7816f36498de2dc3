//! Outcomes: recorded beside a discussion, learned from, and frozen into the
//! next one.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{path::Path, sync::Arc};

use quorum::{
    Config, Discussion, Error, Quorum, Request, Resolved, Scope,
    model::{id::Tenant, lifecycle::Lifecycle},
};
use quorum_core::memory::MemoryStore;
use serde_json::{Value, json};

fn quorum(store: &Arc<MemoryStore>) -> Quorum {
    let config = Config::parse("", Path::new("config.toml"), Path::new("").to_path_buf()).unwrap();
    Quorum::builder().config(config).store(store.clone()).simulated().build().unwrap()
}

fn scope() -> Scope {
    quorum(&Arc::new(MemoryStore::new())).scope(Tenant::default(), "ann")
}

fn request(fields: &Value) -> Request {
    let mut all = json!({
        "topic": "Tabs or spaces?", "simulate": { "latencyMs": 0 }, "pattern": "settle",
        "votingOptions": ["tabs", "spaces"],
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

async fn held(scope: &Scope, fields: &Value) -> Discussion {
    let (discussion, handle) = scope.start(scope.check(&request(fields)).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    discussion
}

fn messages(error: Error) -> Vec<String> {
    let Error::Refused(complaints) = error else { panic!("{error}") };
    complaints.into_iter().map(|it| format!("{}: {}", it.field, it.message)).collect()
}

#[tokio::test]
async fn an_outcome_says_which_first_answers_were_right_and_changes_no_fact() {
    let scope = scope();
    let discussion = held(&scope, &json!({ "seed": 3 })).await;
    let before = discussion.facts(Default::default()).await.unwrap();
    let outcome = discussion.outcome().await.unwrap();
    let winner = outcome.fields["votingResults"]["winner"].as_str().unwrap().to_owned();
    let Resolved { outcome: known, corrected } = discussion.resolve("right", None).await.unwrap();
    assert_eq!((known.answer.as_str(), known.by.as_str(), corrected), (winner.as_str(), "ann", 0));
    assert_eq!((known.scored.was_right, known.scored.options, known.simulated), (Some(true), 2, true));
    assert!(known.scored.answers.iter().all(|it| it.is_right == (it.choice == winner)));
    // Case doesn't matter, and a correction keeps both.
    let other = if winner == "tabs" { "SPACES" } else { "TABS" };
    let second = discussion.resolve(other, Some("the review")).await.unwrap();
    assert_eq!((second.outcome.scored.was_right, second.corrected), (Some(false), 1));
    let all = discussion.outcomes().await.unwrap();
    assert_eq!(all.iter().map(|it| it.by.as_str()).collect::<Vec<_>>(), ["ann", "the review"]);
    assert_eq!(discussion.facts(Default::default()).await.unwrap(), before, "its facts stay as they are");
    let audit: Vec<String> = scope.audit(9).await.unwrap().into_iter().map(|it| it.action).collect();
    assert_eq!(audit, ["resolve", "resolve", "start"]);
}

#[tokio::test]
async fn what_can_t_be_an_outcome_is_refused_and_nothing_is_written() {
    let scope = scope();
    let discussion = held(&scope, &json!({})).await;
    let refused = |answer: &'static str, by: Option<&'static str>| {
        let discussion = discussion.clone();
        async move { messages(discussion.resolve(answer, by).await.unwrap_err()) }
    };
    assert_eq!(
        refused("both", None).await,
        ["answer: `both` is none of the options `tabs`, `spaces`; give one of them, or right or wrong"]
    );
    assert_eq!(refused(" ", None).await, ["answer: must have 1 to 2000 characters; this has 0"]);
    assert_eq!(refused("tabs", Some(" ")).await, ["by: must have 1 to 200 characters; this has 0"]);
    assert_eq!(discussion.outcomes().await.unwrap(), []);
    // Without options, any text may be right; the record doesn't say which answer the text gives.
    let open = held(&scope, &json!({ "pattern": "synthesis", "votingOptions": null })).await;
    let message = messages(open.resolve("wrong", None).await.unwrap_err());
    assert!(message[0].starts_with("answer: the record doesn't say which answer"), "{message:?}");
    let known = open.resolve("42", None).await.unwrap().outcome;
    assert_eq!((known.answer.as_str(), known.scored.was_right, known.scored.answers.len()), ("42", None, 0));
}

#[tokio::test]
async fn wrong_alone_teaches_about_voices_only_with_two_options() {
    let scope = scope();
    let two = held(&scope, &json!({})).await.resolve("wrong", None).await.unwrap().outcome;
    assert_eq!(two.scored.was_right, Some(false));
    assert!(!two.answer.is_empty() && !two.scored.answers.is_empty());
    let three = held(&scope, &json!({ "votingOptions": ["tabs", "spaces", "both"] })).await;
    let three = three.resolve("wrong", None).await.unwrap().outcome;
    assert_eq!(
        (three.answer.as_str(), three.scored.was_right, three.scored.answers.len()),
        ("", Some(false), 0)
    );
}

#[tokio::test]
async fn a_discussion_that_is_not_over_and_one_of_another_tenant_have_no_outcome() {
    let store = Arc::new(MemoryStore::new());
    let quorum = quorum(&store);
    let scope = quorum.scope(Tenant::default(), "ann");
    let spec = scope.check(&request(&json!({}))).unwrap();
    let running = scope.prepare(spec).await.unwrap();
    assert_ne!(running.state().await.unwrap().lifecycle, Lifecycle::Completed);
    let error = running.resolve("tabs", None).await.unwrap_err();
    assert!(matches!(error, Error::NotOver(_)), "{error}");
    assert_eq!(running.outcomes().await.unwrap(), []);
    let other = quorum.scope(Tenant::named("other"), "bob");
    assert!(other.discussion(running.id()).await.is_err());
}

#[tokio::test]
async fn weights_are_frozen_when_a_discussion_is_opened_and_simulated_outcomes_stay_apart() {
    let scope = scope();
    for seed in 0..30 {
        let discussion = held(&scope, &json!({ "seed": seed })).await;
        let answer = if seed % 3 == 0 { "spaces" } else { "tabs" };
        discussion.resolve(answer, None).await.unwrap();
        if seed == 28 {
            let next = held(&scope, &json!({ "seed": 99 })).await;
            assert_eq!(next.state().await.unwrap().spec.known_voices, None, "29 outcomes are too few");
        }
    }
    let next = held(&scope, &json!({ "seed": 100 })).await;
    let frozen = next.state().await.unwrap().spec.known_voices.clone().unwrap();
    assert_eq!(
        (frozen.outcomes, frozen.offsets.len()),
        (30, next.state().await.unwrap().spec.participants.len())
    );
    let outcome = next.outcome().await.unwrap();
    assert!(outcome.fields.contains_key("probability") && outcome.fields.contains_key("nEff"));
    // Later outcomes don't change what it was opened with.
    next.resolve("tabs", None).await.unwrap();
    assert_eq!(next.outcome().await.unwrap(), outcome);
    let report = scope.calibration(true).await.unwrap();
    assert_eq!((report.outcomes, report.needed, report.simulated), (31, 30, true));
    assert!(!report.voices.is_empty() && report.voices.iter().all(|it| it.weight.is_some()));
    assert_eq!(scope.calibration(false).await.unwrap().outcomes, 0, "no real voice has an outcome");
    // A question without options is weighed by nothing.
    let open = held(&scope, &json!({ "pattern": "synthesis", "votingOptions": null })).await;
    assert_eq!(open.state().await.unwrap().spec.known_voices, None);
}
