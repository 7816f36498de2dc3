//! What a result says about itself: adopted, rejected, tied, without consensus, degraded.

use quorum_core::model::{
    outcome::{Outcome, ResultKind, Standing},
    spec::Spec,
};
use quorum_patterns::CONSENSUS;
use quorum_testkit::{
    panel::{Panel, panel},
    spec::{deciding_by, spec},
};

use crate::{results::Results, table};

async fn hold(order: Spec, panel: Panel) -> Outcome {
    table(&panel).hold(order).await.0
}

fn vote(method: &str) -> Spec {
    Spec { rounds: 1, ..deciding_by(spec("voting"), method) }
}

/// A talk that is decided by votes on one participant's proposal.
fn proposal(method: &str) -> Spec {
    Spec { rounds: 1, ..deciding_by(spec("synthesis"), method) }
}

fn standing(outcome: &Outcome) -> Standing {
    outcome.outcome.unwrap().standing
}

fn dissent(outcome: &Outcome) -> Vec<(&str, &str)> {
    let views = outcome.consensus.dissent.as_ref().unwrap().iter();
    views.map(|it| (it.provider.as_str(), it.position.as_str())).collect()
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_voted_on_is_answered() {
    let outcome = hold(spec("synthesis"), panel()).await;
    assert_eq!(standing(&outcome), Standing::plain(ResultKind::Answered));
}

#[tokio::test(start_paused = true)]
async fn a_vote_that_carries_is_adopted_with_its_votes() {
    let split = panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9);
    for method in ["majority", "voting"] {
        let outcome = hold(vote(method), split.clone()).await;
        assert_eq!(standing(&outcome), Standing::voted(ResultKind::Adopted, 2, 3), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_unanimity_named_a_winner() {
    let split = panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9);
    let outcome = hold(vote("unanimous"), split).await;
    assert_eq!(standing(&outcome), Standing::voted(ResultKind::NoConsensus, 2, 3));
    assert!(
        outcome.synthesis.starts_with("tabs leads with 2 of 3 votes, but did not reach unanimity.\n"),
        "{}",
        outcome.synthesis
    );
}

#[tokio::test(start_paused = true)]
async fn a_tie_has_no_winner() {
    let mut order = vote("majority");
    order.participants.truncate(2);
    let outcome = hold(order, panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9)).await;
    assert_eq!(standing(&outcome), Standing::plain(ResultKind::Tie));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_proposal_passed_for_the_answer() {
    for method in ["majority", "voting", "unanimous"] {
        let against = panel().votes("*", "disagree", 0.9).votes("ann", "agree", 0.9);
        let outcome = hold(proposal(method), against).await;
        assert_eq!(standing(&outcome), Standing::voted(ResultKind::NotAdopted, 1, 3), "{method}");
        let adopted = hold(proposal(method), panel().votes("*", "agree", 0.9)).await;
        assert_eq!(standing(&adopted), Standing::voted(ResultKind::Adopted, 3, 3), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dialogue_that_ended_with_two_nos_passed_for_an_agreement() {
    let order = Spec { rounds: 2, ..spec("dialogue") };
    let no = "[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80\n[REASONING]\nWe differ on cost.";
    let outcome = hold(order, panel().writes("*", "consensus-check", no)).await;
    assert_eq!(standing(&outcome), Standing::voted(ResultKind::NoConsensus, 0, 2));
    assert_eq!(
        dissent(&outcome),
        [("ann", "no consensus: We differ on cost."), ("bob", "no consensus: We differ on cost.")]
    );
    assert_eq!(outcome.consensus.agreement_score, Some(0.0));
}

#[tokio::test(start_paused = true)]
async fn a_dialogue_that_agrees_is_adopted_by_both() {
    let yes = "[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n[CONFIDENCE]\n80\n[REASONING]\nYes.\n[PROPOSED_SOLUTION]\nUse tabs everywhere.";
    let outcome = hold(spec("dialogue"), panel().writes("*", "consensus-check", yes)).await;
    assert_eq!(standing(&outcome), Standing::voted(ResultKind::Adopted, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_check_that_could_not_be_read_counted_as_agreement() {
    let yes = "[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n[CONFIDENCE]\n90\n[REASONING]\nYes.";
    let order = || Spec { rounds: 2, ..spec("dialogue") };
    let half_read = panel().writes("ann", "consensus-check", yes).writes("bob", "consensus-check", "Hm.");
    let outcome = hold(order(), half_read.clone()).await;
    assert_eq!(standing(&outcome), Standing::voted(ResultKind::NoConsensus, 1, 2));
    assert_eq!(outcome.consensus.agreement_score, Some(0.5));
    let unread = hold(order(), half_read.writes_in("ann", 2, "consensus-check", "Hm.")).await;
    assert_eq!(standing(&unread), Standing::voted(ResultKind::NoConsensus, 0, 2));
    assert_eq!(unread.consensus.agreement_score, None, "round 1 is not the last word");
}

#[tokio::test(start_paused = true)]
async fn an_unread_ballot_counts_in_the_share() {
    for method in ["majority", "voting", "unanimous"] {
        let table = table(&panel().votes("*", "tabs", 0.9).writes("cyd", "ballot", "I like both."));
        let (outcome, _) = table.hold(vote(method)).await;
        let carried = method != "unanimous";
        let kind = if carried { ResultKind::Adopted } else { ResultKind::NoConsensus };
        assert_eq!(standing(&outcome), Standing::voted(kind, 2, 3), "{method}");
        let share = outcome.consensus.agreement_score.unwrap();
        assert!((share - 2.0 / 3.0).abs() < 1e-9, "{method}: {share}");
        assert_eq!((outcome.integrity.unread_replies, outcome.integrity.degraded), (1, true), "{method}");
        assert!(!outcome.voting_results().unwrap().unanimous);
        assert!(outcome.synthesis.contains("The vote of cyd could not be read."), "{}", outcome.synthesis);
    }
}

#[tokio::test(start_paused = true)]
async fn ballots_of_which_none_can_be_read_are_not_asked_for_again_to_decide() {
    for method in CONSENSUS.iter().filter(|it| it.name != "moderator") {
        let table = table(&panel().writes("*", "ballot", "I like both."));
        let (outcome, _) = table.hold(vote(method.name)).await;
        let votes = table.panel.steps().into_iter().filter(|step| step.contains("deciding"));
        let votes: Vec<String> = votes.filter(|step| step.contains("vote")).collect();
        assert_eq!(votes, Vec::<String>::new(), "{}", method.name);
        assert_eq!(
            (outcome.integrity.unread_replies, outcome.integrity.degraded),
            (3, true),
            "{}",
            method.name
        );
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_201_a_synthesizer_can_add_dissent_and_not_remove_it() {
    let silent = panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9);
    let left_out = silent.clone().writes("*", "synthesis", r#"{"synthesis":"tabs","dissent":[]}"#);
    let added = silent.writes(
        "*",
        "synthesis",
        r#"{"synthesis":"tabs","dissent":[{"participant":"bob","position":"doubts it"},{"participant":"cyd","position":"agrees, really"}]}"#,
    );
    for method in ["synthesis", "moderator"] {
        let mut order = vote(method);
        order.settings.set("synthesizer", "ann");
        let outcome = hold(order.clone(), left_out.clone()).await;
        assert_eq!(dissent(&outcome).iter().map(|it| it.0).collect::<Vec<_>>(), ["cyd"], "{method}");
        assert!(dissent(&outcome)[0].1.starts_with("spaces"), "{method}");
        let outcome = hold(order, added.clone()).await;
        let held = dissent(&outcome);
        assert_eq!((held[0].0, held[1]), ("cyd", ("bob", "doubts it")), "{method}");
        assert_eq!(held.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_synthesizers_guess_passed_for_a_measured_agreement() {
    let guess = r#"{"synthesis":"tabs","agreement":0.97}"#;
    let outcome = hold(spec("synthesis"), panel().writes("*", "synthesis", guess)).await;
    assert_eq!(outcome.consensus.agreement_score, None);
    let voted = panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9).writes("*", "synthesis", guess);
    let outcome = hold(vote("synthesis"), voted).await;
    assert_eq!(outcome.consensus.agreement_score, Some(0.667));
}
