//! Bad input about what to recall: refused before anything is spent.

use quorum::model::{
    id::Tenant,
    spec::{Simulation, Spec},
};
use quorum_testkit::{conformance::store::fixture::about, panel::panel};
use serde_json::json;

use crate::fixture::{Fixture, refusals};

#[tokio::test(start_paused = true)]
async fn a_wrong_number_or_id_is_refused() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    for wrong in [0, 11, 1_000_000] {
        let expected = format!("recall: must be from 1 to 10, not {wrong}");
        assert_eq!(refusals(&scope, &json!({ "recall": wrong })).await, [expected]);
    }
    let check = async |recall, expected: &str| {
        assert_eq!(refusals(&scope, &json!({ "recall": recall })).await, [expected]);
    };
    check(json!({ "from": ["last"] }), "recall.from: there are no discussions yet").await;
    check(json!({ "from": ["0123"] }), "recall.from: there is no discussion 0123").await;
    let words = "recall.from: the first is not a discussion's id; give an id, its beginning, or last";
    check(json!({ "from": ["the first"] }), words).await;
    check(json!({ "most": 1, "session": "x" }), "recall.session: x is not a session's id").await;
    let session = "01890000-0000-7000-8000-000000000000";
    let alone = "recall.session: limits a search; also say how many discussions to recall at most";
    check(json!({ "session": session }), alone).await;
    check(json!({ "from": vec!["last"; 11] }), "recall.from: may have at most 10 entries; there are 11")
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_discussion_further_back_than_there_are_is_refused_under_its_field() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    fixture.past("tabs?", "Tabs.").await;
    let none = "there is only 1 discussion, so there is no last~99";
    let recall = json!({ "recall": { "from": ["last~99"] } });
    assert_eq!(refusals(&scope, &recall).await, [format!("recall.from: {none}")]);
    let follows = json!({ "follows": "last~99" });
    assert_eq!(refusals(&scope, &follows).await, [format!("follows: {none}")]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_may_not_be_shown_is_refused() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    let from = async |id: String| refusals(&scope, &json!({ "recall": { "from": [id] } })).await;
    let anothers = fixture.ended(Spec { tenant: Tenant::named("bob"), ..about("tabs?") }, "Tabs.").await;
    assert_eq!(from(anothers.to_string()).await, [format!("recall.from: there is no discussion {anothers}")]);
    let simulation =
        Simulation { seed: 1, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };
    let made_up = fixture.ended(Spec { simulation: Some(simulation), ..about("tabs?") }, "Tabs.").await;
    let expected = format!("recall.from: discussion {made_up} is simulated, and this one is not");
    assert_eq!(from(made_up.to_string()).await, [expected]);
    assert!(fixture.panel.asked().is_empty(), "nothing is spent");
}
