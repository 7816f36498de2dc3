//! A vote is blind at first, taken again only while it is open, and counts everyone that was to
//! vote.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::Event,
        outcome::{Outcome, ResultKind, Standing},
        participant::Participant,
        settings::Settings,
        spec::{Limits, Spec},
    },
    seams::Store,
};
use quorum_patterns::{CONSENSUS, registry};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};
use serde_json::json;

use crate::{results::Results, table};

fn order(method: &str, rounds: u32) -> Spec {
    Spec { rounds, ..deciding_by(spec("voting"), method) }
}

/// A vote of two, so that it can be a tie.
fn of_two(method: &str, rounds: u32) -> Spec {
    let mut order = order(method, rounds);
    order.participants.truncate(2);
    order
}

fn ballot(choice: &str, confidence: f64, reasoning: &str) -> String {
    json!({ "choice": choice, "confidence": confidence, "reasoning": reasoning }).to_string()
}

/// ann for tabs, bob for spaces in the first round and for tabs in the second.
fn swayed() -> Panel {
    panel()
        .writes("ann", "ballot", &ballot("tabs", 0.9, "They are short."))
        .writes_in("bob", 1, "ballot", &ballot("spaces", 0.9, "They line up."))
        .writes_in("bob", 2, "ballot", &ballot("tabs", 0.6, "Short is better."))
}

fn votes(table: &Table) -> Vec<String> {
    table
        .panel
        .steps()
        .into_iter()
        .filter(|step| step.contains("/voting/") || step.starts_with("0/first/"))
        .collect()
}

/// The last message of a call.
fn question(asked: &AskedCall) -> String {
    asked.call.render().pop().unwrap().1
}

async fn hold(order: Spec, panel: Panel) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

#[tokio::test(start_paused = true)]
async fn a_vote_that_carries_is_not_taken_again() {
    for method in CONSENSUS {
        let all = panel().votes("*", "tabs", 0.9);
        let (outcome, table) = hold(order(method.name, 3), all).await;
        assert_eq!(votes(&table), ["0/first/ann", "0/first/bob", "0/first/cyd"], "{}", method.name);
        assert_eq!(outcome.rounds.len(), 1, "{}", method.name);
        assert_eq!(outcome.fields.get("firstVote"), None, "{}: there was no other", method.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tie_is_voted_on_again_until_the_rounds_are_used_up() {
    for method in CONSENSUS {
        let split = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9);
        let (outcome, table) = hold(of_two(method.name, 3), split).await;
        let expected =
            ["0/first/ann", "0/first/bob", "2/voting/ann", "2/voting/bob", "3/voting/ann", "3/voting/bob"];
        assert_eq!(votes(&table), expected, "{}", method.name);
        assert_eq!(outcome.voting_results().unwrap().tie, ["spaces", "tabs"], "{}", method.name);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_above_the_threshold_leaves_it_open() {
    let two_to_one = panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9);
    for (method, threshold, rounds) in [
        ("voting", 0.6, 1),
        ("voting", 0.7, 2),
        ("majority", 0.6, 1),
        ("majority", 0.7, 2),
        ("unanimous", 0.1, 2),
    ] {
        let settings = Settings::default().with("threshold", threshold);
        let (outcome, _) = hold(Spec { settings, ..order(method, 2) }, two_to_one.clone()).await;
        assert_eq!(outcome.rounds.len(), rounds, "{method} at {threshold}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tie_after_weighting_counts_and_not_one_of_heads() {
    let surer = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.6);
    assert_eq!(hold(of_two("voting", 2), surer.clone()).await.0.rounds.len(), 1);
    assert_eq!(hold(of_two("majority", 2), surer).await.0.rounds.len(), 2);
    let mut weighted = of_two("voting", 2);
    weighted.participants[1].weight = 1.5;
    let even = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.6);
    assert_eq!(hold(weighted, even).await.0.rounds.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_vote_that_nobody_is_sure_of_is_open() {
    for method in ["voting", "majority", "unanimous"] {
        let (outcome, _) = hold(order(method, 2), panel().votes("*", "tabs", 0.0)).await;
        assert_eq!(outcome.rounds.len(), 2, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_103_the_first_vote_is_blind() {
    let (_, table) = hold(of_two("majority", 2), swayed().takes("ann", 1).takes("bob", 500)).await;
    for asked in table.panel.asked().iter().filter(|it| it.step.as_str().starts_with("0/first/")) {
        let shown: String = asked.call.render().into_iter().map(|it| it.1).collect();
        assert!(!shown.contains("They are short.") && !shown.contains("<said-"), "{shown}");
        assert!(!shown.contains("left the question open"), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_013_a_further_vote_shows_the_reasons_and_nobodys_name_count_or_confidence() {
    let (_, table) = hold(of_two("majority", 2), swayed()).await;
    let asked = table.panel.asked();
    let again: Vec<&AskedCall> =
        asked.iter().filter(|it| it.step.as_str().starts_with("2/voting/")).collect();
    assert_eq!(again.len(), 2);
    for (asked, own) in again.iter().zip(["tabs", "spaces"]) {
        let shown = question(asked);
        assert!(shown.contains(&format!("You chose this:\n\n- {own}\n")), "{shown}");
        for reason in ["- tabs:\n> They are short.", "- spaces:\n> They line up."] {
            assert!(shown.contains(reason), "{shown}");
        }
        let told = shown.split("Vote, alone and in secret").next().unwrap();
        assert!(!["ann", "bob", "0.9", "90", "1", "2"].iter().any(|it| told.contains(it)), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_order_of_the_reasons_is_drawn_for_each_voter_and_recorded() {
    let table = table(&swayed());
    let (_, facts) = table.hold(of_two("majority", 2)).await;
    let drawn = facts.iter().filter_map(|fact| match &fact.event {
        Event::OrderDrawn { order } => Some((fact.step.as_ref().unwrap().to_string(), order.clone())),
        _ => None,
    });
    let drawn: Vec<(String, Vec<usize>)> = drawn.collect();
    let steps: Vec<&str> = drawn.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(steps, ["2/voting/ann/reasons", "2/voting/bob/reasons"]);
    for (step, order) in &drawn {
        let asked = table.panel.asked().into_iter().find(|it| step.starts_with(it.step.as_str())).unwrap();
        let shown = question(&asked);
        let tabs_first = shown.find("- tabs:") < shown.find("- spaces:");
        assert_eq!(tabs_first, order == &[0, 1], "{step}: {order:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_vote_is_reported_beside_the_last() {
    for method in CONSENSUS {
        let late = swayed().takes("ann", 500).takes("bob", 1);
        let (outcome, _) = hold(of_two(method.name, 2), late).await;
        let results = outcome.voting_results().unwrap();
        assert_eq!((results.winner.as_str(), results.unanimous), ("tabs", true), "{}", method.name);
        let first = json!({
            "winner": "", "tie": ["spaces", "tabs"], "votes": { "spaces": 1, "tabs": 1 },
            "weightedVotes": { "spaces": 0.9, "tabs": 0.9 }, "unanimous": false, "margin": 0.0,
            "voteRecords": [
                { "provider": "ann", "round": 1, "choice": "tabs", "confidence": 0.9, "reasoning": "They are short." },
                { "provider": "bob", "round": 1, "choice": "spaces", "confidence": 0.9, "reasoning": "They line up." },
            ],
        });
        assert_eq!(outcome.fields.get("firstVote"), Some(&first), "{}", method.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_voter_that_failed_left_the_count_in_silence() {
    for (method, kind) in [
        ("majority", ResultKind::Adopted),
        ("voting", ResultKind::Adopted),
        ("unanimous", ResultKind::NoConsensus),
    ] {
        let failing = panel().votes("*", "tabs", 0.9).fails("cyd", ErrorClass::Authentication);
        let (outcome, _) = hold(order(method, 1), failing).await;
        let standing = outcome.outcome.as_ref().unwrap().standing;
        assert_eq!(standing, Standing::voted(kind, 2, 3), "{method}");
        let share = outcome.consensus.agreement_score.unwrap();
        assert!((share - 2.0 / 3.0).abs() < 1e-9, "{method}: {share}");
        assert!(!outcome.voting_results().unwrap().unanimous, "{method}");
        assert!(outcome.synthesis.contains("2 of 3 votes"), "{}", outcome.synthesis);
        assert!(outcome.synthesis.contains("No vote was counted from cyd."), "{}", outcome.synthesis);
    }
}

#[tokio::test(start_paused = true)]
async fn a_voter_that_fails_leaves_it_open_where_it_could_have_decided() {
    let mut order = order("majority", 2);
    order.participants.push(Participant { name: "dan".to_owned(), ..order.participants[0].clone() });
    let failing =
        panel().votes("*", "tabs", 0.9).votes("cyd", "spaces", 0.9).fails("dan", ErrorClass::Validation);
    let (outcome, table) = hold(order, failing).await;
    assert_eq!(votes(&table).len(), 4 + 3, "2 of 4 is no majority: {:?}", votes(&table));
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::NoConsensus, 2, 4));
    assert_eq!(outcome.fields["firstVote"]["margin"], json!(0.25));
}

#[tokio::test(start_paused = true)]
async fn a_proposal_counts_a_voter_that_failed_in_the_talk() {
    let failing = panel().votes("*", "agree", 0.9).fails("cyd", ErrorClass::Authentication);
    let order = Spec { rounds: 1, ..deciding_by(spec("synthesis"), "majority") };
    let (outcome, _) = hold(order, failing).await;
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 2, 3));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_622_an_early_exit_that_carries_ends_the_vote() {
    let sure = panel().votes("*", "tabs", 0.95).takes("ann", 10).takes("bob", 20).takes("cyd", 5_000);
    let (outcome, table) = hold(Spec { early_exit: Some(0.9), ..order("majority", 3) }, sure).await;
    assert_eq!(votes(&table), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 2, 2));
    assert_eq!(outcome.metadata.early_exit.unwrap().left_out, ["cyd"]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_622_an_early_exit_with_a_tie_is_voted_on_again() {
    let split = panel().votes("*", "spaces", 0.95).votes("ann", "tabs", 0.95);
    let split = split.takes("ann", 10).takes("bob", 20).takes("cyd", 5_000);
    let (outcome, table) = hold(Spec { early_exit: Some(0.9), ..order("majority", 2) }, split).await;
    assert_eq!(votes(&table).len(), 6);
    assert_eq!(outcome.rounds.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_voter_whose_first_vote_could_not_be_read_has_none_of_its_own() {
    let unread = panel().votes("ann", "tabs", 0.9).writes_in("bob", 1, "ballot", "Hm.").writes_in(
        "bob",
        2,
        "ballot",
        &ballot("tabs", 0.9, "Well."),
    );
    let (outcome, table) = hold(of_two("unanimous", 2), unread).await;
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == "2/voting/bob").unwrap();
    let told = asked.named(&question(&asked));
    assert!(told.contains("No vote of yours could be read.") && told.contains("ann likes tabs"), "{told}");
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 2, 2));
    assert_eq!(outcome.fields["firstVote"]["unanimous"], json!(false));
}

#[tokio::test(start_paused = true)]
async fn a_first_vote_that_nobody_could_read_is_reported_as_such() {
    let unread =
        panel().writes_in("*", 1, "ballot", "Hm.").writes_in("*", 2, "ballot", &ballot("tabs", 0.9, ""));
    let (outcome, _) = hold(of_two("majority", 2), unread).await;
    assert_eq!(outcome.fields["firstVote"]["votes"], json!({ "spaces": 0, "tabs": 0 }));
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn f1_a_vote_of_several_rounds_survives_every_crash() {
    let paced = |panel: Panel| panel.takes("ann", 1).takes("bob", 2).takes("cyd", 3);
    let split = paced(
        panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9).fails("cyd", ErrorClass::Validation),
    );
    let unread =
        paced(panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9).writes("cyd", "ballot", "Hm."));
    for method in CONSENSUS {
        for panel in [&split, &unread] {
            let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
            let deaths = resume_anywhere(store, panel, registry(), order(method.name, 3)).await;
            assert!(deaths >= 8, "{} died {deaths} times only", method.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_budget_ends_a_vote_that_is_still_open() {
    let split = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9);
    let limits = Limits { calls: Some(3), ..Limits::default() };
    let (outcome, table) = hold(Spec { limits, ..of_two("majority", 3) }, split).await;
    assert!(table.panel.steps().len() <= 3, "{:?}", table.panel.steps());
    assert_eq!(outcome.fields["firstVote"]["tie"], json!(["spaces", "tabs"]));
}
