//! A tie is shown as positions: there is nothing to dissent from.

use std::sync::Arc;

use quorum::{Quorum, Request, export::named, model::id::Tenant};
use quorum_testkit::panel::panel;
use serde_json::{Value, json};

/// The exports of a vote in which scripted-c votes for this option.
async fn exports(third: &str) -> (Value, String, String) {
    let voices = panel()
        .votes("scripted-a", "tabs", 0.8)
        .votes("scripted-b", "spaces", 0.8)
        .votes("scripted-c", third, 0.8)
        .votes("scripted-d", "spaces", 0.8);
    let quorum = Quorum::builder().voices(Arc::new(voices)).build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let request: Request = serde_json::from_value(json!({
        "topic": "Tabs or spaces?", "pattern": "voting", "votingOptions": ["tabs", "spaces"], "rounds": 1,
        "providers": ["scripted-a", "scripted-b", "scripted-c", "scripted-d"],
    }))
    .unwrap();
    let (discussion, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    let outcome = serde_json::to_value(discussion.outcome().await.unwrap()).unwrap();
    let export = async |name: &str| discussion.export(named(name).unwrap(), &[]).await.unwrap();
    (outcome, export("markdown").await, export("html").await)
}

#[tokio::test]
async fn a_tie_listed_everyone_as_dissent() {
    let (outcome, markdown, html) = exports("tabs").await;
    assert_eq!(outcome["outcome"]["kind"], "tie");
    let listed = outcome["consensus"]["dissent"].as_array().unwrap();
    let listed: Vec<&str> = listed.iter().map(|it| it["provider"].as_str().unwrap()).collect();
    assert_eq!(listed, ["scripted-b", "scripted-d", "scripted-a", "scripted-c"], "option by option");
    assert!(markdown.contains("## Positions") && !markdown.contains("## Dissent"), "{markdown}");
    assert!(html.contains(">Positions<") && !html.contains(">Dissent<"), "{html}");
}

#[tokio::test]
async fn a_vote_with_a_winner_has_dissent() {
    let (outcome, markdown, html) = exports("spaces").await;
    assert_eq!(outcome["outcome"]["kind"], "adopted");
    let listed = outcome["consensus"]["dissent"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["provider"]), (1, &json!("scripted-a")));
    assert!(markdown.contains("## Dissent") && html.contains(">Dissent<"), "{markdown}");
}
