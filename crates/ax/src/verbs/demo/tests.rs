//! Tests of the written debate: as a whole, stopped in every place, and left and resumed.

use std::collections::{BTreeMap, BTreeSet};

use quorum::{
    Discussion, Handle, Steered,
    model::{
        command::Command,
        event::{Event, Fact},
        lifecycle::Lifecycle,
    },
};

use super::*;

const SPEAKERS: [&str; 4] = ["claude", "gemini", "qwen", "mistral"];

fn quorum() -> Quorum {
    let voices = Arc::new(WrittenVoices::new(Script::of_the_demo(), Pace::INSTANT));
    Quorum::builder().simulated_by(voices).assigning_roles().build().unwrap()
}

async fn start(quorum: &Quorum) -> (Discussion, Handle) {
    let scope = local::scope(quorum);
    scope.start(scope.check(&request()).unwrap()).await.unwrap()
}

/// What was said, by step.
fn spoken(facts: &[Fact]) -> BTreeMap<String, String> {
    let turns = facts.iter().filter_map(|it| match &it.event {
        Event::TurnCompleted { turn } => Some((turn.step.as_str().to_owned(), turn.text.to_string())),
        _ => None,
    });
    turns.collect()
}

fn steps(facts: &[Fact]) -> BTreeSet<String> {
    spoken(facts).into_keys().collect()
}

#[track_caller]
fn nobody_failed(facts: &[Fact]) {
    let failed = |it: &&Fact| {
        matches!(it.event, Event::CallFailed { .. } | Event::TurnFailed(_) | Event::ReplyUnread(_))
    };
    assert_eq!(facts.iter().find(failed).map(|it| &it.event), None);
}

/// Whether this step is part of the debate without interruption.
fn is_uninterrupted(step: &str) -> bool {
    step.starts_with('4') || !["/verdict", "/vote", "/deciding/claude"].iter().any(|it| step.ends_with(it))
}

#[tokio::test]
async fn every_line_of_the_script_is_spoken_and_none_is_missing() {
    let (discussion, handle) = start(&quorum()).await;
    handle.finished().await.unwrap();
    let facts = discussion.facts(Seq::START).await.unwrap();
    let script = Script::of_the_demo();
    let written = script.steps().into_iter().filter(|it| is_uninterrupted(it)).map(str::to_owned);
    assert_eq!(steps(&facts), written.collect());
    nobody_failed(&facts);
}

/// The demo, stopped as soon as this step has spoken.
async fn stopped_after(step: &str) -> (Discussion, Vec<Fact>) {
    let (discussion, handle) = start(&quorum()).await;
    commanded_after(&discussion, &handle, step, Command::Stop).await;
    handle.finished().await.unwrap();
    let facts = discussion.facts(Seq::START).await.unwrap();
    (discussion, facts)
}

async fn commanded_after(discussion: &Discussion, handle: &Handle, step: &str, command: Command) {
    use futures::StreamExt as _;

    let mut signals = Box::pin(handle.signals());
    while let Some(signal) = signals.next().await {
        let quorum::Signal::Fact { fact, .. } = signal else { continue };
        if matches!(&fact.event, Event::TurnCompleted { turn } if turn.step.as_str() == step) {
            break;
        }
    }
    let sent = discussion.steer(command).await.unwrap();
    assert!(matches!(sent, Steered::Sent { .. }));
}

#[tokio::test]
async fn a_stop_broke_the_demo() {
    let script = Script::of_the_demo();
    let debating = script.steps().into_iter().filter(|it| is_uninterrupted(it) && !it.starts_with('4'));
    let mut reached = BTreeSet::new();
    for step in debating {
        let (discussion, facts) = stopped_after(step).await;
        nobody_failed(&facts);
        let state = discussion.state().await.unwrap();
        assert_eq!(state.lifecycle, Lifecycle::Completed, "{step}");
        assert!(!state.outcome().synthesis.is_empty(), "{step}");
        let closing = crate::render::closing::lines(&state.outcome());
        assert!(!closing[0].contains("nobody spoke"), "{step}: {closing:?}");
        for closing in steps(&facts).into_iter().filter(|it| it.contains("deciding")) {
            reached.insert(closing);
        }
        let judges = facts.iter().filter_map(|it| match &it.event {
            Event::TurnCompleted { turn } if turn.phase == "judging" => Some(turn.participant.as_str()),
            _ => None,
        });
        assert!(judges.into_iter().all(|it| it == "gemini"), "{step}");
    }
    for round in 1..=3 {
        for who in SPEAKERS {
            let vote = format!("{round}/deciding/{who}/vote");
            assert!(reached.contains(&vote), "{vote} of {reached:?}");
        }
    }
}

#[tokio::test]
async fn a_stop_after_a_round_gets_the_lines_written_for_it() {
    for round in 1..=3 {
        let (_, facts) = stopped_after(&format!("{round}/judging/gemini")).await;
        let spoken = spoken(&facts);
        let script = Script::of_the_demo();
        let closing = script.steps().into_iter().filter(|it| !is_uninterrupted(it));
        for step in closing.filter(|it| it.starts_with(&round.to_string())) {
            let label = script.text(step).split_whitespace().next().unwrap();
            let said = spoken.get(step).unwrap_or_else(|| panic!("{step} of {:?}", spoken.keys()));
            assert!(said.starts_with(label), "{step}: {said}");
        }
    }
}

#[tokio::test]
async fn a_demo_that_was_left_went_on_with_other_words() {
    let first = quorum();
    let (discussion, handle) = start(&first).await;
    commanded_after(&discussion, &handle, "2/awaiting-responses/mistral", Command::Pause).await;
    handle.finished().await.unwrap();
    let state = discussion.state().await.unwrap();
    assert!(is_demo(&state.spec));
    discussion.resume_here().await.unwrap().finished().await.unwrap();
    let whole = start(&quorum()).await;
    whole.1.finished().await.unwrap();
    let resumed = discussion.facts(Seq::START).await.unwrap();
    nobody_failed(&resumed);
    assert_eq!(steps(&resumed), steps(&whole.0.facts(Seq::START).await.unwrap()));
}
