//! No label of the talk is left in what the page is sent: events, state, result, page.

use std::{collections::BTreeMap, sync::Arc};

use quorum::{Quorum, built_in};
use quorum_server::{Limits, Settings, Voices};
use quorum_testkit::{labels::has_label, panel::panel};
use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, config, events, settings};

const SAID: &str = "<scripted-a> met <scripted-b>s point [<scripted-a>:1], says <scripted-c>.";

async fn server(size: usize) -> TestServer {
    let ballot = json!({ "reasoning": SAID, "choice": "tabs", "confidence": 0.7 }).to_string();
    let voices = panel()
        .says("*", SAID)
        .writes("*", "ballot", &ballot)
        .writes("*", "synthesis", &format!("{SAID}\n\n<mark>\n{{\"agreements\": [\"{SAID}\"]}}"))
        .in_pieces("*", size);
    let folder = tempfile::tempdir().unwrap();
    let config = config(FAST, folder.path());
    let quorum = Quorum::builder().voices(Arc::new(voices)).assigning_roles().build().unwrap();
    let settings = Settings { voices: Voices::Available, ..settings(&config, Limits::default()) };
    TestServer::of(quorum, settings, folder.path()).await
}

fn order(pattern: &str) -> Value {
    let seats: &[&str] = match pattern {
        "dialogue" => &["scripted-a", "scripted-b"],
        _ => &["scripted-a", "scripted-b", "scripted-c"],
    };
    let mut order =
        json!({ "topic": "Tabs or spaces?", "pattern": pattern, "rounds": 1, "providers": seats });
    if ["voting", "settle"].contains(&pattern) {
        order["votingOptions"] = json!(["tabs", "spaces"]);
    }
    order
}

#[tokio::test]
async fn no_event_state_result_or_page_has_a_label_whatever_the_pattern_and_the_pieces() {
    for size in [1, 3] {
        let server = server(size).await;
        for pattern in built_in().patterns() {
            let id = server.ordered(&order(pattern.name)).await;
            let live = server.get(&format!("/api/discussions/{id}/events")).await.text;
            let mut streamed: BTreeMap<String, String> = BTreeMap::new();
            for (_, _, data) in events(&live).into_iter().filter(|it| it.1 == "turn-chunk") {
                let (step, chunk) = (data["step"].to_string(), data["chunk"].as_str().unwrap_or_default());
                streamed.entry(step).or_default().push_str(chunk);
            }
            let mut texts: Vec<String> = streamed.into_values().collect();
            for path in ["events?view=facts", "state", "result", "export?format=html"] {
                let answer = server.get(&format!("/api/discussions/{id}/{path}")).await;
                assert!(answer.status.is_success(), "{path}: {}", answer.text);
                texts.push(answer.text);
            }
            texts.extend([live, server.get(&format!("/d/{id}")).await.text]);
            for text in &texts {
                assert!(!has_label(text), "{} in pieces of {size}: {text}", pattern.name);
            }
            let named = texts.iter().filter(|it| it.contains("scripted-a met @scripted-bs point")).count();
            assert!(2 < named, "{}: the names are back", pattern.name);
        }
    }
}
