//! Everything that shaped a prompt is in the record: a resumed or forked discussion, or one that is
//! held again, reads no profile.

use std::{fs, sync::Arc};

use futures::StreamExt;
use quorum::{
    Finished, Forking, Request, Signal, Snapshot,
    call::Message,
    model::{command::Command, event::Event, participant::Participant, spec::Spec},
};
use quorum_core::{memory::MemoryStore, seams::Store};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
};
use serde_json::{Value, json};

use crate::fixture::{Fixture, request};

fn fixture() -> Fixture {
    let fixture = Fixture::with(&json!({
        "displayName": "Ada", "systemPrompt": "Trust nothing.", "weight": 2,
        "abilities": { "core": ["diffs"] },
        "providerAffinity": { "preferred": ["scripted-dead", "scripted-one"], "fallbackStrategy": "strict" },
    }));
    fixture.ability("diffs", "Read the tests first.");
    fixture
}

/// Everything of the profile is different from now on.
fn change(fixture: &Fixture) {
    fixture.agent("reviewer", &json!({ "systemPrompt": "Trust all.", "enabled": false, "weight": 3 }));
    fixture.ability("diffs", "Read nothing.");
}

fn order() -> Value {
    json!({
        "participants": ["scripted", "reviewer:agent"], "pattern": "round-robin", "rounds": 3, "showNames": true,
    })
}

fn scripted() -> Panel {
    panel().away("scripted-dead")
}

/// The system text and the question of every call, by step.
fn asked(panels: &[&Panel]) -> Vec<(String, String, String)> {
    let calls = panels.iter().flat_map(|it| it.asked());
    let prompt = |messages: &[Message]| match messages.last() {
        Some(Message::Ask(text)) => text.to_string(),
        other => panic!("{other:?} is no question"),
    };
    let mut asked: Vec<(String, String, String)> = calls
        .map(|it| (it.step.to_string(), it.call.system.to_string(), prompt(&it.call.messages)))
        .collect();
    asked.sort();
    asked.dedup();
    asked
}

async fn over(handle: quorum::Handle) -> Snapshot {
    let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("it waits") };
    state
}

#[tokio::test(start_paused = true)]
async fn b08_a_discussion_that_is_resumed_after_its_profile_changed_is_asked_the_same() {
    let (fixture, whole) = (fixture(), scripted());
    fixture.held(&whole, &order()).await;
    let (store, first, second) = (Arc::new(MemoryStore::new()), scripted(), scripted());
    let scope = fixture.scripted(&first, &store);
    let (discussion, handle) = scope.start(scope.check(&request(&order())).unwrap()).await.unwrap();
    let answered = |it: Signal| matches!(it, Signal::Fact { fact, .. } if matches!(fact.event, Event::TurnCompleted { .. }));
    assert!(handle.signals().any(async |it| answered(it)).await);
    discussion.steer(Command::Pause).await.unwrap();
    let Finished::Waiting(_) = handle.finished().await.unwrap() else { panic!("it went on") };
    change(&fixture);
    let later = fixture.scripted(&second, &store).discussion(discussion.id()).await.unwrap();
    let state = over(later.resume_here().await.unwrap()).await;
    assert!(!first.asked().is_empty() && !second.asked().is_empty());
    assert_eq!(asked(&[&first, &second]), asked(&[&whole]));
    let agent = &state.outcome().agents[0];
    assert_eq!((agent.weight, agent.provider.as_deref()), (2.0, Some("scripted-one")));
    assert_eq!(state.outcome().integrity.abilities[0].shown[0].digest.len(), 32);
}

#[tokio::test(start_paused = true)]
async fn b08_a_follow_up_kept_the_abilities_of_the_question_before() {
    let fixture = Fixture::new();
    let profile = |text: &str, enabled: bool| {
        json!({
            "systemPrompt": text, "enabled": enabled, "weight": if enabled { 2 } else { 3 },
            "abilities": { "taskBased": { "tabs": ["tabs"], "money": ["money"] } },
            "providerAffinity": {
                "preferred": ["scripted-dead", "scripted-one"], "taskMapping": { "money": "scripted-two" },
            },
        })
    };
    fixture.agent("reviewer", &profile("Trust nothing.", true));
    fixture.ability("tabs", "A tab has no width.");
    fixture.ability("money", "Count it twice.");
    let scope = fixture.scripted(&scripted(), &Arc::default());
    let (_, handle) = scope.start(scope.check(&request(&order())).unwrap()).await.unwrap();
    let past = over(handle).await;
    let followed = async |fields: Value| {
        let mut all = json!({ "topic": "How much money is it?", "follows": "last" });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        scope.order(&request(&all)).await.map(|it| it.participants[1].clone())
    };
    let shown = |seat: &Participant| {
        let agent = seat.agent.clone().unwrap();
        let ids: Vec<String> = agent.abilities.iter().map(|it| it.id.clone()).collect();
        (ids.join(" "), agent.text.contains("Trust all."), seat.provider.clone(), seat.weight)
    };
    assert_eq!(shown(&past.spec.participants[1]), ("tabs".into(), false, "scripted-one".into(), 2.0));
    fixture.agent("reviewer", &profile("Trust all.", true));
    let now = |abilities: &str| (abilities.to_owned(), true, "scripted-one".to_owned(), 2.0);
    assert_eq!(shown(&followed(json!({})).await.unwrap()), now("money"));
    assert_eq!(shown(&followed(json!({ "topic": "Is it fine?" })).await.unwrap()), now(""));
    let with_task = json!({ "topic": "Is it fine?", "task": "tabs" });
    assert_eq!(shown(&followed(with_task).await.unwrap()), now("tabs"));
    // A profile that is switched off is told, and one that is gone leaves its agent as it was.
    fixture.agent("reviewer", &profile("Trust all.", false));
    let refused = followed(json!({})).await.unwrap_err().to_string();
    assert!(refused.contains("the agent reviewer is switched off"), "{refused}");
    fs::remove_dir_all(fixture.folder.path().join("agents")).unwrap();
    assert_eq!(followed(json!({})).await.unwrap(), past.spec.participants[1]);
}

#[tokio::test(start_paused = true)]
async fn b08_a_discussion_with_an_agent_survives_every_crash() {
    let fixture = fixture();
    let scope = fixture.scripted(&scripted(), &Arc::default());
    let spec: Spec = scope.check(&request(&order())).unwrap();
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let deaths = resume_anywhere(store, &scripted(), quorum::built_in(), spec).await;
    assert!(deaths >= 8, "it died {deaths} times only");
}

#[tokio::test(start_paused = true)]
async fn b08_a_fork_and_a_repetition_read_no_profile() {
    let (fixture, store) = (fixture(), Arc::new(MemoryStore::new()));
    let (first, second) = (scripted(), scripted());
    let scope = fixture.scripted(&first, &store);
    let (discussion, handle) = scope.start(scope.check(&request(&order())).unwrap()).await.unwrap();
    let past = over(handle).await;
    fs::remove_dir_all(fixture.folder.path().join("agents")).unwrap();
    fs::remove_dir_all(fixture.folder.path().join("abilities")).unwrap();
    let scope = fixture.scripted(&second, &store);
    let at = past.turns[0].step.to_string();
    let changes = Request { rounds: Some(2), ..Request::default() };
    let forking = Forking { at: at.clone(), changes, ..Forking::default() };
    let discussion = scope.discussion(discussion.id()).await.unwrap();
    let (_, handle) = discussion.fork(&forking).await.unwrap();
    let forked = over(handle).await;
    assert_eq!(forked.spec.participants, past.spec.participants);
    assert!(second.asked().iter().filter(|it| it.call.participant.name == "reviewer").count() > 0);
    // Nothing is changed, so there is nothing to fork.
    let same = Forking { at, ..Forking::default() };
    assert!(discussion.fork(&same).await.is_err());
    let weightier = Request { agent_weight: Some(0.5), ..Request::default() };
    let again = discussion.again(&weightier).await.unwrap();
    assert_eq!(again.participants[1].weight, 0.5);
    let expected = past.spec.participants[1].agent.clone();
    assert_eq!(again.participants[1].agent, expected);
}
