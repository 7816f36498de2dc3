//! What detectors find, how it informs the judge, and when it ends a debate (D08).

use quorum_core::{call::Message, model::outcome::Outcome};
use quorum_patterns::debate::{DebateSpec, Format};
use quorum_testkit::{
    panel::{Panel, panel},
    table::Table,
};
use serde_json::json;

use crate::{
    results::{Results, ordered},
    table,
};

const SPEECH: &str =
    "Tabs let every reader choose a width. Nobody else is troubled by that choice, and files get smaller.";

async fn hold(panel: Panel, rounds: u32, end_on: &[&str]) -> (Outcome, Table) {
    let table = table(&panel);
    let end_on = end_on.iter().map(|it| (*it).to_owned()).collect();
    let debate = DebateSpec {
        format: Format::RoundLimited,
        round_limit: Some(rounds),
        end_on,
        ..DebateSpec::default()
    };
    let (outcome, _) = table.hold(ordered(&debate)).await;
    (outcome, table)
}

fn judged(quality: f64, novelty: f64, relevance: f64) -> String {
    let of_one = |label: &str| {
        let criteria = json!({
            "logic": 5, "evidence": 5, "engagement": 5, "novelty": novelty, "clarity": 5, "relevance": relevance,
        });
        json!({"participant": label, "strengths": [], "weaknesses": [], "score": 5, "criteria": criteria})
    };
    json!({
        "shouldContinue": true, "qualityScore": quality, "assessments": [of_one("<ann>"), of_one("<bob>")],
        "flags": {"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
        "reasoning": "", "recommendations": "",
    })
    .to_string()
}

fn asked_of_judge(table: &Table, round: u32) -> String {
    let step = format!("{round}/judging/cyd");
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
    match asked.call.messages.last() {
        Some(Message::Ask(text)) => text.to_string(),
        _ => panic!("nothing was asked"),
    }
}

fn noticed(outcome: &Outcome) -> Vec<String> {
    let told = outcome.detections().into_iter().map(|it| {
        format!("{} {} {} {}", it.round, it.detector, it.participant.as_deref().unwrap_or("*"), it.measure)
    });
    told.collect()
}

/// The round after which a detector ended the debate, and its name.
fn ended(outcome: &Outcome) -> Option<(u32, String)> {
    let end = outcome.judging()?.ended?;
    assert_eq!(end.why, "detector");
    Some((end.round, end.detail?))
}

/// Bob says something new in every round.
fn bob_goes_on(panel: Panel) -> Panel {
    panel
        .says_in("bob", 1, "Alignment breaks between editors.")
        .says_in("bob", 2, "Formatters settled on one convention long ago.")
        .says_in("bob", 3, "Diffs stay readable in every tool that exists.")
}

#[tokio::test(start_paused = true)]
async fn d08_repetition_is_recorded_with_its_measure_and_told_to_the_judge() {
    let (outcome, table) = hold(bob_goes_on(panel().says("ann", SPEECH)), 2, &[]).await;
    assert_eq!(noticed(&outcome), ["2 repetition ann trigrams", "2 repetition ann lexical"]);
    let asked = asked_of_judge(&table, 2);
    assert!(asked.contains("- repetition by @") && asked.contains("1.00 (lexical)"), "{asked}");
    assert!(!asked_of_judge(&table, 1).contains("Measured by machine"));
    assert_eq!(ended(&outcome), None, "it informs and does not decide");
}

#[tokio::test(start_paused = true)]
async fn d08_repetition_ends_a_debate_if_the_spec_says_so_and_everyone_repeats() {
    let (outcome, _) = hold(bob_goes_on(panel().says("ann", SPEECH)), 3, &["repetition"]).await;
    assert_eq!((outcome.rounds.len(), ended(&outcome)), (3, None));
    let (outcome, _) = hold(panel().says("*", SPEECH), 9, &["repetition"]).await;
    assert_eq!(ended(&outcome), Some((2, "repetition".to_owned())));
    assert!(outcome.success && outcome.verdict().is_some());
}

#[tokio::test(start_paused = true)]
async fn d08_taking_back_a_statement_is_not_a_repetition() {
    let turned = bob_goes_on(panel())
        .says_in("ann", 1, "We should adopt tabs across the whole code base.")
        .says_in("ann", 2, "We should not adopt tabs across the whole code base.");
    let (outcome, _) = hold(turned, 2, &[]).await;
    assert_eq!(noticed(&outcome), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn d08_a_quotation_is_not_the_speakers_own() {
    let quoting = bob_goes_on(panel().says_in("ann", 1, SPEECH)).says_in(
        "ann",
        2,
        &format!("> {SPEECH}\n\nThat stands; now to the screen readers, which count columns."),
    );
    let (outcome, _) = hold(quoting, 2, &[]).await;
    assert_eq!(noticed(&outcome), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn d08_diminishing_returns_over_three_rounds_end_it_if_the_spec_says_so() {
    let falling = (1..=6).fold(panel(), |panel, round| {
        let quality = 9.0 - f64::from(round);
        panel.writes_in("cyd", round, "assessment", &judged(quality, quality - 1.0, 8.0))
    });
    let (outcome, table) = hold(falling.anew(), 4, &[]).await;
    assert_eq!(outcome.rounds.len(), 4);
    let found: Vec<String> =
        noticed(&outcome).into_iter().filter(|it| it.contains("diminishing-returns")).collect();
    assert_eq!(found, ["3 diminishing-returns * judge", "4 diminishing-returns * judge"]);
    assert!(asked_of_judge(&table, 4).contains("- diminishing-returns in round 3: 6.00 (judge)"));
    let (outcome, _) = hold(falling, 6, &["diminishing-returns"]).await;
    assert_eq!(ended(&outcome), Some((3, "diminishing-returns".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn d08_drift_ends_it_if_the_spec_says_so() {
    let drifting = panel().writes_in("cyd", 2, "assessment", &judged(7.0, 7.0, 4.5));
    let (outcome, _) = hold(drifting, 5, &["repetition", "drift"]).await;
    assert_eq!(ended(&outcome), Some((2, "drift".to_owned())));
    let found: Vec<(u32, f64)> = outcome
        .detections()
        .iter()
        .filter(|it| it.detector == "drift")
        .map(|it| (it.round, it.value))
        .collect();
    assert_eq!(found, [(2, 4.5)]);
}
