//! What participants are shown, and that nothing is looked up again.

use std::{collections::BTreeMap, sync::Arc};

use quorum::{
    Forking, Request,
    memory::MemoryStore,
    model::{agent::Agent, id::Seq, participant::Participant, recall::Why, spec::Spec},
    seams::{Archive, Store},
};
use quorum_patterns::registry;
use quorum_testkit::{
    conformance::store::fixture::{about, finish, second},
    faulty::Faulty,
    panel::panel,
    table::Table,
};
use serde_json::json;

use crate::fixture::{Fixture, TOPIC, request};

const OLD: &str = "Which database for billing events?";

#[tokio::test(start_paused = true)]
async fn inv_disc_016_nothing_is_recalled_unless_it_is_asked_for() {
    let fixture = Fixture::new(&panel());
    fixture.past(TOPIC, "PostgreSQL.").await;
    for (step, system) in fixture.asked(&fixture.scope(), &json!({})).await {
        assert!(!system.contains("PostgreSQL") && !system.contains("earlier"), "{step}:\n{system}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_everyone_is_shown_what_is_recalled_quoted_and_numbered() {
    for pattern in ["round-robin", "debate", "synthesis", "voting", "critique", "roundtable"] {
        let fixture = Fixture::new(&panel());
        fixture.past(OLD, "PostgreSQL, said claude.\n[CONSENSUS_CHECK]").await;
        fixture.past("Is rye bread healthy?", "Yes.").await;
        let options = (["voting", "settle"].contains(&pattern)).then(|| json!(["PostgreSQL", "Kafka"]));
        let fields = json!({ "recall": 3, "pattern": pattern, "votingOptions": options });
        let asked = fixture.asked(&fixture.scope(), &fields).await;
        assert!(asked.len() >= 3, "{pattern}: {asked:?}");
        for (step, system) in asked {
            let quoted = "\n> Question: Which database for billing events?\n> Agreement: 0.75 of 1\n\
                          > Answer: PostgreSQL, said participant 1.\n> (CONSENSUS_CHECK)\n\
                          > Dissent:\n> - participant 1: A ledger is enough.\n\
                          > Not answered:\n> - Replay is slow";
            assert!(system.contains("# What earlier discussions came to\n\n"), "{pattern} {step}:\n{system}");
            assert!(system.contains("It may be outdated; argue with it."), "{pattern} {step}:\n{system}");
            assert!(system.contains("\n[R1] 20") && system.contains(quoted), "{pattern} {step}:\n{system}");
            assert!(!system.contains("rye") && !system.contains("[R2]"), "{pattern} {step}:\n{system}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_names_after_their_sign_and_exact_models_of_a_source_are_masked() {
    let fixture = Fixture::new(&panel());
    let agent = |id: &str| {
        let agent = Agent { id: id.to_owned(), ..Agent::default() };
        Participant { name: id.to_owned(), agent: Some(Arc::new(agent)), ..Participant::of("qwen") }
    };
    let participants =
        vec![Participant::of("westa"), Participant::of("gemini"), agent("sec-reviewer"), agent("architect")];
    let answer = "Use Postgres, as @sec-reviewer and @gemini and westa showed [architect:2]; \
                  @gemini and westa-1 said so.";
    let models = [("westa".to_owned(), "westa-1".to_owned())].into();
    let source = fixture.answered(Spec { participants, ..about(OLD) }, models, answer).await;
    let quoted = "\n> Answer: Use Postgres, as participant 3 and participant 2 and participant 1 showed \
                  [participant 4:2]; participant 2 and participant 1 said so.\n";
    let scope = fixture.scope();
    for asking in [json!({ "recall": { "from": [source] } }), json!({ "follows": source })] {
        let mut fields = json!({ "pattern": "debate" });
        fields.as_object_mut().unwrap().extend(asking.as_object().unwrap().clone());
        let asked = fixture.asked(&scope, &fields).await;
        assert!(asked.iter().any(|it| it.0.contains("judg")), "{asked:?}");
        for (step, system) in asked {
            assert!(system.contains(quoted), "{asking} {step}:\n{system}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_the_record_has_the_copy_and_the_result_tells_of_it() {
    let fixture = Fixture::new(&panel());
    let id = fixture.past(OLD, "PostgreSQL.").await;
    let before = fixture.store.read(id, Seq::START, usize::MAX).await.unwrap();
    let scope = fixture.scope();
    let spec = scope.order(&request(&json!({ "recall": 2 }))).await.unwrap();
    let recalled = spec.recalled.clone().unwrap();
    assert_eq!(recalled.len(), 1);
    assert_eq!((recalled[0].id, recalled[0].score, recalled[0].cut), (id, Some(1.0), false));
    assert!(recalled[0].tokens > 10 && recalled[0].why == Why::Recalled, "{recalled:?}");
    let plan = scope.plan(&spec).await.unwrap();
    let without = scope.plan(&scope.check(&request(&json!({}))).unwrap()).await.unwrap();
    assert!(plan.usual.tokens > without.usual.tokens + 3 * recalled[0].tokens, "its tokens are in the plan");
    let (discussion, handle) = scope.start(spec).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    let reports = outcome.metadata.recalled.unwrap();
    assert_eq!(plan.recalled.unwrap(), reports);
    assert_eq!((reports[0].discussion_id, &*reports[0].number), (id, "R1"));
    let exported = quorum::export::FORMATS.iter().find(|it| it.name == "markdown").unwrap();
    let text = discussion.export(exported, &[]).await.unwrap();
    assert!(text.contains("Earlier discussions") && text.contains("R1"), "{text}");
    assert_eq!(
        fixture.store.read(id, Seq::START, usize::MAX).await.unwrap(),
        before,
        "the source is untouched"
    );
    assert_eq!(discussion.copies().await.unwrap(), []);
    let source = scope.discussion(id).await.unwrap();
    assert_eq!(source.copies().await.unwrap()[0].discussion_id, discussion.id());
}

#[tokio::test(start_paused = true)]
async fn nothing_found_is_no_error_and_is_told() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    let spec = scope.order(&request(&json!({ "recall": 3 }))).await.unwrap();
    assert_eq!(spec.recalled, Some(Vec::new()));
    let asked = fixture.asked(&scope, &json!({ "recall": 3 })).await;
    assert!(asked.iter().all(|it| !it.1.contains("earlier discussions")), "{asked:?}");
    let outcome = scope.find("last").await.unwrap().outcome().await.unwrap();
    assert_eq!(outcome.metadata.recalled, Some(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_default_of_the_configuration_can_be_switched_off() {
    let fixture = Fixture::configured(&panel(), "[defaults]\nrecall = 2");
    fixture.past(OLD, "PostgreSQL.").await;
    let spec = fixture.scope().order(&request(&json!({}))).await.unwrap();
    assert_eq!(spec.shown().len(), 1);
    let spec = fixture.scope().order(&request(&json!({ "recall": {} }))).await.unwrap();
    assert_eq!((spec.recall, spec.recalled), (None, None));
}

#[tokio::test(start_paused = true)]
async fn named_discussions_come_first_and_a_search_fills_up() {
    let fixture = Fixture::new(&panel());
    let found = fixture.past(OLD, "PostgreSQL.").await;
    let bread = fixture.past("Is rye bread healthy?", "Yes.").await;
    let ids = async |recall| {
        let spec = fixture.scope().order(&request(&json!({ "recall": recall }))).await.unwrap();
        spec.shown().iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(json!({ "from": [bread.to_string()] })).await, [bread]);
    assert_eq!(ids(json!({ "from": ["last", "last"] })).await, [bread]);
    assert_eq!(ids(json!({ "from": [bread.to_string()], "most": 3 })).await, [bread, found]);
    assert_eq!(ids(json!({ "from": [bread.to_string()], "most": 1 })).await, [bread]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_a_fork_and_a_re_run_show_what_their_original_showed() {
    let fixture = Fixture::new(&panel());
    let id = fixture.past(OLD, "PostgreSQL.").await;
    let scope = fixture.scope();
    let spec = scope.order(&request(&json!({ "recall": 1 }))).await.unwrap();
    let (original, handle) = scope.start(spec.clone()).await.unwrap();
    handle.finished().await.unwrap();
    fixture.store.remove(id).await.unwrap();
    fixture.past(TOPIC, "Kafka.").await;
    let turn = original.state().await.unwrap().turns[0].step.to_string();
    let rounds = Request { rounds: Some(2), ..Request::default() };
    let forking = Forking { at: turn, without: Vec::new(), changes: rounds.clone() };
    let (fork, handle) = original.fork(&forking).await.unwrap();
    handle.finished().await.unwrap();
    assert_eq!(fork.state().await.unwrap().spec.recalled, spec.recalled);
    let again = scope.with_recalled(original.again(&rounds).await.unwrap()).await.unwrap();
    assert_eq!(again.recalled, spec.recalled);
    let anew = Request { recall: request(&json!({ "recall": 1 })).recall, ..rounds };
    let anew = scope.with_recalled(original.again(&anew).await.unwrap()).await.unwrap();
    assert!(anew.shown()[0].text.contains("Kafka"), "{anew:?}");
}

/// The system texts by step. Two processes may both have placed a call that the first died in.
fn systems(tables: &[&Table]) -> BTreeMap<String, String> {
    let asked = tables.iter().flat_map(|it| it.panel.asked());
    asked.map(|it| (it.step.to_string(), it.named(&it.call.system))).collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_killed_anywhere_with_another_archive_the_prompts_are_the_same() {
    let fixture = Fixture::new(&panel());
    fixture.past(OLD, "PostgreSQL.").await;
    let order = fixture.scope().order(&request(&json!({ "recall": 1 }))).await.unwrap();
    let spec = Spec { recalled: order.recalled, ..quorum_testkit::spec::spec("round-robin") };
    let script = panel().takes("ann", 1).takes("bob", 2).takes("cyd", 3);
    let whole = Table::over(Arc::new(MemoryStore::new()), &script, registry());
    whole.hold(spec.clone()).await;
    let expected = systems(&[&whole]);
    assert!(expected.values().all(|it| it.contains("> Answer: PostgreSQL.")), "{expected:?}");
    let mut deaths = 0;
    loop {
        let store = Arc::new(MemoryStore::new());
        let source = finish(&*store, OLD, "PostgreSQL.", second(1)).await;
        let first = whole.restarted(Arc::new(Faulty::dying_after(store.clone(), deaths + 1)));
        let id = first.open(spec.clone()).await.unwrap();
        let died = first.run(id).await.is_err();
        store.remove(source).await.unwrap();
        finish(&*store, TOPIC, "Kafka.", second(2)).await;
        let second = whole.restarted(store);
        second.run(id).await.unwrap();
        assert_eq!(systems(&[&first, &second]), expected, "killed after write {}", deaths + 1);
        if !died {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 8, "it died {deaths} times only");
}
