//! The two-model dialogue of requirement A.

use std::sync::Arc;

use quorum_core::{
    call::Message,
    memory::MemoryStore,
    model::{
        error::{Code, ErrorClass},
        outcome::{Outcome, StoppingReason},
        settings::Settings,
        spec::Spec,
    },
    seams::Store,
};
use quorum_patterns::registry;
use quorum_testkit::{
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};

use crate::{results::Results, table};

fn reply(answer: &str, confidence: u32, solution: &str) -> String {
    format!(
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n{confidence}\n[REASONING]\nbecause\n[PROPOSED_SOLUTION]\n{solution}"
    )
}

async fn hold(panel: Panel, order: Spec) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

fn checks(table: &Table) -> Vec<String> {
    table.panel.steps().into_iter().filter(|step| step.contains("check")).collect()
}

#[tokio::test(start_paused = true)]
async fn a01_a_opens_and_they_alternate() {
    let (_, table) = hold(panel(), Spec { rounds: 1, ..spec("dialogue") }).await;
    assert_eq!(table.panel.steps()[..2], ["1/model-a-turn/ann", "1/model-b-turn/bob"]);
}

#[tokio::test(start_paused = true)]
async fn a04_both_agreeing_ends_it_with_the_solution_and_no_further_call() {
    let yes = panel()
        .writes("ann", "consensus-check", &reply("YES", 70, "Use tabs for indentation."))
        .writes("bob", "consensus-check", &reply("YES", 90, "Use tabs, and spaces for alignment."));
    let (outcome, table) = hold(yes, Spec { rounds: 10, ..spec("dialogue") }).await;
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::named("consensus_reached")));
    assert_eq!(outcome.synthesis, "Use tabs, and spaces for alignment.", "a10 the more confident one's");
    assert_eq!(table.panel.steps().len(), 4);
    let agreed = outcome.final_consensus().unwrap();
    assert_eq!((agreed.achieved_at_round, agreed.model_a_contribution.as_str()), (1, "ann after 0"));
    assert_eq!(agreed.model_b_contribution, "bob after 0", "a16 both contributions");
}

#[tokio::test(start_paused = true)]
async fn a10_equal_confidence_takes_as_solution() {
    let yes = panel().writes("ann", "consensus-check", &reply("YES", 80, "The solution of ann.")).writes(
        "bob",
        "consensus-check",
        &reply("YES", 80, "The solution of bob."),
    );
    let (outcome, _) = hold(yes, spec("dialogue")).await;
    assert_eq!(outcome.synthesis, "The solution of ann.");
}

#[tokio::test(start_paused = true)]
async fn a10_either_is_enough_when_asked_for() {
    let split = panel().writes("ann", "consensus-check", &reply("NO", 80, "No consensus yet.")).writes(
        "bob",
        "consensus-check",
        &reply("YES", 60, "The solution of bob."),
    );
    let settings = Settings::default().with("requireBothConsensus", false);
    let (outcome, _) = hold(split, Spec { settings, ..spec("dialogue") }).await;
    assert_eq!(outcome.synthesis, "The solution of bob.");
    assert_eq!(outcome.consensus.dissent.unwrap()[0].provider, "ann");
}

#[tokio::test(start_paused = true)]
async fn a10_before_the_minimum_of_rounds_both_votes_are_recorded_as_skipped() {
    let settings = Settings::default().with("minRoundsBeforeConsensus", 2);
    let (outcome, table) = hold(panel(), Spec { settings, rounds: 2, ..spec("dialogue") }).await;
    let first = &outcome.consensus_checks()[0];
    assert!(first.skipped && !first.agreed);
    assert!(first.votes.iter().all(|(_, vote)| !vote.agrees && vote.confidence == 0));
    assert_eq!(checks(&table), ["2/consensus-check-a/ann", "2/consensus-check-b/bob"]);
}

#[tokio::test(start_paused = true)]
async fn a_seed_bug_the_loop_does_not_run_one_round_more_than_asked() {
    let no = panel().writes("*", "consensus-check", &reply("NO", 50, "No consensus yet."));
    let (outcome, table) = hold(no, Spec { rounds: 3, ..spec("dialogue") }).await;
    assert_eq!(outcome.rounds.len(), 3);
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::named("max_iterations")));
    assert!(!outcome.synthesis.is_empty());
    assert_eq!(table.panel.steps().iter().filter(|step| step.contains("model-a-turn")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a09_an_unreadable_vote_is_reminded_twice_and_then_an_uncertain_no() {
    let odd = panel().writes("ann", "consensus-check", "Hm.");
    let (outcome, table) = hold(odd, Spec { rounds: 1, ..spec("dialogue") }).await;
    let expected = [
        "1/consensus-check-a/ann",
        "1/consensus-check-a/ann/remind1",
        "1/consensus-check-a/ann/remind2",
        "1/consensus-check-b/bob",
    ];
    assert_eq!(checks(&table), expected);
    let vote = &outcome.consensus_checks()[0].votes[0].1;
    assert_eq!((vote.agrees, vote.confidence), (false, 0));
    assert_eq!(outcome.integrity.unread_replies, 1);
}

#[tokio::test(start_paused = true)]
async fn a08_phrases_are_read_and_said_to_be_inferred() {
    let loose = panel().writes("*", "consensus-check", "We have reached consensus on this.");
    let (outcome, _) = hold(loose, Spec { rounds: 1, ..spec("dialogue") }).await;
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::named("consensus_reached")));
    assert_eq!(outcome.integrity.inferred_readings, 2);
    assert!(outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn a_seed_bug_a_reply_that_begins_with_no_is_a_no() {
    let no = panel().writes("*", "consensus-check", "NO. I agree with parts of it, but we are not there.");
    let (outcome, _) = hold(no, Spec { rounds: 1, ..spec("dialogue") }).await;
    assert!(outcome.consensus_checks().iter().all(|check| !check.agreed));
}

#[tokio::test(start_paused = true)]
async fn a11_both_hear_everything_and_votes_are_not_speeches() {
    let (_, table) = hold(panel(), Spec { rounds: 2, ..spec("dialogue") }).await;
    let second = table.panel.asked().into_iter().find(|it| it.step.as_str() == "2/model-a-turn/ann").unwrap();
    let said: Vec<(bool, String)> = second
        .call
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Said { turn, own } => Some((*own, second.named(&turn.text))),
            Message::Found { .. } | Message::Ask(_) => None,
        })
        .collect();
    assert_eq!(said, [(true, "ann after 0".to_owned()), (false, "bob after 0".to_owned())]);
    assert!(second.call.system.to_lowercase().contains("partner"));
}

#[tokio::test(start_paused = true)]
async fn a11_both_partners_first_answer_on_their_own() {
    let (_, table) =
        hold(panel().says("ann", "Tabs, of course."), Spec { rounds: 2, ..spec("dialogue") }).await;
    let shown = |step: &str| {
        let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
        let said = asked.call.messages.iter().filter(|it| matches!(it, Message::Said { .. })).count();
        (said, asked.call.render().into_iter().any(|it| it.1.contains("Tabs, of course.")))
    };
    assert_eq!(shown("1/model-a-turn/ann"), (0, false));
    assert_eq!(shown("1/model-b-turn/bob"), (0, false));
    assert_eq!(shown("1/consensus-check-a/ann"), (2, true), "from then on both see everything");
    assert_eq!(shown("2/model-a-turn/ann"), (2, true));
    assert_eq!(shown("2/model-b-turn/bob"), (3, true));
    let turns: Vec<String> = table.panel.steps().into_iter().filter(|it| it.contains("-turn/")).collect();
    let expected = ["1/model-a-turn/ann", "1/model-b-turn/bob", "2/model-a-turn/ann", "2/model-b-turn/bob"];
    assert_eq!(turns, expected, "A always opens");
}

#[tokio::test(start_paused = true)]
async fn a13_votes_have_a_low_temperature_and_a_short_limit() {
    let (_, table) = hold(panel(), Spec { rounds: 1, ..spec("dialogue") }).await;
    let vote =
        table.panel.asked().into_iter().find(|it| it.step.as_str() == "1/consensus-check-a/ann").unwrap();
    assert_eq!((vote.call.temperature, vote.call.max_tokens), (0.3, 1_024));
}

#[tokio::test(start_paused = true)]
async fn a14_a_failed_turn_has_its_code_role_and_round() {
    for (class, code, retryable) in [
        (ErrorClass::Authentication, Code::ProviderError, false),
        (ErrorClass::ApiError, Code::TurnFailed, true),
        (ErrorClass::Timeout, Code::TurnTimeout, true),
    ] {
        let (outcome, _) = hold(panel().fails("bob", class), spec("dialogue")).await;
        let problem = outcome.error.unwrap();
        assert_eq!(
            (problem.code, problem.participant.as_deref(), problem.round),
            (code, Some("bob"), Some(1))
        );
        assert_eq!(problem.retryable, retryable, "{class:?}");
        assert_eq!(outcome.stopping_reason, Some(StoppingReason::MODEL_UNAVAILABLE));
        assert!(!outcome.synthesis.is_empty(), "what ann said is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn a17_tokens_are_summed_per_model_over_turns_and_votes() {
    let (outcome, _) =
        hold(panel().uses("ann", 10, 1).uses("bob", 20, 2), Spec { rounds: 2, ..spec("dialogue") }).await;
    let costs = outcome.metadata.cost_summary.by_provider;
    assert_eq!((costs["ann"].prompt_tokens, costs["ann"].completion_tokens), (40, 4));
    assert_eq!((costs["bob"].prompt_tokens, costs["bob"].completion_tokens), (80, 8));
}

#[tokio::test(start_paused = true)]
async fn a14_a_dialogue_whose_partner_is_absent_at_seating_lists_it_as_failed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let alone = Table::over(store.clone(), &panel().away("bob"), registry());
    let id = alone.open(spec("dialogue")).await.unwrap();
    let outcome = alone.run(id).await.unwrap().outcome();
    assert_eq!((outcome.success, outcome.failed_providers), (false, vec!["bob".to_owned()]));
    assert!(outcome.integrity.missing[0].reason.starts_with("not available: "));
    // After a retry with bob back, no participant is missing.
    let outcome = Table::over(store, &panel(), registry()).run(id).await.unwrap().outcome();
    assert_eq!((outcome.success, outcome.failed_providers), (true, Vec::new()));
}
