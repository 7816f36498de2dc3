//! Public events of a discussion: requirement A's events, at most one per fact.

use std::sync::Arc;

use quorum::seeds::events::{Announcer, NAMES};
use quorum_core::{
    memory::MemoryStore,
    model::spec::{Manner, Spec, WindowSpec},
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    registry,
};
use quorum_testkit::{
    embedder::ScriptedEmbedder,
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};

fn table(panel: &Panel) -> Table {
    Table::over(Arc::new(MemoryStore::new()), panel, registry())
}

#[tokio::test(start_paused = true)]
async fn a12_one_fact_is_at_most_one_announcement_with_its_number() {
    let table = table(&panel());
    let (outcome, facts) = table.hold(Spec { rounds: 1, ..spec("round-robin") }).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    let announced: Vec<_> = facts.iter().filter_map(|fact| announcer.announce(fact)).collect();
    let names: Vec<&str> = announced.iter().map(|it| it.name).collect();
    let turn = ["turn-started", "turn-completed"];
    let expected: Vec<&str> = [
        &["discussion-started", "round-started"][..],
        &turn,
        &turn,
        &turn,
        &["round-completed"],
        &turn,
        &["discussion-completed"],
    ]
    .concat();
    assert_eq!(names, expected);
    assert!(names.iter().all(|name| NAMES.contains(name)));
    assert!(announced.is_sorted_by(|one, next| one.seq < next.seq), "numbers grow");
    let turn = &announced[3].data["turn"];
    assert_eq!((turn["content"].as_str(), turn["roundNumber"].as_u64()), (Some("ann after 0"), Some(1)));
    assert_eq!(turn["tokenUsage"]["completionTokens"], 20);
    let again: Vec<_> = facts.iter().filter_map(|fact| announcer.announce(fact)).collect();
    assert_eq!(again, [], "what was announced is not announced again");
}

#[tokio::test(start_paused = true)]
async fn an_awaited_decision_is_in_the_result_and_in_an_event() {
    let speech = "the case for it is strong and ".repeat(500 / 7);
    let table = table(&panel().says("*", &speech).names_limit("bob", 3_000));
    let window = WindowSpec { overflow: WindowSpec::ASK.to_owned(), ..spec("round-robin").window };
    let manner = Manner { max_tokens: 1_024, ..spec("round-robin").manner };
    let id = table.open(Spec { rounds: 4, window, manner, ..spec("round-robin") }).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    let awaited = outcome.ruling_awaited.clone().unwrap();
    assert_eq!((awaited.kind.as_str(), awaited.about.as_str()), ("window", "bob"));
    assert_eq!(awaited.choices, ["truncate", "summarise", "end"]);
    let mut announcer = Announcer::new(id, registry());
    let facts = table.facts(id).await;
    let told =
        facts.iter().filter_map(|fact| announcer.announce(fact)).find(|it| it.name == "ruling-awaited");
    let mut told = told.unwrap().data;
    ["discussionId", "timestamp"].iter().for_each(|it| drop(told.as_object_mut().unwrap().remove(*it)));
    assert_eq!(told, serde_json::json!(awaited));
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_not_announced_as_somebodys_turn() {
    let speech = "the case for it is strong and ".repeat(600 / 7);
    let cramped = panel().window("*", 8_000).says("*", &speech).counts("*", 1.0).sums_up("*");
    let table = table(&cramped);
    let window = WindowSpec { strategy: "summarise".to_owned(), ..spec("round-robin").window };
    let (outcome, facts) = table.hold(Spec { rounds: 8, window, ..spec("round-robin") }).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    let names: Vec<&str> =
        facts.iter().filter_map(|fact| announcer.announce(fact)).map(|it| it.name).collect();
    let count = |name: &str| names.iter().filter(|it| **it == name).count();
    assert!(outcome.integrity.summaries > 1, "{}", outcome.integrity.summaries);
    assert_eq!((count("turn-started"), count("turn-completed")), (25, 25), "24 speeches and the synthesis");
}

#[tokio::test(start_paused = true)]
async fn a_comparison_is_not_announced_as_somebodys_turn() {
    let debate = DebateSpec {
        format: Format::RoundLimited,
        round_limit: Some(2),
        embeddings: Some("acme/embed-1".to_owned()),
        ..DebateSpec::default()
    };
    let table = table(&panel().embeds(ScriptedEmbedder::default()));
    let (outcome, facts) = table.hold(Spec { settings: debate.settings(), ..spec("debate") }).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    let started = facts.iter().filter_map(|it| announcer.announce(it)).filter(|it| it.name == "turn-started");
    assert_eq!(started.count(), table.panel.asked().len());
}

/// The form and the content of every completed turn.
async fn completed(pattern: &str) -> Vec<(Option<String>, String)> {
    let table = table(&panel());
    let (outcome, facts) = table.hold(Spec { rounds: 1, ..spec(pattern) }).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    let announced = facts.iter().filter_map(|fact| announcer.announce(fact));
    let turns = announced.filter(|it| it.name == "turn-completed").map(|it| it.data["turn"].clone());
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    turns.map(|turn| (text(&turn["form"]), text(&turn["content"]).unwrap_or_default())).collect()
}

#[tokio::test(start_paused = true)]
async fn the_data_of_forms_is_not_announced_as_what_somebody_said() {
    let synthesis = (Some("synthesis".to_owned()), "ann made this of 3 turns".to_owned());
    assert_eq!(completed("synthesis").await.pop(), Some(synthesis));
    let ballot = (Some("ballot".to_owned()), String::new());
    assert_eq!(completed("voting").await[..3], vec![ballot; 3]);
}

#[tokio::test(start_paused = true)]
async fn detections_are_in_the_result_and_in_the_events() {
    let debate = DebateSpec { format: Format::RoundLimited, round_limit: Some(3), ..DebateSpec::default() };
    let table =
        table(&panel().says("ann", "Tabs adapt to every reader, and that settles the matter for good."));
    let (outcome, facts) = table.hold(Spec { settings: debate.settings(), ..spec("debate") }).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    let announced = facts.iter().filter_map(|fact| announcer.announce(fact));
    let told: Vec<_> = announced.filter(|it| it.name == "detection").collect();
    let found: Vec<_> = told.iter().map(|it| it.data["detection"].clone()).collect();
    assert!(!found.is_empty(), "{:?}", outcome.fields);
    assert_eq!(outcome.fields["detections"], serde_json::Value::from(found));
}
