//! A pattern of another crate: its option is a field of an order, and its result is published.

use quorum::{
    floor::{Floor, ask::Ask, halt::Halt},
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
    registry::Pattern,
    vocabulary::{
        option::Opt,
        result::ResultField,
        view::{Cell, View},
    },
};
use serde_json::{Value, json};

use crate::harness::TestServer;

const LEGS: Opt<u32> = Opt::whole("legs", "How often it goes round", 1..=9, 2);

const RUNNING: Phase = Phase("running");

static RELAY: Pattern = Pattern {
    name: "relay",
    summary: "Each adds to what was said before",
    options: &[&LEGS],
    results: &[ResultField {
        name: "laps",
        title: "Laps",
        view: View::Line { label: "Laps run", cell: Cell::Number },
        of: |state| Some(json!(state.rounds.len())),
    }],
    phases: PhaseTable { first: &[RUNNING], next: &[(RUNNING, &[RUNNING])] },
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    for round in 1..=floor.option(&LEGS) {
        floor.enter(RUNNING, round).await?;
        for speaker in floor.speakers() {
            floor.ask(&speaker, Ask::new("You run a relay.", "Add to it.")).await?;
        }
    }
    Ok(None)
}

#[tokio::test]
async fn a_foreign_pattern_is_listed_with_its_option_and_its_result() {
    let server = TestServer::knowing(&RELAY).await;
    let patterns = server.get("/api/patterns").await.json();
    let relay = patterns.as_array().unwrap().iter().find(|it| it["name"] == "relay").unwrap();
    let summary = "How often it goes round";
    let expected = json!({
        "name": "relay", "summary": "Each adds to what was said before", "suits": "", "sketch": [],
        "usual": { "rounds": 2, "consensus": "synthesis", "seats": [2, 6] },
        "options": [{
            "name": "legs", "flag": "legs", "summary": summary, "kind": "whole", "onSurfaces": true,
            "schema": { "type": "integer", "minimum": 1, "maximum": 9, "default": 2, "description": summary },
        }],
        "roles": [], "forms": [], "endings": [], "rulings": [],
        "results": [{
            "name": "laps", "title": "Laps", "view": { "kind": "line", "label": "Laps run", "cell": "number" },
        }],
    });
    assert_eq!(*relay, expected);
    let document = server.get("/openapi.json").await.json();
    let legs = document.pointer("/components/schemas/Order/properties/legs").unwrap();
    assert_eq!((&legs["type"], &legs["maximum"]), (&json!(["integer", "null"]), &json!(9)));
}

#[tokio::test]
async fn a_foreign_pattern_is_ordered_with_its_option_and_ordered_again_with_another() {
    let server = TestServer::knowing(&RELAY).await;
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": "relay", "legs": 3, "providers": ["claude", "gemini"],
    });
    let id = server.held(&order).await;
    let laps = async |id: &str| -> Value {
        server.get(&format!("/api/discussions/{id}/result")).await.json()["laps"].clone()
    };
    assert_eq!(laps(&id).await, 3);
    let again = server.post(&format!("/api/discussions/{id}/again"), &json!({ "legs": 1 })).await;
    assert_eq!(again.status, 202, "{}", again.text);
    server.get(&format!("/api/discussions/{}/events", again.id())).await;
    assert_eq!(laps(&again.id()).await, 1);
    let fork = json!({ "at": "1/running/gemini", "changes": { "legs": 2 } });
    let forked = server.post(&format!("/api/discussions/{id}/fork"), &fork).await;
    assert_eq!(forked.status, 202, "{}", forked.text);
    server.get(&format!("/api/discussions/{}/events", forked.id())).await;
    assert_eq!(laps(&forked.id()).await, 2);
    for (legs, told) in [(json!(10), "legs"), (json!("three"), "legs")] {
        let mut wrong = order.clone();
        wrong["legs"] = legs;
        let refused = server.post("/api/discussions", &wrong).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!(told)));
    }
}
