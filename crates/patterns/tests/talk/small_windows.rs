//! Judges, synthesizers and summarisers whose window is too small for the whole talk.

use quorum_core::{
    call::Message,
    model::{
        outcome::Outcome,
        participant::Participant,
        spec::{Manner, Spec, WindowSpec},
    },
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    roles::{OPPONENT, PROPONENT},
};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel, tokens_of},
    spec::spec,
};

use crate::{results::Results, table};

fn speech(tokens: usize) -> String {
    "the case for it is strong and ".repeat(tokens / 7)
}

/// Four debaters and a judge.
fn debate_of_four(rounds: u32) -> Spec {
    let mut order = spec("debate");
    for (name, role) in [("dan", PROPONENT), ("eve", OPPONENT)] {
        let seat = Participant { name: name.into(), ..Participant::of("scripted").playing(role) };
        order.participants.push(seat);
    }
    let round_limit = Some(rounds);
    let debate = DebateSpec { format: Format::FreeForm, round_limit, ..DebateSpec::default() };
    let manner = Manner { max_tokens: 1_024, ..order.manner };
    Spec { settings: debate.settings(), manner, ..order }
}

fn calls_of(asked: &[AskedCall], who: &str, step: &str) -> Vec<AskedCall> {
    let wanted = |it: &&AskedCall| it.call.participant.name == who && it.step.as_str().contains(step);
    asked.iter().filter(wanted).cloned().collect()
}

/// How many turns under a label a call shows.
fn shown(asked: &AskedCall) -> usize {
    let said = asked.call.messages.iter();
    said.filter(|it| matches!(it, Message::Said { turn, .. } if turn.participant.starts_with('@'))).count()
}

#[tokio::test(start_paused = true)]
async fn a_judge_with_a_small_window_is_shown_a_part_of_every_speech() {
    let table = table(&panel().window("cyd", 8_192).says("*", &speech(700)));
    let (outcome, _) = table.hold(debate_of_four(3)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let judged = calls_of(&table.panel.asked(), "cyd", "/judging/");
    for asked in &judged {
        let round = asked.call.round as usize;
        assert_eq!(shown(asked), 4 * round, "{}: a part of every speech", asked.step);
        let size = tokens_of(&asked.call) + u64::from(asked.call.max_tokens);
        assert!(size <= 8_192 && 256 <= asked.call.max_tokens, "{}: {size}", asked.step);
    }
    let last: String = judged.last().unwrap().call.render().into_iter().map(|it| it.1).collect();
    assert_eq!(last.matches("[shortened to fit your context window: ").count(), 12);
    let cut = &outcome.integrity.cut_views;
    let told: Vec<(&str, &[u32], u32, u32)> = cut
        .iter()
        .map(|it| (it.participant.as_str(), it.rounds.as_slice(), it.shortened, it.left_out))
        .collect();
    assert_eq!(told, [("cyd", &[2, 3][..], 12, 0)]);
    assert!(outcome.verdict().is_some());
}

fn ten_rounds(panel: Panel) -> (Panel, Spec) {
    let order = spec("round-robin");
    let manner = Manner { max_tokens: 1_024, ..order.manner };
    let order = Spec { rounds: 10, manner, ..order };
    (panel.says("*", &speech(400)), order)
}

fn synthesis_by(outcome: &Outcome) -> Option<&str> {
    outcome.consensus.synthesizer.as_deref()
}

#[tokio::test(start_paused = true)]
async fn a_synthesizer_with_a_small_window_is_told_what_it_does_not_see() {
    let (panel, mut order) = ten_rounds(panel().window("bob", 4_096));
    order.settings.set("synthesizer", "bob");
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    assert!(outcome.success && synthesis_by(&outcome) == Some("bob"), "{:?}", outcome.error);
    let asked = calls_of(&table.panel.asked(), "bob", "/deciding/");
    let sent = asked[0].named(&asked[0].sent());
    assert!(sent.contains("no room for are not shown: 8 of ann, 8 of bob, 8 of cyd."), "{sent}");
    assert!(tokens_of(&asked[0].call) + u64::from(asked[0].call.max_tokens) <= 4_096);
    let bob = &outcome.integrity.cut_views[0];
    assert_eq!((bob.participant.as_str(), bob.left_out), ("bob", 24));
    assert!(bob.phases.iter().any(|it| it == "speaking"), "{:?}", bob.phases);
}

#[tokio::test(start_paused = true)]
async fn a_synthesizers_shortened_view_is_reported_as_its_own() {
    let (panel, mut order) = ten_rounds(panel().window("bob", 8_000));
    (order.rounds, order.manner.max_tokens) = (4, 512);
    order.settings.set("synthesizer", "bob");
    let (outcome, _) = table(&panel).hold(order).await;
    assert!(outcome.success && synthesis_by(&outcome) == Some("bob"), "{:?}", outcome.error);
    let told: Vec<(&str, &[String])> = outcome
        .integrity
        .cut_views
        .iter()
        .map(|it| (it.participant.as_str(), it.phases.as_slice()))
        .collect();
    assert_eq!(told, [("bob", &["deciding".to_owned()][..])]);
}

#[tokio::test(start_paused = true)]
async fn a_synthesizer_that_can_be_shown_next_to_nothing_fails_and_another_writes() {
    let (panel, mut order) = ten_rounds(panel().window("cyd", 2_000));
    order.settings.set("synthesizer", "cyd");
    order.rounds = 2;
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    assert_eq!(outcome.failed_providers, ["cyd"]);
    assert!(synthesis_by(&outcome).is_some_and(|it| it != "cyd"), "{:?}", outcome.error);
    assert!(outcome.integrity.missing[0].reason.contains("its context window is too small"));
}

#[tokio::test(start_paused = true)]
async fn summaries_are_written_by_the_judge() {
    let table = table(&panel().window("*", 9_000).window("ann", 12_000).says("*", &speech(500)).sums_up("*"));
    let mut order = debate_of_four(6);
    order.window = WindowSpec { strategy: "summarise".to_owned(), ..order.window };
    let (outcome, _) = table.hold(order).await;
    assert!(outcome.integrity.summaries > 0, "{:?}", outcome.error);
    let asked = table.panel.asked();
    let summaries: Vec<&AskedCall> =
        asked.iter().filter(|it| it.step.as_str().starts_with("summary/")).collect();
    assert!(summaries.iter().all(|it| it.call.participant.name == "cyd"), "the judge takes no side");
}
