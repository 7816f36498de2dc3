//! What each method decides from the same votes.

use std::collections::BTreeSet;

use quorum_core::{
    call::Message,
    model::{
        error::{Code, ErrorClass},
        event::{Event, Fact},
        outcome::Outcome,
        spec::{ConsensusSpec, Spec, Timing},
        transcript::Turn,
    },
};
use quorum_patterns::{CONSENSUS, PATTERNS};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
};

use crate::{results::Results, table};

/// One round of votes by ann, bob and cyd, decided by this method.
async fn vote(method: &str, votes: [(&str, f64); 3]) -> Outcome {
    let [ann, bob, cyd] = votes;
    let panel = panel().votes("ann", ann.0, ann.1).votes("bob", bob.0, bob.1).votes("cyd", cyd.0, cyd.1);
    table(&panel).hold(Spec { rounds: 1, ..deciding_by(spec("voting"), method) }).await.0
}

fn winner(outcome: &Outcome) -> Option<String> {
    outcome.voting_results().map(|it| it.winner)
}

#[tokio::test(start_paused = true)]
async fn majority_counts_heads_and_voting_weighs_them() {
    let votes = [("tabs", 0.3), ("tabs", 0.3), ("spaces", 0.95)];
    let by_heads = vote("majority", votes).await;
    assert_eq!((by_heads.success, winner(&by_heads)), (true, Some("tabs".to_owned())));
    let by_weight = vote("voting", votes).await;
    assert_eq!((by_weight.success, winner(&by_weight)), (true, Some("spaces".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_participants_weight_counts_in_voting() {
    let mut order = Spec { rounds: 1, ..deciding_by(spec("voting"), "voting") };
    order.participants[2].weight = 3.0;
    let panel = panel().votes("ann", "tabs", 0.6).votes("bob", "tabs", 0.6).votes("cyd", "spaces", 0.6);
    let (outcome, _) = table(&panel).hold(order).await;
    assert_eq!(winner(&outcome).as_deref(), Some("spaces"));
}

#[tokio::test(start_paused = true)]
async fn unanimous_fails_on_one_dissent_and_keeps_what_was_paid_for() {
    let outcome = vote("unanimous", [("tabs", 0.9), ("tabs", 0.9), ("spaces", 0.1)]).await;
    assert!(!outcome.success);
    assert_eq!(outcome.error.as_ref().unwrap().code, Code::ConsensusFailed);
    assert_eq!(outcome.rounds[0].responses.len(), 3);
    assert!(!outcome.synthesis.is_empty());
    assert!(vote("unanimous", [("tabs", 0.9), ("tabs", 0.1), ("tabs", 0.4)]).await.success);
}

#[tokio::test(start_paused = true)]
async fn the_threshold_decides() {
    let votes = panel().votes("ann", "tabs", 0.9).votes("bob", "tabs", 0.9).votes("cyd", "spaces", 0.9);
    for (threshold, success) in [(0.6, true), (0.7, false)] {
        for method in ["voting", "majority"] {
            let mut order = deciding_by(Spec { rounds: 1, ..spec("voting") }, method);
            order.settings.set("threshold", threshold);
            let (outcome, _) = table(&votes).hold(order).await;
            assert_eq!(outcome.success, success, "{method} at {threshold}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tie_is_reported_as_a_tie() {
    let mut order = Spec { rounds: 1, ..deciding_by(spec("voting"), "majority") };
    order.participants.truncate(2);
    let (outcome, _) =
        table(&panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9)).hold(order).await;
    let results = outcome.voting_results().unwrap();
    assert_eq!((results.winner.as_str(), results.tie), ("", vec!["spaces".to_owned(), "tabs".to_owned()]));
    let problem = outcome.error.unwrap();
    assert!(problem.message.contains("tie"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_vote_for_javascript_is_not_one_for_java() {
    let order = Spec {
        rounds: 1,
        options: vec!["Java".into(), "JavaScript".into()],
        ..deciding_by(spec("voting"), "majority")
    };
    let panel =
        panel().votes("ann", "JavaScript", 0.9).votes("bob", "JavaScript", 0.9).votes("cyd", "Java", 0.9);
    let (outcome, _) = table(&panel).hold(order).await;
    let results = outcome.voting_results().unwrap();
    assert_eq!(results.votes, [("Java".to_owned(), 1), ("JavaScript".to_owned(), 2)].into());
}

#[tokio::test(start_paused = true)]
async fn a_vote_for_an_unknown_option_is_reminded_and_does_not_count() {
    let table = table(&panel().votes("cyd", "vim", 1.0));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..deciding_by(spec("voting"), "majority") }).await;
    assert_eq!(outcome.voting_results().unwrap().vote_records.len(), 2);
    let reminded: Vec<String> =
        table.panel.steps().into_iter().filter(|step| step.contains("remind")).collect();
    assert_eq!(reminded, ["0/first/cyd/remind1", "0/first/cyd/remind2"]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_201_dissent_is_filled_for_every_method() {
    for method in CONSENSUS {
        let split = panel().votes("cyd", "spaces", 0.9).writes(
            "*",
            "synthesis",
            r#"{"synthesis":"tabs","agreement":0.6,"dissent":[{"participant":"cyd","position":"spaces"}]}"#,
        );
        let (outcome, _) =
            table(&split).hold(Spec { rounds: 1, ..deciding_by(spec("voting"), method.name) }).await;
        let dissent = outcome.consensus.dissent.unwrap();
        assert_eq!(
            dissent.iter().map(|it| it.provider.as_str()).collect::<Vec<_>>(),
            ["cyd"],
            "{}",
            method.name
        );
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_201_dissent_can_be_switched_off() {
    let order = spec("synthesis");
    let consensus = ConsensusSpec { include_dissent: false, ..order.consensus.clone() };
    let (outcome, _) = table(&panel()).hold(Spec { consensus, ..order }).await;
    assert_eq!(outcome.consensus.dissent, None);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_202_all_votes_are_recorded_with_their_confidence() {
    let outcome = vote("voting", [("tabs", 0.9), ("tabs", 0.2), ("spaces", 0.7)]).await;
    let results = outcome.voting_results().unwrap();
    let ballots: Vec<(&str, &str, f64)> = results
        .vote_records
        .iter()
        .map(|it| (it.provider.as_str(), it.choice.as_str(), it.confidence))
        .collect();
    assert_eq!(ballots, [("ann", "tabs", 0.9), ("bob", "tabs", 0.2), ("cyd", "spaces", 0.7)]);
    assert!(results.vote_records.iter().all(|it| !it.reasoning.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_202_votes_are_in_the_result_whatever_the_method() {
    for method in CONSENSUS {
        let outcome = vote(method.name, [("tabs", 0.9), ("tabs", 0.2), ("spaces", 0.7)]).await;
        assert_eq!(outcome.voting_results().unwrap().vote_records.len(), 3, "{}", method.name);
    }
}

/// A speech: its step, and what was said.
type Speech = (String, String);

/// The speeches this call was shown, in the order of their steps.
fn shown(asked: &AskedCall) -> BTreeSet<Speech> {
    let said = asked.call.messages.iter().filter_map(|message| match message {
        Message::Said { turn, .. } => Some((turn.step.to_string(), asked.named(&turn.text))),
        Message::Found { .. } | Message::Ask(_) => None,
    });
    said.collect()
}

/// The speeches on record: all that was said in answer to a question without a form.
fn spoken(asked: &[AskedCall], facts: &[Fact]) -> BTreeSet<Speech> {
    let is_speech = |turn: &Turn| asked.iter().any(|it| it.step == turn.step && it.call.shape.is_none());
    let said = facts.iter().filter_map(|fact| match &fact.event {
        Event::TurnCompleted { turn } if is_speech(turn) => {
            Some((turn.step.to_string(), turn.text.to_string()))
        }
        _ => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_200_the_synthesizer_is_shown_every_speech_of_every_pattern() {
    let apart =
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80\n[REASONING]\nThey are too far apart.";
    for pattern in PATTERNS {
        let table = table(&panel().writes("*", "consensus-check", apart));
        let mut order = spec(pattern.name);
        // Without a name, a critique's answer is its last refinement.
        order.settings.set("synthesizer", "ann");
        let (_, facts) = table.hold(order).await;
        let asked = table.panel.asked();
        let synthesis = asked.iter().find(|it| it.step.as_str().ends_with("/deciding/ann"));
        let synthesis = synthesis.unwrap_or_else(|| panic!("{}: nobody wrote a synthesis", pattern.name));
        assert_eq!(shown(synthesis), spoken(&asked, &facts), "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_200_the_synthesizer_of_a_vote_is_shown_every_reason() {
    let split = panel().votes("ann", "tabs", 0.9).votes("bob", "tabs", 0.8).votes("cyd", "spaces", 0.7);
    let table = table(&split);
    table.hold(Spec { rounds: 1, ..spec("voting") }).await;
    let asked = table.panel.asked().pop().unwrap();
    assert_eq!(asked.step.as_str(), "1/deciding/ann");
    let prompt = asked.named(&asked.sent());
    let votes = "ann voted for tabs:\n> ann likes tabs\n\
                 bob voted for tabs:\n> bob likes tabs\n\
                 cyd voted for spaces:\n> cyd likes spaces\n";
    assert!(prompt.contains(votes), "{prompt}");
}

#[tokio::test(start_paused = true)]
async fn a_synthesizer_that_fails_is_replaced_and_a_moderator_is_not() {
    let failing = || panel().fails("cyd", ErrorClass::Authentication);
    let named = |method: &str| {
        let mut order = spec("debate");
        order.consensus.method = method.to_owned();
        order.settings.set("synthesizer", "cyd");
        order
    };
    let (outcome, _) = table(&failing()).hold(named("synthesis")).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(outcome.consensus.synthesizer.as_deref(), Some("ann"));
    let (outcome, _) = table(&failing()).hold(named("moderator")).await;
    assert_eq!(outcome.error.unwrap().code, Code::SynthesisFailed);
    assert!(!outcome.synthesis.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_synthesis_in_prose_is_kept_as_the_text_and_not_paid_for_twice() {
    let table = table(&panel().writes("*", "synthesis", "Tabs, all things considered."));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..spec("synthesis") }).await;
    assert_eq!(
        (outcome.synthesis.as_str(), outcome.consensus.agreement_score),
        ("Tabs, all things considered.", None)
    );
    assert_eq!(table.panel.steps().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn without_options_a_proposal_is_drafted_and_voted_on() {
    for (method, success) in [("unanimous", false), ("majority", true), ("voting", true)] {
        let panel: Panel =
            panel().votes("ann", "agree", 0.9).votes("bob", "agree", 0.8).votes("cyd", "disagree", 0.3);
        let table = table(&panel);
        let (outcome, _) = table.hold(Spec { rounds: 1, ..deciding_by(spec("synthesis"), method) }).await;
        assert_eq!(outcome.success, success, "{method}: {:?}", outcome.error);
        assert_eq!(outcome.synthesis, "ann made this of 3 turns", "{method}");
        assert_eq!(outcome.consensus.dissent.unwrap()[0].provider, "cyd", "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn votes_that_arrived_before_a_stop_are_counted_and_not_asked_for_again() {
    let table = table(&panel().takes("ann", 100).takes("bob", 200).takes("cyd", 100_000));
    let timing = Timing { step_ms: 300_000, total_ms: 30_000, reserve_ms: 10_000 };
    let order = Spec { rounds: 1, timing, ..deciding_by(spec("voting"), "majority") };
    let (outcome, _) = table.hold(order).await;
    assert_eq!(outcome.voting_results().unwrap().votes["tabs"], 2);
    assert_eq!(outcome.error.unwrap().code, Code::DiscussionTimeout);
    assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_reminded_once_the_votes_are_enough() {
    let panel = panel().votes("*", "tabs", 0.99).writes("ann", "ballot", "Hm.");
    let table = table(&panel.takes("ann", 10).takes("bob", 20).takes("cyd", 30));
    let order = Spec { rounds: 1, early_exit: Some(0.9), ..deciding_by(spec("voting"), "majority") };
    let (outcome, _) = table.hold(order).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(table.panel.steps().len(), 3, "{:?}", table.panel.steps());
}
