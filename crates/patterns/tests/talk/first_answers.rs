//! First answers: asked blind before the talk wherever there are options, and what results say
//! about them.

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::Fork,
        id::{DiscussionId, Step},
        outcome::Outcome,
        participant::{Participant, Role},
        spec::{Limits, Spec},
    },
    seams::Store,
};
use quorum_patterns::{PATTERNS, first, registry};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};
use serde_json::{Value, json};

use crate::{results::Results, table};

fn options() -> Vec<String> {
    ["tabs", "spaces"].map(str::to_owned).to_vec()
}

fn order(pattern: &str, method: &str) -> Spec {
    Spec { options: options(), ..deciding_by(spec(pattern), method) }
}

async fn hold(order: Spec, panel: Panel) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

fn firsts(table: &Table) -> Vec<String> {
    table.panel.steps().into_iter().filter(|it| it.starts_with("0/first/")).collect()
}

fn told(outcome: &Outcome) -> String {
    outcome.field::<Value>("firstDecision").unwrap()["told"].as_str().unwrap().to_owned()
}

fn ballot(choice: &str) -> String {
    json!({ "choice": choice, "confidence": 0.8, "reasoning": "So it is." }).to_string()
}

#[tokio::test(start_paused = true)]
async fn every_pattern_asks_for_first_answers_with_the_same_question() {
    let mut asked_before: Option<(String, String)> = None;
    for pattern in PATTERNS {
        let (outcome, table) = hold(order(pattern.name, "majority"), panel().votes("*", "tabs", 0.9)).await;
        let steps = table.panel.steps();
        assert!(steps[0].starts_with("0/first/ann"), "{}: {steps:?}", pattern.name);
        let asked = table.panel.asked().swap_remove(0);
        assert_eq!(asked.call.max_tokens, 200, "{}", pattern.name);
        let task = asked.call.render().pop().unwrap().1;
        assert!(task.starts_with("Give your first answer, alone and in secret."), "{task}");
        // The others' labels are drawn anew in each discussion.
        let system = asked.named(&asked.call.system);
        let here = (system, task);
        if pattern.name != "dialogue" && pattern.name != "debate" {
            assert_eq!(asked_before.get_or_insert(here.clone()), &here, "{}", pattern.name);
        }
        let said: Vec<&str> =
            outcome.rounds.iter().flat_map(|it| &it.responses).map(|it| it.provider.as_str()).collect();
        assert!(!said.is_empty() && outcome.rounds[0].round_number == 1, "{}", pattern.name);
        let shown = outcome.field::<Vec<Value>>("firstAnswers");
        assert_eq!(shown.is_some(), !pattern.votes, "{}", pattern.name);
        assert!(told(&outcome).starts_with("The first answers alone would have decided"), "{}", pattern.name);
        assert_eq!(outcome.field::<f64>("firstAgreement"), Some(1.0), "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_answer_named_the_role_of_whoever_gave_it() {
    let mut order = order("roundtable", "synthesis");
    order.participants[0].role = Role::named("manager");
    let (_, table) = hold(order, panel()).await;
    let begins = |step: &str| {
        let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
        asked.named(asked.call.system.split(" in a discussion").next().unwrap())
    };
    assert_eq!(begins("0/first/ann"), "You are ann");
    assert_eq!(begins("1/speaking/ann"), "You are ann (manager)");
}

#[tokio::test(start_paused = true)]
async fn first_answers_are_shown_to_nobody_and_stand_beside_the_rounds() {
    let (outcome, table) =
        hold(order("synthesis", "majority"), panel().writes("*", "ballot", &ballot("tabs"))).await;
    assert_eq!(firsts(&table), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
    for asked in table.panel.asked().iter().filter(|it| it.step.as_str().contains("/answering/")) {
        let sent: String = asked.call.render().into_iter().map(|it| it.1).collect();
        assert!(!sent.contains("So it is."), "{}: {sent}", asked.step);
    }
    let row = |who: &str| json!({ "provider": who, "choice": "tabs", "confidence": 0.8 });
    assert_eq!(outcome.field::<Vec<Value>>("firstAnswers"), Some(["ann", "bob", "cyd"].map(row).to_vec()));
    assert_eq!(outcome.rounds.len(), 2);
    assert!(outcome.rounds.iter().all(|it| it.responses.len() == 3));
    assert_eq!(outcome.positions_by_round, []);
}

#[tokio::test(start_paused = true)]
async fn first_answers_can_be_left_out_and_need_options() {
    let mut without = order("synthesis", "majority");
    without.settings.set("noFirst", true);
    let (outcome, table) = hold(without, panel()).await;
    assert_eq!(firsts(&table), [""; 0]);
    assert_eq!(outcome.fields.get("firstAnswers"), None);
    let (_, table) = hold(deciding_by(spec("synthesis"), "majority"), panel()).await;
    assert_eq!(firsts(&table), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_will_be_graded_has_first_answers_without_options() {
    let graded = Spec { graded: true, ..spec("synthesis") };
    let answers = panel()
        .writes("*", "short-answer", r#"{"reasoning": "6 times 7", "answer": "42", "confidence": 0.9}"#)
        .writes("cyd", "short-answer", "I say so.\nAnswer: 41");
    let (outcome, table) = hold(graded, answers).await;
    assert_eq!(firsts(&table), ["0/first/ann", "0/first/bob", "0/first/cyd"]);
    let rows = outcome.field::<Vec<Value>>("firstAnswers").unwrap();
    assert_eq!(rows[2], json!({ "provider": "cyd", "choice": "41", "confidence": 0.5 }));
    assert_eq!(told(&outcome), "The first answers alone would have decided 42 (2 of 3 first answers).");
}

#[tokio::test(start_paused = true)]
async fn a_first_majority_that_talk_overturns_is_told() {
    let swayed = panel()
        .writes_in("*", 0, "ballot", &ballot("tabs"))
        .writes_in("cyd", 0, "ballot", &ballot("spaces"))
        .writes_in("*", 2, "ballot", &ballot("spaces"));
    let (outcome, _) = hold(order("synthesis", "majority"), swayed).await;
    assert_eq!(outcome.field::<bool>("overturned"), Some(true));
    assert_eq!(
        told(&outcome),
        "The talk overturned the first answers: they would have decided tabs (2 of 3 first answers), not spaces. \
         A first majority that talk overturns is often right: check the reasons for the change."
    );
    assert_eq!(outcome.field::<f64>("firstAgreement"), Some(0.667));
}

#[tokio::test(start_paused = true)]
async fn unanimity_that_only_talk_brought_is_told() {
    let swayed = panel()
        .writes_in("*", 0, "ballot", &ballot("tabs"))
        .writes_in("cyd", 0, "ballot", &ballot("spaces"))
        .writes_in("*", 2, "ballot", &ballot("tabs"));
    let (outcome, _) = hold(order("synthesis", "majority"), swayed).await;
    assert_eq!(outcome.field::<bool>("overturned"), Some(false));
    assert_eq!(
        told(&outcome),
        "The first answers alone would have decided the same, tabs (2 of 3 first answers). They were not \
         unanimous; unanimity that only talk brings is weaker evidence than the votes suggest."
    );
}

#[tokio::test(start_paused = true)]
async fn a_tie_of_first_answers_overturns_nothing() {
    let even = panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9);
    let mut order = order("synthesis", "voting");
    order.participants.truncate(2);
    let (outcome, _) = hold(order, even).await;
    assert_eq!(outcome.fields.get("overturned"), None);
    assert_eq!(told(&outcome), "The first answers alone would have been a tie between spaces and tabs.");
}

#[tokio::test(start_paused = true)]
async fn a_fork_with_another_pattern_shares_the_first_answers() {
    let table = table(&panel().votes("*", "tabs", 0.9));
    let origin = table.open(order("synthesis", "majority")).await.unwrap();
    table.run(origin).await.unwrap();
    for pattern in ["voting", "settle", "round-robin"] {
        let before = table.panel.asked().len();
        let fork = Fork { of: origin, at: Step::from("0/first/cyd") };
        let id = DiscussionId::fresh();
        table.engine.fork_as(id, fork, order(pattern, "majority")).await.unwrap();
        table.run(id).await.unwrap();
        let asked: Vec<String> = table.panel.asked()[before..].iter().map(|it| it.step.to_string()).collect();
        assert!(!asked.iter().any(|it| it.starts_with("0/first/")), "{pattern}: {asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f1_first_answers_survive_every_crash_in_every_pattern() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let panel = panel().takes("ann", 1).takes("bob", 2).takes("cyd", 3);
    for pattern in PATTERNS.iter().filter(|it| !it.votes) {
        let mut order = order(pattern.name, "majority");
        order.settings.set("baseline", "self-consistency");
        let deaths = resume_anywhere(store, &panel, registry(), Spec { rounds: 1, ..order }).await;
        assert!(deaths >= 8, "{} died {deaths} times only", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_fails_at_its_first_answer_is_out_and_the_others_go_on() {
    let failing = panel().votes("*", "tabs", 0.9).fails_at("bob", "0/first/bob", ErrorClass::Authentication);
    let (outcome, table) = hold(order("synthesis", "majority"), failing).await;
    assert!(!table.panel.steps().iter().any(|it| it == "1/answering/bob"));
    assert_eq!(outcome.field::<Vec<Value>>("firstAnswers").unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_baseline_is_told_with_its_cost_inside_the_budget() {
    let baseline = |outcome: &Outcome| outcome.field::<Value>("baseline").unwrap();
    let asking = |kind: &str| {
        let mut order = order("synthesis", "majority");
        order.settings.set("baseline", kind);
        order
    };
    let votes = || panel().votes("*", "tabs", 0.9).votes("ann", "spaces", 0.9);
    let (outcome, table) = hold(asking("majority"), votes()).await;
    let (calls, found) = (table.panel.steps().len(), baseline(&outcome));
    assert_eq!(
        (&found["answer"], &found["same"], &found["cost"]),
        (&json!("tabs"), &json!(true), &json!(0.0))
    );
    assert_eq!(found["told"], json!("A plain vote on the first answers would have decided the same, tabs."));
    let (outcome, table) = hold(asking("single"), votes()).await;
    assert_eq!(table.panel.steps().len(), calls, "it takes no call");
    assert_eq!(
        baseline(&outcome)["told"],
        json!("The first answer of the best voice alone would have decided spaces instead.")
    );
    let (outcome, table) = hold(asking("self-consistency"), votes()).await;
    let draws: Vec<String> = table.panel.steps().into_iter().filter(|it| it.contains("/draw")).collect();
    assert_eq!(draws.len(), 8, "{draws:?}");
    assert_eq!(baseline(&outcome)["answer"], json!("spaces"));
    // No more than the budget has room for, and the decision stays.
    let limits = Limits { calls: Some(calls as u32 + 10), ..Limits::default() };
    let (outcome, table) = hold(Spec { limits, ..asking("self-consistency") }, votes()).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert!(table.panel.steps().len() <= calls + 10);
}

#[tokio::test(start_paused = true)]
async fn the_first_answers_of_a_record_are_read_in_seating_order() {
    let table = table(&panel().takes("ann", 50).votes("*", "tabs", 0.9));
    let id = table.open(order("synthesis", "majority")).await.unwrap();
    let Finished::Over(state) = table.run(id).await.unwrap() else { panic!("nobody is awaited") };
    let names: Vec<String> = first::answers(&state).into_iter().map(|it| it.participant).collect();
    assert_eq!(names, ["ann", "bob", "cyd"]);
}

#[tokio::test(start_paused = true)]
async fn people_are_not_asked_before_the_talk() {
    let mut order = order("roundtable", "synthesis");
    order.participants[2] = Participant { name: "cyd".to_owned(), ..Participant::person("cyd") };
    let table = table(&panel().votes("*", "tabs", 0.9));
    let id = table.open(order).await.unwrap();
    table.run(id).await.unwrap();
    assert_eq!(firsts(&table), ["0/first/ann", "0/first/bob"]);
}
