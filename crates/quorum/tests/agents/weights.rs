//! The weight of an agent's votes.

use std::path::PathBuf;

use quorum::{
    Config, Quorum,
    export::{Extras, named},
    model::id::Tenant,
};
use quorum_testkit::panel::panel;
use serde_json::{Value, json};

use crate::fixture::{Fixture, preferring, request, spec};

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

#[test]
fn a_default_for_agents_has_no_effect_where_none_sits() {
    let fixture = Fixture::with(&json!({ "abilities": { "taskBased": { "triage": [] } } }));
    let scope = |defaults: &str| {
        let file = fixture.folder.path().join("config.toml");
        let config = Config::parse(&format!("[defaults]\n{defaults}"), &file, PathBuf::new()).unwrap();
        let quorum = Quorum::builder().config(config).simulated().assigning_roles().build().unwrap();
        quorum.scope(Tenant::default(), "ann")
    };
    let with_both = scope("agent-weight = 2\ntask = \"triage\"\n");
    let weights = |fields: Value| -> Vec<f64> {
        spec(&with_both, &fields).participants.iter().map(|it| it.weight).collect()
    };
    assert_eq!(weights(json!({ "providers": ["claude", "gemini"] })), [1.0, 1.0]);
    assert_eq!(weights(json!({ "participants": ["claude", "reviewer:agent"] })), [1.0, 2.0]);
    let typed = json!(["claude", { "type": "agent", "id": "reviewer" }]);
    assert_eq!(weights(json!({ "participants": typed })), [1.0, 2.0]);
    let refused = scope("agent-weight = 9\n").check(&request(&json!({}))).unwrap_err().to_string();
    assert_eq!(refused, "agentWeight: must be from 0.5 to 3, not 9 (from [defaults] in the configuration)");
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
async fn a_document_names_the_agents_and_the_weights_of_votes() {
    let fixture = Fixture::with(&json!({
        "displayName": "Ada", "abilities": { "core": ["diffs", "gone"] },
        "providerAffinity": { "preferred": ["scripted-dead", "scripted-one"] },
    }));
    fixture.ability("diffs", "Tests first.");
    let votes = || panel().votes("*", "tabs", 1.0).votes("reviewer", "spaces", 1.0).away("scripted-dead");
    let document = async |seat: &str| {
        let fields = json!({
            "participants": ["scripted", "scripted", seat], "pattern": "voting", "consensus": "voting",
            "votingOptions": ["tabs", "spaces"], "rounds": 1,
        });
        let state = fixture.held(&votes(), &fields).await;
        (named("markdown").unwrap().write)(&state, &[], &Extras::default())
    };
    let with_agent = document("reviewer:agent").await;
    let agents = "## Agents\n\n\
        | participant | agent | through | why | weight | abilities | note |\n\
        | --- | --- | --- | --- | --- | --- | --- |\n\
        | reviewer | Ada | scripted-one | preferred | 1.5 | diffs | \
        not scripted-dead: nobody there; abilities not found: gone |\n";
    assert!(with_agent.contains(agents), "{with_agent}");
    let votes = |document: &str| -> Vec<String> {
        let lines = document.lines().skip_while(|it| !it.starts_with("| voter |"));
        lines.take_while(|it| it.starts_with('|')).map(str::to_owned).collect()
    };
    let head = "| voter | round | choice | confidence | weight | why |";
    let shown = votes(&with_agent);
    assert_eq!((shown[0].as_str(), shown.len()), (head, 5), "{shown:?}");
    assert!(shown[2].contains("| 1.00 | 1 |") && shown[4].contains("| 1.00 | 1.5 |"), "{shown:?}");
    let plain = document("scripted").await;
    assert!(votes(&plain)[0].starts_with("| voter | round | choice | confidence | why |"), "{plain}");
    assert!(!plain.contains("## Agents"), "{plain}");
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
