//! The flow of each pattern: who is asked what, when, and after hearing whom.

use std::collections::BTreeSet;

use quorum_core::{
    call::Message,
    model::{
        error::ErrorClass,
        event::{Event, Fact},
        participant::Participant,
        spec::Spec,
    },
};
use quorum_patterns::PATTERNS;
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::spec,
    table::Table,
};
use tokio::time::Instant;

use crate::{results::Results, table};

/// The steps that were asked, in order, without those of deciding.
fn talk(table: &Table) -> Vec<String> {
    table.panel.steps().into_iter().filter(|step| !step.contains("/deciding/")).collect()
}

/// The speakers whose turns this call contains, in order.
fn heard(asked: &AskedCall) -> Vec<String> {
    let said = asked.call.messages.iter().filter_map(|message| match message {
        Message::Said { turn, .. } => Some(format!("{}{}", asked.name(&turn.participant), turn.round)),
        Message::Found { .. } | Message::Ask(_) => None,
    });
    said.collect()
}

fn asked(table: &Table, step: &str) -> AskedCall {
    table
        .panel
        .asked()
        .into_iter()
        .find(|it| it.step.as_str() == step)
        .unwrap_or_else(|| panic!("{step} was not asked"))
}

#[tokio::test(start_paused = true)]
async fn inv_disc_001_each_pattern_has_its_own_flow() {
    let expected = [
        (
            "roundtable",
            "1/speaking/ann 1/speaking/bob 1/speaking/cyd 2/speaking/ann 2/speaking/bob 2/speaking/cyd",
        ),
        (
            "round-robin",
            "1/speaking/ann 1/speaking/bob 1/speaking/cyd 2/speaking/bob 2/speaking/cyd 2/speaking/ann",
        ),
        (
            "synthesis",
            "1/answering/ann 1/answering/bob 1/answering/cyd 2/answering/ann 2/answering/bob 2/answering/cyd",
        ),
        ("voting", "0/first/ann 0/first/bob 0/first/cyd"),
        (
            "debate",
            "0/casting/cyd 1/awaiting-responses/ann 1/awaiting-responses/bob 1/judging/cyd \
             2/awaiting-responses/bob 2/awaiting-responses/ann 2/judging/cyd 2/judging/cyd/verdict",
        ),
        (
            "critique",
            "1/proposing/ann 1/critiquing/bob 1/critiquing/cyd 1/refining/ann 2/critiquing/bob 2/critiquing/cyd 2/refining/ann \
             2/checking/bob",
        ),
        (
            "dialogue",
            "1/model-a-turn/ann 1/model-b-turn/bob 1/consensus-check-a/ann 1/consensus-check-b/bob \
             2/model-a-turn/ann 2/model-b-turn/bob 2/consensus-check-a/ann 2/consensus-check-b/bob",
        ),
    ];
    for (pattern, flow) in expected {
        let table = table(&panel());
        table.hold(spec(pattern)).await;
        assert_eq!(talk(&table).join(" "), flow, "{pattern}");
    }
}

/// The phases a discussion went through, without repeats.
fn phases(facts: &[Fact]) -> BTreeSet<String> {
    let entered = facts.iter().filter_map(|fact| match &fact.event {
        Event::PhaseEntered { phase, .. } => Some(phase.to_string()),
        _ => None,
    });
    entered.collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_001_a_pattern_goes_through_every_phase_of_its_table() {
    for pattern in PATTERNS {
        let (first, next) = (pattern.phases.first, pattern.phases.next);
        let named = next.iter().flat_map(|(from, to)| to.iter().chain([from])).chain(first);
        let (_, facts) = table(&panel()).hold(spec(pattern.name)).await;
        // Some phases are for a vote without a winner.
        let tied = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9);
        let tied = tied.fails("cyd", ErrorClass::Validation);
        let (_, after_tie) = table(&tied).hold(spec(pattern.name)).await;
        let named: BTreeSet<String> = named.map(|phase| phase.0.to_owned()).collect();
        let entered: BTreeSet<String> = &phases(&facts) | &phases(&after_tie);
        assert_eq!(entered, named, "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_002_every_pattern_ends_in_a_synthesis() {
    for pattern in PATTERNS {
        let (outcome, _) = table(&panel()).hold(spec(pattern.name)).await;
        assert!(outcome.success && !outcome.synthesis.is_empty(), "{}: {:?}", pattern.name, outcome.error);
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_009_a_result_has_a_synthesis_even_if_nobody_can_write_one() {
    for pattern in PATTERNS {
        // Everyone speaks, and everyone fails at the structured questions.
        let table = table(&panel().says("*", "what was paid for").writes("*", "synthesis", ""));
        let (outcome, _) = table.hold(Spec { rounds: 1, ..spec(pattern.name) }).await;
        assert!(!outcome.synthesis.is_empty(), "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_010_a_success_needs_the_minimum_to_have_taken_part() {
    for pattern in ["round-robin", "synthesis", "voting", "critique"] {
        let table = table(&panel().fails("bob", ErrorClass::Validation).fails("cyd", ErrorClass::Validation));
        let (outcome, _) = table.hold(spec(pattern)).await;
        assert!(!outcome.success, "{pattern}");
        assert_eq!(outcome.participating_providers, ["ann"], "{pattern}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_011_one_failure_does_not_affect_the_others_answers() {
    let table = table(&panel().fails("bob", ErrorClass::Validation));
    let (outcome, _) = table.hold(Spec { rounds: 1, ..spec("synthesis") }).await;
    let round = &outcome.rounds[0];
    let contents: Vec<(&str, bool)> =
        round.responses.iter().map(|it| (it.content.as_str(), it.error.is_some())).collect();
    assert_eq!(contents, [("ann after 0", false), ("", true), ("cyd after 0", false)]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_013_a_round_robin_hears_everything_before() {
    let table = table(&panel());
    table.hold(spec("round-robin")).await;
    assert_eq!(heard(&asked(&table, "1/speaking/ann")), [""; 0]);
    assert_eq!(heard(&asked(&table, "1/speaking/cyd")), ["ann1", "bob1"]);
    assert_eq!(heard(&asked(&table, "2/speaking/bob")), ["ann1", "bob1", "cyd1"]);
    assert_eq!(heard(&asked(&table, "2/speaking/ann")), ["ann1", "bob1", "cyd1", "bob2", "cyd2"]);
}

#[tokio::test(start_paused = true)]
async fn the_same_participant_opened_every_round_of_a_round_robin() {
    let openers = async |panel: Panel, pattern: &str, rounds: u32| -> Vec<String> {
        let table = table(&panel);
        table.hold(Spec { rounds, ..spec(pattern) }).await;
        let opener = |round: u32| {
            let first = talk(&table).into_iter().find(|it| it.starts_with(&format!("{round}/"))).unwrap();
            first.rsplit('/').next().unwrap().to_owned()
        };
        (1..=rounds).map(opener).collect()
    };
    assert_eq!(openers(panel(), "round-robin", 4).await, ["ann", "bob", "cyd", "ann"]);
    let without_bob = panel().fails("bob", ErrorClass::Validation);
    assert_eq!(openers(without_bob, "round-robin", 4).await, ["ann", "cyd", "cyd", "ann"]);
    assert_eq!(openers(panel(), "roundtable", 3).await, ["ann"; 3]);
    assert_eq!(openers(panel(), "dialogue", 2).await, ["ann"; 2]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_016_nothing_of_one_discussion_enters_another() {
    let table = table(&panel().says("ann", "a secret of the first"));
    table.hold(spec("round-robin")).await;
    let before = table.panel.asked().len();
    table.hold(spec("round-robin")).await;
    let second = &table.panel.asked()[before];
    assert_eq!(heard(second), [""; 0]);
    assert!(!second.call.system.contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_103_answers_of_a_parallel_round_do_not_see_each_other() {
    let table = table(&panel().takes("ann", 1).takes("bob", 500).takes("cyd", 900));
    table.hold(spec("synthesis")).await;
    for who in ["ann", "bob", "cyd"] {
        assert_eq!(heard(&asked(&table, &format!("1/answering/{who}"))), [""; 0]);
        assert_eq!(heard(&asked(&table, &format!("2/answering/{who}"))), ["ann1", "bob1", "cyd1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_104_each_round_hears_the_rounds_before() {
    let table = table(&panel());
    table.hold(spec("critique")).await;
    assert_eq!(heard(&asked(&table, "1/critiquing/bob")), ["ann1"]);
    assert_eq!(heard(&asked(&table, "1/refining/ann")), ["ann1", "bob1", "cyd1"]);
    assert_eq!(heard(&asked(&table, "2/critiquing/cyd")), ["ann1", "bob1", "cyd1", "ann1"]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_500_synthesis_and_voting_ask_in_parallel() {
    for pattern in ["synthesis", "voting"] {
        let table = table(&panel().takes("*", 1_000));
        let began = Instant::now();
        table.hold(Spec { rounds: 1, ..spec(pattern) }).await;
        assert_eq!(began.elapsed().as_secs(), 2, "{pattern}: one round and the synthesis");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_501_rounds_and_the_whole_say_how_long_they_took() {
    let (outcome, _) = table(&panel().takes("*", 1_000)).hold(spec("round-robin")).await;
    let rounds: Vec<u64> = outcome.rounds.iter().map(|it| it.duration_ms).collect();
    assert_eq!((rounds, outcome.total_duration_ms), (vec![3_000, 3_000], 7_000));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_623_inv_disc_643_early_exit_only_after_the_minimum_of_providers() {
    for pattern in ["voting", "synthesis"] {
        let panel = panel().votes("*", "tabs", 0.99).says("*", "Sure.\n\nConfidence: 0.99");
        let table = table(&panel.takes("ann", 10).takes("bob", 20).takes("cyd", 5_000));
        let (outcome, _) = table.hold(Spec { rounds: 1, early_exit: Some(0.9), ..spec(pattern) }).await;
        assert!(outcome.success, "{pattern}: {:?}", outcome.error);
        assert_eq!(outcome.integrity.abandoned_calls, 1, "{pattern}");
        let spoke: Vec<&str> = outcome.rounds[0].responses.iter().map(|it| it.provider.as_str()).collect();
        assert_eq!(spoke, ["ann", "bob"], "{pattern}: not before two, and not after");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_622_the_confidence_asked_for_decides_on_the_early_exit() {
    let check = async |early_exit: Option<f64>, stated: f64, expected: &[&str]| {
        for pattern in ["voting", "synthesis"] {
            let sure =
                panel().votes("*", "tabs", stated).says("*", &format!("Tabs.\n\nConfidence: {stated}"));
            let table = table(&sure.takes("ann", 10).takes("bob", 20).takes("cyd", 5_000));
            let (outcome, _) = table.hold(Spec { rounds: 1, early_exit, ..spec(pattern) }).await;
            let spoke: Vec<&str> =
                outcome.rounds[0].responses.iter().map(|it| it.provider.as_str()).collect();
            assert_eq!(spoke, expected, "{pattern}: {stated} of {early_exit:?}");
        }
    };
    let (early, all) = (["ann", "bob"], ["ann", "bob", "cyd"]);
    check(Some(0.9), 0.9, &early).await;
    check(Some(0.9), 0.89, &all).await;
    check(Some(0.7), 0.7, &early).await;
    check(Some(0.7), 0.69, &all).await;
    check(None, 1.0, &all).await;
}

#[tokio::test(start_paused = true)]
async fn critique_works_with_every_number_of_rounds() {
    for rounds in 1..=10 {
        let table = table(&panel());
        let (outcome, _) = table.hold(Spec { rounds, ..spec("critique") }).await;
        assert!(outcome.success);
        assert_eq!((outcome.rounds.len() as u32, talk(&table).len() as u32), (rounds, 1 + 3 * rounds + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_critiques_author_that_fails_is_replaced() {
    let table = table(&panel().fails("ann", ErrorClass::Validation));
    let (outcome, _) = table.hold(Spec { rounds: 2, ..spec("critique") }).await;
    assert!(outcome.success && outcome.integrity.degraded, "{:?}", outcome.error);
    assert!(talk(&table).contains(&"2/refining/bob".to_owned()), "{:?}", talk(&table));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_400_when_the_author_fails_the_next_in_seating_order_goes_on_with_the_draft() {
    let fails_in = |panel: Panel, who: &str, round: u32| {
        panel.fails_at(who, &format!("{round}/refining/{who}"), ErrorClass::Validation)
    };
    let table = table(&fails_in(fails_in(panel(), "ann", 1), "bob", 2));
    let mut order = Spec { rounds: 3, ..spec("critique") };
    order.participants.push(Participant { name: "dan".to_owned(), ..order.participants[0].clone() });
    let (outcome, _) = table.hold(order).await;
    let flow = "1/proposing/ann 1/critiquing/bob 1/critiquing/cyd 1/critiquing/dan 1/refining/ann 1/refining/bob \
                2/critiquing/cyd 2/critiquing/dan 2/refining/bob 2/refining/cyd 3/critiquing/dan 3/refining/cyd \
                3/checking/dan";
    assert_eq!(talk(&table).join(" "), flow);
    assert_eq!((outcome.success, outcome.failed_providers), (true, vec!["ann".to_owned(), "bob".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_debate_of_three_rounds_closes_and_is_judged() {
    let table = table(&panel());
    let (outcome, _) = table.hold(Spec { rounds: 3, ..spec("debate") }).await;
    assert_eq!(outcome.verdict().unwrap().quality_score, Some(70.0));
    let closing = asked(&table, "3/awaiting-responses/bob");
    assert!(
        closing
            .call
            .messages
            .iter()
            .any(|it| matches!(it, Message::Ask(text) if text.to_lowercase().contains("closing")))
    );
    assert_eq!(heard(&asked(&table, "1/awaiting-responses/bob")), [""; 0], "openings are made at once");
    assert_eq!(
        heard(&asked(&table, "2/awaiting-responses/ann")),
        ["ann1", "bob1", "bob2"],
        "rebuttals in turn"
    );
    assert_eq!(
        heard(&asked(&table, "3/awaiting-responses/bob")),
        ["ann1", "bob1", "bob2", "ann2", "ann3"],
        "the last word goes round"
    );
}

/// A debate whose judge is not replaced.
fn without_another_judge() -> Spec {
    let mut order = spec("debate");
    order.settings.set("judgeFailure", "go-without");
    order
}

#[tokio::test(start_paused = true)]
async fn d13_a_debate_continues_without_its_judge() {
    let table = table(&panel().fails("cyd", ErrorClass::Authentication));
    let (outcome, _) = table.hold(without_another_judge()).await;
    assert!(outcome.success && outcome.integrity.degraded, "{:?}", outcome.error);
    assert_eq!(outcome.verdict(), None);
    assert_eq!(
        talk(&table).iter().filter(|step| step.starts_with("1/awaiting")).count(),
        2,
        "nobody had to speak again"
    );
}

#[tokio::test(start_paused = true)]
async fn d13_a_debate_with_one_debater_left_ends_with_a_verdict_on_what_there_is() {
    let table = table(&panel().fails("bob", ErrorClass::Authentication));
    let (outcome, _) = table.hold(Spec { rounds: 5, ..spec("debate") }).await;
    assert!(outcome.verdict().is_some());
    assert_eq!(talk(&table).iter().filter(|step| step.ends_with("ann")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn d06_a_judge_that_answers_in_prose_is_asked_once_more_and_nobody_else() {
    let table = table(&panel().writes("cyd", "verdict", "I liked both of them."));
    let (outcome, _) = table.hold(without_another_judge()).await;
    let judged: Vec<String> = talk(&table).into_iter().filter(|step| step.contains("/verdict")).collect();
    assert_eq!(judged, ["2/judging/cyd/verdict", "2/judging/cyd/verdict/strict"]);
    assert_eq!(outcome.verdict(), None);
    let speeches = talk(&table).iter().filter(|step| step.contains("/awaiting-responses/")).count();
    assert_eq!(speeches, 4, "the debaters are not asked again because the judge failed");
}
