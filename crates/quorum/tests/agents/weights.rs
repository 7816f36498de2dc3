//! The weight of an agent's votes.

use quorum_testkit::panel::panel;
use serde_json::{Value, json};

use crate::fixture::{Fixture, preferring, spec};

fn weight(profile: &Value, fields: &Value) -> f64 {
    let fixture = Fixture::with(profile);
    let mut all = json!({ "participants": ["claude", "reviewer:agent"] });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let spec = spec(&fixture.offline(), &all);
    assert_eq!(spec.participants[0].weight, 1.0);
    spec.participants[1].weight
}

#[test]
fn inv_disc_642_an_agent_weighs_1_5_or_what_its_profile_or_the_order_says() {
    assert_eq!(weight(&json!({}), &json!({})), 1.5);
    assert_eq!(weight(&json!({ "weight": 2 }), &json!({})), 2.0);
    assert_eq!(weight(&json!({ "weight": 2 }), &json!({ "agentWeight": 0.5 })), 0.5);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_642_two_plain_votes_against_one_agent_are_2_of_3_5() {
    let fixture = Fixture::with(&preferring(&["scripted-one"]));
    let panel = panel().votes("*", "tabs", 1.0).votes("reviewer", "spaces", 1.0);
    let fields = json!({
        "participants": ["scripted", "scripted", "reviewer:agent"], "pattern": "voting", "consensus": "voting",
        "votingOptions": ["tabs", "spaces"], "rounds": 1,
    });
    let outcome = serde_json::to_value(fixture.held(&panel, &fields).await.outcome()).unwrap();
    let results = &outcome["votingResults"];
    assert_eq!(results["weightedVotes"], json!({ "spaces": 1.5, "tabs": 2.0 }));
    assert_eq!(results["votes"], json!({ "spaces": 1, "tabs": 2 }));
    let of_agent = results["voteRecords"].as_array().unwrap().iter().find(|it| it["provider"] == "reviewer");
    assert_eq!(of_agent.unwrap()["weight"], 1.5);
    assert_eq!(outcome["agents"][0]["weight"], 1.5);
    assert_eq!(outcome["agreementByRound"][0]["agreement"], 0.571);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_642_the_writer_is_told_the_weights() {
    let fixture = Fixture::with(&preferring(&["scripted-one"]));
    let panel = panel();
    fixture.held(&panel, &json!({ "participants": ["scripted", "scripted", "reviewer:agent"] })).await;
    let calls = panel.asked();
    let writing = calls.iter().find(|it| it.step.as_str().contains("deciding")).unwrap();
    let told = writing.named(&writing.sent());
    assert!(told.contains("In votes and agreement, reviewer counts 1.5 times."), "{told}");
    let others = calls.iter().filter(|it| !it.step.as_str().contains("deciding"));
    assert!(others.into_iter().all(|it| !it.sent().contains("counts 1.5 times")));
}
