//! Changes of mind: who changed position when, and why.

use quorum_core::model::{
    flips::{Flip, RoundAgreement},
    settings::Settings,
    spec::Spec,
};
use quorum_testkit::{panel::panel, spec::spec};
use serde_json::json;

use crate::table;

fn ballot(choice: &str, reasoning: &str) -> String {
    json!({"choice": choice, "confidence": 0.5, "reasoning": reasoning}).to_string()
}

fn flip(participant: &str, round: u32, (from, to): (&str, &str), reason: &str) -> Flip {
    Flip { participant: participant.into(), round, from: from.into(), to: to.into(), reason: reason.into() }
}

fn agreement(round: u32, leading: &str, agreement: f64) -> RoundAgreement {
    RoundAgreement { round, leading: leading.into(), agreement }
}

/// A vote that two of three don't decide.
fn contested(rounds: u32) -> Spec {
    Spec { rounds, settings: Settings::default().with("threshold", 0.9), ..spec("voting") }
}

#[tokio::test(start_paused = true)]
async fn every_changed_vote_is_a_flip_with_its_reason() {
    let voters = panel()
        .writes("*", "ballot", &ballot("tabs", "they adapt"))
        .writes_in("bob", 2, "ballot", &ballot("spaces", "  cyd's point on diffs  "))
        .writes_in("cyd", 1, "ballot", &ballot("spaces", "diffs"))
        .writes_in("cyd", 3, "ballot", &ballot("tabs", " "));
    let (outcome, _) = table(&voters).hold(contested(3)).await;
    let expected = [
        flip("bob", 2, ("tabs", "spaces"), "cyd's point on diffs"),
        flip("cyd", 2, ("spaces", "tabs"), "they adapt"),
        flip("bob", 3, ("spaces", "tabs"), "they adapt"),
    ];
    let mut flips = outcome.flips.clone();
    flips.sort_by(|one, other| (one.round, &one.participant).cmp(&(other.round, &other.participant)));
    assert_eq!(flips, expected);
    let expected = [agreement(1, "tabs", 0.667), agreement(2, "tabs", 0.667), agreement(3, "tabs", 1.0)];
    assert_eq!(outcome.agreement_by_round, expected);
    let held: Vec<String> = outcome
        .positions_by_round
        .iter()
        .map(|it| format!("{} {} {}", it.round, it.participant, it.position))
        .collect();
    let expected = [
        "1 ann tabs",
        "1 bob tabs",
        "1 cyd spaces",
        "2 ann tabs",
        "2 bob spaces",
        "2 cyd tabs",
        "3 ann tabs",
        "3 bob tabs",
        "3 cyd tabs",
    ];
    assert_eq!(held, expected, "everyone's position in each round, in seating order");
    let written = serde_json::to_value(&outcome).unwrap();
    assert_eq!(
        written["positionsByRound"][4],
        json!({"round": 2, "participant": "bob", "position": "spaces"})
    );
    assert_eq!(written["agreementByRound"][2], json!({"round": 3, "leading": "tabs", "agreement": 1.0}));
    assert_eq!(written["flips"][0]["participant"], outcome.flips[0].participant);
}

#[tokio::test(start_paused = true)]
async fn a_change_without_a_reason_is_unexplained() {
    let voters = panel().writes("*", "ballot", &ballot("tabs", "")).writes_in(
        "ann",
        1,
        "ballot",
        &ballot("spaces", "diffs"),
    );
    let (outcome, _) = table(&voters).hold(contested(2)).await;
    assert_eq!(outcome.flips, [flip("ann", 2, ("spaces", "tabs"), "unexplained")]);
}

#[tokio::test(start_paused = true)]
async fn a_dialogues_checks_count_as_positions() {
    let (outcome, _) = table(&panel()).hold(spec("dialogue")).await;
    let expected = [
        flip("ann", 2, ("no consensus", "consensus"), "ann thinks so"),
        flip("bob", 2, ("no consensus", "consensus"), "bob thinks so"),
    ];
    assert_eq!(outcome.flips, expected);
    let expected = [agreement(1, "", 0.0), agreement(2, "consensus", 1.0)];
    assert_eq!(outcome.agreement_by_round, expected, "two who find no consensus agree on nothing");
}

#[tokio::test(start_paused = true)]
async fn assumed_and_skipped_checks_are_not_positions() {
    let silent = panel().writes_in("ann", 3, "consensus-check", "Hm.");
    let settings = Settings::default().with("minRoundsBeforeConsensus", 2);
    let yes = "[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n[CONFIDENCE]\n80\n[REASONING]\nso";
    let no = yes.replace("YES", "NO");
    let panel = silent.writes_in("ann", 2, "consensus-check", yes).writes("bob", "consensus-check", &no);
    let (outcome, _) = table(&panel).hold(Spec { rounds: 3, settings, ..spec("dialogue") }).await;
    assert_eq!(outcome.flips, []);
    assert_eq!(outcome.agreement_by_round, [agreement(2, "consensus", 0.5), agreement(3, "", 0.0)]);
}

#[tokio::test(start_paused = true)]
async fn patterns_without_positions_have_no_flips() {
    for pattern in ["synthesis", "round-robin", "critique", "debate"] {
        let (outcome, _) = table(&panel()).hold(spec(pattern)).await;
        let written = serde_json::to_value(&outcome).unwrap();
        let ledger = ["flips", "agreementByRound", "positionsByRound"];
        assert!(ledger.iter().all(|it| written.get(it).is_none()), "{pattern}");
    }
}
