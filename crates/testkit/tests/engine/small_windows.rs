//! Windows that are too small for the talk: shorter answers first, then shorter turns, the same
//! room for every speaker, and no participant is asked about text it could not be shown.

use std::sync::Arc;

use quorum_core::{
    call::Message,
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::Command,
        error::ErrorClass,
        event::{Event, Fact, Fork},
        id::{DiscussionId, Step},
        outcome::{Outcome, RulingReport, StoppingReason},
        participant::Participant,
        ruling::Ruling,
        spec::{Manner, Spec, WindowSpec},
        state::State,
        window::{CutView, TooLong},
    },
    seams::Store,
};
use quorum_testkit::{
    kill::{resume_anywhere, resume_anywhere_answering},
    panel::{AskedCall, Panel, panel, tokens_of},
    table::Table,
};

use crate::{order, registry::registry, table};

fn speech(tokens: usize) -> String {
    "the case for it is strong and ".repeat(tokens / 7)
}

fn of_six(rounds: u32) -> Spec {
    let order = order("in-turn");
    let named = |name: &str| Participant { name: name.to_owned(), ..order.participants[0].clone() };
    let participants = ["ann", "bob", "cyd", "dan", "eve", "fay"].map(named).to_vec();
    Spec { rounds, participants, manner: Manner { max_tokens: 1_024, ..order.manner }, ..order }
}

fn at<'a>(asked: &'a [AskedCall], step: &str) -> Vec<&'a AskedCall> {
    asked.iter().filter(|it| it.step.as_str() == step).collect()
}

/// The speakers of the turns that a call shows, with the round of each.
fn heard(asked: &AskedCall) -> Vec<(String, u32)> {
    let said = asked.call.messages.iter().filter_map(|message| match message {
        Message::Said { turn, .. } => Some((asked.name(&turn.participant), turn.round)),
        _ => None,
    });
    said.collect()
}

fn size(asked: &AskedCall) -> u64 {
    tokens_of(&asked.call) + u64::from(asked.call.max_tokens)
}

#[tokio::test(start_paused = true)]
async fn f18_in_a_debate_of_six_every_speakers_first_and_newest_turns_are_shown() {
    let table = table(&panel().window("bob", 6_000).says("*", &speech(600)));
    let (outcome, _) = table.hold(of_six(3)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let asked = table.panel.asked();
    let last = at(&asked, "3/talking/bob")[0];
    let heard = heard(last);
    for who in ["ann", "bob", "cyd", "dan", "eve", "fay"] {
        let rounds: Vec<u32> = heard.iter().filter(|it| it.0 == who).map(|it| it.1).collect();
        let expected: &[u32] = if who == "ann" { &[1, 3] } else { &[1, 2] };
        assert_eq!(rounds, expected, "{who}: the first and the newest");
    }
    let sent = last.named(&last.sent());
    assert_eq!(sent.matches("[shortened to fit your context window: ").count(), 12);
    assert!(sent.contains("no room for are not shown: 1 of ann."), "{sent}");
    assert!(asked.iter().filter(|it| it.call.participant.name == "bob").all(|it| size(it) <= 6_000));
    let cut = CutView {
        participant: "bob".to_owned(),
        rounds: vec![2, 3],
        phases: vec!["talking".to_owned()],
        shortened: 12,
        left_out: 1,
    };
    assert_eq!(outcome.integrity.cut_views, [cut]);
    assert!(outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn an_answer_shrank_to_nothing_or_not_at_all() {
    let table = table(&panel().window("bob", 4_000).says("*", &speech(400)));
    table.hold(Spec { rounds: 1, ..of_six(1) }).await;
    let asked = table.panel.asked();
    let bob = at(&asked, "1/talking/bob")[0];
    assert_eq!((bob.call.max_tokens, heard(bob).len()), (1_024, 1));
    let small = table_in(2_000).await;
    let fay = at(&small, "1/talking/fay")[0];
    assert_eq!(fay.call.max_tokens, 277, "not under 256");
    let told = "speak\n\nAnswer in at most 166 words: your context window has no room for a longer answer.";
    assert_eq!(fay.call.render().last().map(|it| it.1.as_str()), Some(told));
}

/// The calls of one round in which fay has this window.
async fn table_in(window: u64) -> Vec<AskedCall> {
    let table = table(&panel().window("fay", window).says("*", &speech(200)));
    table.hold(of_six(1)).await;
    table.panel.asked()
}

fn failures(facts: &[Fact]) -> Vec<(String, ErrorClass, u32)> {
    let failed = facts.iter().filter_map(|it| match &it.event {
        Event::TurnFailed(it) => Some((it.participant.clone(), it.class, it.attempts)),
        _ => None,
    });
    failed.collect()
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_could_be_shown_next_to_nothing_is_not_asked() {
    let table = table(&panel().window("fay", 1_600).says("*", &speech(600)));
    let (outcome, facts) = table.hold(of_six(1)).await;
    assert_eq!(failures(&facts), [("fay".to_owned(), ErrorClass::ContextOverflow, 0)]);
    assert_eq!(at(&table.panel.asked(), "1/talking/fay").len(), 0, "it costs nothing");
    let why = "was not asked in round 1: its context window is too small for this discussion: what has to be shown needs at least 1110 tokens, and there \
               is room for 911";
    assert_eq!(outcome.integrity.missing[0].reason, why);
}

/// A talk of three in which bob's provider takes 3,000 tokens, whatever its declared window.
fn limited() -> (Panel, Spec) {
    let spec = order("in-turn");
    let manner = Manner { max_tokens: 1_024, ..spec.manner };
    (panel().says("*", &speech(500)).names_limit("bob", 3_000), Spec { rounds: 4, manner, ..spec })
}

#[tokio::test(start_paused = true)]
async fn d12_after_a_named_limit_the_next_try_and_all_later_ones_keep_to_it() {
    let (panel, spec) = limited();
    let table = table(&panel);
    let (outcome, facts) = table.hold(spec).await;
    assert!(outcome.success && failures(&facts).is_empty(), "{:?}", outcome.error);
    let asked = table.panel.asked();
    let bob: Vec<(u32, u64)> = asked
        .iter()
        .filter(|it| it.call.participant.name == "bob")
        .map(|it| (it.attempt, size(it)))
        .collect();
    let refused: Vec<u64> = bob.iter().filter(|it| 3_000 < it.1).map(|it| it.1).collect();
    assert_eq!((refused.len(), bob.len()), (1, 5), "one refusal is enough: {bob:?}");
    assert!(bob.iter().any(|it| it.0 == 2 && it.1 <= 3_000 && 2_500 < it.1), "{bob:?}");
    let named = facts.iter().find_map(|it| match it.event {
        Event::CallFailed { limit, .. } => limit,
        _ => None,
    });
    assert_eq!(named, Some(TooLong { limit: 3_000, sent: Some(refused[0]) }), "it is on record");
}

#[tokio::test(start_paused = true)]
async fn f1_a_named_limit_survives_every_crash() {
    let (panel, spec) = limited();
    let make = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    assert!(resume_anywhere(make, &panel, registry(), spec).await > 12);
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_shows_as_much_as_a_named_limit_allowed() {
    let (panel, spec) = limited();
    let table = table(&panel);
    let (first, _) = table.hold(spec.clone()).await;
    let calls = table.panel.steps().len();
    let fork = Fork { of: first.discussion_id, at: Step::from("1/talking/ann") };
    let id = table.engine.fork(fork, spec).await.unwrap();
    table.run(id).await.unwrap();
    assert_eq!(table.panel.steps()[calls..], [""; 0], "nothing is paid twice");
}

#[tokio::test(start_paused = true)]
async fn d12_a_second_try_is_shorter_than_the_first() {
    // The only turn before bob's is short, so half of the declared window is no limit at all.
    let table = table(&panel().says("*", &speech(500)).takes_in("bob", 400));
    let manner = Manner { max_tokens: 1_024, ..order("in-turn").manner };
    table.hold(Spec { rounds: 1, manner, ..order("in-turn") }).await;
    let sizes: Vec<u64> =
        at(&table.panel.asked(), "1/talking/bob").iter().map(|it| tokens_of(&it.call)).collect();
    assert!(sizes.len() == 2 && sizes[1] * 3 < sizes[0] * 2, "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn d12_after_a_refusal_without_a_limit_later_requests_are_shorter_than_the_refused_one() {
    let table = table(&panel().says("*", &speech(500)).takes_in("bob", 2_000));
    let manner = Manner { max_tokens: 1_024, ..order("in-turn").manner };
    let (outcome, facts) = table.hold(Spec { rounds: 4, manner, ..order("in-turn") }).await;
    assert!(outcome.success && failures(&facts).is_empty(), "{:?}", outcome.error);
    let asked = table.panel.asked();
    let sizes: Vec<u64> =
        asked.iter().filter(|it| it.call.participant.name == "bob").map(|it| tokens_of(&it.call)).collect();
    let refused: Vec<usize> = (0..sizes.len()).filter(|at| 2_000 < sizes[*at]).collect();
    assert!(!refused.is_empty(), "{sizes:?}");
    for at in refused {
        assert!(sizes[at + 1..].iter().all(|it| *it < sizes[at]), "{sizes:?}");
    }
}

fn asking() -> (Panel, Spec) {
    let (panel, spec) = limited();
    let window = WindowSpec { overflow: WindowSpec::ASK.to_owned(), ..spec.window.clone() };
    (panel.sums_up("*"), Spec { window, ..spec })
}

fn ruling(choice: &str) -> Ruling {
    Ruling { kind: "window".to_owned(), choice: choice.to_owned(), candidate: None }
}

/// Runs until it waits, and decides.
async fn decided(choice: &str) -> (Table, DiscussionId, Outcome) {
    let (panel, spec) = asking();
    let table = table(&panel);
    let id = table.open(spec).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("people are asked") };
    let awaited = state.ruling.clone().unwrap();
    let choices: Vec<&str> = awaited.choices.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((awaited.about.as_str(), awaited.round), ("bob", 2));
    // The result document did not tell that a decision is awaited.
    assert_eq!(state.outcome().ruling_awaited, Some(RulingReport::of(&awaited)));
    assert_eq!(choices, ["truncate", "summarise", "end"]);
    table.engine.send(id, Command::Rule(ruling(choice))).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    (table, id, outcome)
}

#[tokio::test(start_paused = true)]
async fn d12_people_can_decide_at_an_overflow() {
    let (table, id, truncated) = decided("truncate").await;
    assert!(truncated.success && truncated.integrity.summaries == 0, "{:?}", truncated.error);
    assert!(!truncated.integrity.cut_views.is_empty());
    assert!(failures(&table.facts(id).await).is_empty());
    let (_, _, summed_up) = decided("summarise").await;
    assert!(summed_up.success && summed_up.integrity.summaries > 0, "{:?}", summed_up.error);
    let (_, _, ended) = decided("end").await;
    assert_eq!(ended.rounds.len(), 2);
    // A person's wish to end it was reported as a failure of the provider.
    assert_eq!((ended.success, ended.error), (true, None));
    assert_eq!(ended.stopping_reason, Some(StoppingReason::USER_STOP));
    assert!(ended.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn f1_a_decision_at_an_overflow_survives_every_crash() {
    let make = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    for choice in ["truncate", "summarise", "end"] {
        let (panel, spec) = asking();
        let answer = |state: &State| state.ruling.is_some().then(|| Command::Rule(ruling(choice)));
        let deaths = resume_anywhere_answering(make, &panel, registry(), spec, &answer).await;
        assert!(deaths > 6, "{choice}: died {deaths} times only");
    }
}
