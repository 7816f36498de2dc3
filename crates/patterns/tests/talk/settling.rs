//! Settling a question by blind answers: two at first, then one by one, until no further answer
//! could change the outcome.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::Event,
        known_voices::{Independence, KnownVoices, ResultCorrection},
        outcome::{Outcome, ResultKind, Standing},
        participant::Participant,
        spec::{Limits, Spec},
    },
    seams::Store,
};
use quorum_patterns::registry;
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};
use serde_json::json;

use crate::{results::Results, table};

/// ann, bob, cyd and dan on two options, decided by votes.
fn order() -> Spec {
    let mut order = deciding_by(spec("settle"), "voting");
    let dan = Participant { name: "dan".to_owned(), ..order.participants[0].clone() };
    order.participants.push(dan);
    order
}

async fn hold(order: Spec, panel: Panel) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

fn ballot(choice: &str, confidence: f64) -> String {
    json!({ "choice": choice, "confidence": confidence, "reasoning": "So it is." }).to_string()
}

/// ann and bob for tabs, cyd and dan for spaces, and in the second draw cyd for tabs too.
fn split() -> Panel {
    panel()
        .votes("ann", "tabs", 0.6)
        .votes("bob", "tabs", 0.6)
        .writes_in("cyd", 1, "ballot", &ballot("spaces", 0.9))
        .writes_in("cyd", 2, "ballot", &ballot("tabs", 0.6))
        .votes("dan", "spaces", 0.9)
}

#[tokio::test(start_paused = true)]
async fn what_could_not_change_the_outcome_is_not_asked_and_the_record_says_why() {
    let table = table(&panel().votes("*", "tabs", 0.9));
    let (outcome, facts) = table.hold(order()).await;
    assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
    let told: Vec<String> = facts
        .iter()
        .filter_map(|fact| match &fact.event {
            Event::Noted(noted) => noted.told.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["3 ahead, 1 left: dan not asked"]);
    assert_eq!(outcome.field::<Vec<String>>("settled"), Some(told));
    assert_eq!(
        outcome.synthesis,
        "tabs won the vote: 3 of 3 votes.\n\
         - tabs: 3 votes, from ann (0.90), bob (0.90) and cyd (0.90). ann: \"ann likes tabs\"\n\
         dan was not asked: the outcome was no longer in doubt."
    );
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 3, 3));
    assert!(outcome.success && outcome.voting_results().unwrap().unanimous);
    assert_eq!(outcome.rounds.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tie_is_drawn_once_more_blind() {
    let (outcome, table) = hold(order(), split()).await;
    let expected = [
        "0/first/ann",
        "0/first/bob",
        "0/first/cyd",
        "0/first/dan",
        "2/redraw/ann",
        "2/redraw/bob",
        "2/redraw/cyd",
    ];
    assert_eq!(table.panel.steps(), expected);
    for asked in table.panel.asked() {
        let sent: String = asked.call.render().into_iter().map(|it| it.1).collect();
        assert!(!sent.contains("<said-") && !sent.contains("So it is."), "{}: {sent}", asked.step);
    }
    // The second draw stops as soon as it is settled, too.
    let told = outcome.field::<Vec<String>>("settled").unwrap();
    assert_eq!(told, ["3 ahead, 1 left: dan not asked"]);
    let votes = outcome.voting_results().unwrap();
    assert_eq!((votes.winner.as_str(), &votes.votes["tabs"], &votes.votes["spaces"]), ("tabs", &5, &2));
    let dissent: Vec<&str> =
        outcome.consensus.dissent.iter().flatten().map(|it| it.provider.as_str()).collect();
    assert_eq!(dissent, ["cyd", "dan"], "dan was drawn once, and cyd dissented in its first draw only");
    assert_eq!(outcome.outcome.unwrap().standing, Standing::voted(ResultKind::Adopted, 5, 7));
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_is_asked_twice_dissents_once() {
    let even = panel().votes("*", "spaces", 0.9).votes("ann", "tabs", 0.6).votes("bob", "tabs", 0.6);
    let (outcome, _) = hold(order(), even).await;
    let dissent: Vec<&str> =
        outcome.consensus.dissent.iter().flatten().map(|it| it.provider.as_str()).collect();
    assert_eq!(dissent, ["ann", "bob"]);
}

#[tokio::test(start_paused = true)]
async fn a_redraw_counted_as_a_flip_and_only_a_talk_does() {
    // cyd says spaces at first and tabs in the second draw.
    let (outcome, _) = hold(order(), split()).await;
    assert_eq!(outcome.flips, []);
    let mut talked = order();
    talked.settings.set("open", "talk");
    let (outcome, _) = hold(talked, split()).await;
    let flips: Vec<_> = outcome.flips.iter().map(|it| (it.participant.as_str(), it.round)).collect();
    assert_eq!(flips, [("cyd", 2)]);
}

#[tokio::test(start_paused = true)]
async fn what_stays_tied_goes_to_the_side_that_is_surer() {
    let even = panel().votes("*", "spaces", 0.9).votes("ann", "tabs", 0.6).votes("bob", "tabs", 0.6);
    let (outcome, table) = hold(order(), even).await;
    assert_eq!(table.panel.steps().len(), 8);
    assert_eq!(outcome.voting_results().unwrap().winner, "spaces");
    let same = panel().votes("*", "spaces", 0.9).votes("ann", "tabs", 0.9).votes("bob", "tabs", 0.9);
    let (outcome, _) = hold(order(), same).await;
    assert_eq!(outcome.outcome.unwrap().standing.kind, ResultKind::Tie);
    let mut heads = order();
    heads.settings.set("weights", "off");
    let surer = panel().votes("*", "spaces", 0.9).votes("ann", "tabs", 0.6).votes("bob", "tabs", 0.6);
    let (outcome, _) = hold(heads, surer).await;
    assert_eq!(outcome.outcome.unwrap().standing.kind, ResultKind::Tie);
}

#[tokio::test(start_paused = true)]
async fn a_tie_is_talked_about_only_if_the_request_says_so() {
    let mut order = order();
    order.settings.set("open", "talk");
    let (outcome, table) = hold(order, split()).await;
    assert_eq!(table.panel.steps().len(), 8);
    let later = table.panel.asked().into_iter().find(|it| it.step.as_str() == "2/settling/ann").unwrap();
    let sent: String = later.call.render().into_iter().map(|it| it.1).collect();
    assert!(sent.contains("The vote left the question open.") && sent.contains("So it is."), "{sent}");
    // Only the votes after the talk count.
    assert_eq!(outcome.voting_results().unwrap().votes["tabs"], 3);
    let once = Spec { rounds: 1, ..self::order() };
    assert_eq!(hold(once, split()).await.1.panel.steps().len(), 4, "one round is not drawn again");
}

/// What is known of the four: ann is nearly always right, the others are hardly better than chance.
fn known(outcomes: u32) -> KnownVoices {
    let offsets = [("ann", 3.5), ("bob", 0.2), ("cyd", 0.2), ("dan", 0.2)];
    KnownVoices {
        outcomes,
        slope: 0.0,
        offsets: offsets.map(|(name, it)| (name.to_owned(), it)).into(),
        correction: ResultCorrection::default(),
        independence: Some(Independence { voices: 4, effective: 2.14, low: 1.8, high: 2.5, outcomes }),
    }
}

#[tokio::test(start_paused = true)]
async fn weights_that_were_learned_count_from_thirty_outcomes_on() {
    let against_ann = || panel().votes("*", "spaces", 0.9).votes("ann", "tabs", 0.5);
    let few = Spec { known_voices: Some(known(29)), ..order() };
    let (outcome, _) = hold(few, against_ann()).await;
    assert_eq!(outcome.voting_results().unwrap().winner, "spaces", "below 30 outcomes heads count");
    let enough = Spec { known_voices: Some(known(40)), ..order() };
    let (outcome, table) = hold(enough.clone(), against_ann()).await;
    assert_eq!(outcome.voting_results().unwrap().winner, "tabs");
    // The best one is asked first, and nobody after the answer is sure enough.
    assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob"]);
    assert_eq!(outcome.field::<f64>("probability"), Some(0.964));
    let mut heads = enough.clone();
    heads.settings.set("weights", "off");
    assert_eq!(hold(heads, against_ann()).await.0.voting_results().unwrap().winner, "spaces");
    // A vote uses them only if the request says so.
    let mut voting = Spec { pattern: "voting".to_owned(), ..enough };
    assert_eq!(hold(voting.clone(), against_ann()).await.0.voting_results().unwrap().winner, "spaces");
    voting.settings.set("weights", "learned");
    assert_eq!(hold(voting, against_ann()).await.0.voting_results().unwrap().winner, "tabs");
}

#[tokio::test(start_paused = true)]
async fn the_number_of_independent_voices_is_told_with_its_interval() {
    let order = Spec { known_voices: Some(known(120)), ..order() };
    let (outcome, _) = hold(order, panel().votes("*", "tabs", 0.9)).await;
    let told: BTreeMap<String, serde_json::Value> = outcome.field("nEff").unwrap();
    assert_eq!(told["told"], json!("4 voices, about 2.1 independent ones (1.8-2.5, 120 outcomes)"));
    assert_eq!(told["effective"], json!(2.14));
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_fails_leaves_the_rest_to_settle_it() {
    let (outcome, table) =
        hold(order(), panel().votes("*", "tabs", 0.9).fails("bob", ErrorClass::Authentication)).await;
    assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
    assert!(outcome.synthesis.contains("dan was not asked"), "{}", outcome.synthesis);
    assert!(outcome.synthesis.contains("No vote was counted from bob."), "{}", outcome.synthesis);
}

#[tokio::test(start_paused = true)]
async fn f1_settling_survives_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let mut talk = order();
    talk.settings.set("open", "talk");
    let mut drawn = order();
    drawn.settings.set("baseline", "self-consistency");
    let learned = Spec { known_voices: Some(known(200)), ..order() };
    for (order, least) in [(order(), 8), (talk, 8), (drawn, 12), (learned, 3)] {
        let deaths = resume_anywhere(store, &split(), registry(), order).await;
        assert!(deaths >= least, "died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_for_the_first_two_answers_decides_on_what_was_said() {
    let limits = Limits { calls: Some(2), ..Limits::default() };
    let (outcome, table) = hold(Spec { limits, ..order() }, panel().votes("*", "tabs", 0.9)).await;
    assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob"]);
    assert_eq!(outcome.voting_results().unwrap().winner, "tabs");
    assert!(!outcome.success, "a budget that is used up is told");
}
