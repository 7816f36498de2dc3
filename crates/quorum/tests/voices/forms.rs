//! The order of a form's keys in the bytes that each vendor is sent. Models write them in that
//! order.

use std::{collections::BTreeSet, sync::Arc};

use quorum::model::spec::Spec;
use quorum_core::memory::MemoryStore;
use quorum_testkit::server::server;
use serde_json::Value;

use crate::providers::{NAMES, WIRES, request, scope, sources};

/// The keys of every form with a schema, reasons before choices and marks.
const FORMS: [(&str, &[&str]); 12] = [
    ("ballot", &["reasoning", "choice", "confidence"]),
    ("short answer", &["reasoning", "answer", "confidence"]),
    ("casting", &["reasoning", "positions"]),
    ("part", &["participant", "position", "persona", "keyArguments"]),
    (
        "assessment",
        &["assessments", "reasoning", "flags", "qualityScore", "recommendations", "shouldContinue"],
    ),
    ("marks of a debater", &["participant", "strengths", "weaknesses", "criteria"]),
    ("criteria", &["logic", "evidence", "engagement", "novelty", "clarity", "relevance"]),
    (
        "verdict",
        &[
            "summary",
            "keyPoints",
            "areasOfAgreement",
            "areasOfDisagreement",
            "insights",
            "qualityScore",
            "winner",
        ],
    ),
    ("arguments of a debater", &["participant", "mainArguments"]),
    ("winner", &["reasoning", "participant"]),
    ("check", &["open", "ready"]),
    ("objection", &["objection", "breaks"]),
];

/// The objects in a schema, each as the keys of its properties and those that are required.
fn objects(schema: &Value, found: &mut Vec<(Vec<String>, Vec<String>)>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        found.push((properties.keys().cloned().collect(), required));
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|it| objects(it, found)),
        Value::Array(entries) => entries.iter().for_each(|it| objects(it, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_form_has_its_order_in_the_bytes_of_every_wire() {
    for on in WIRES {
        let server = server().start();
        let scope = scope(Arc::new(MemoryStore::new()), sources(&server.url(), on));
        for pattern in ["debate", "voting", "critique", "synthesis"] {
            let checked = scope.check(&request(pattern, &NAMES)).unwrap();
            // An answer that will be graded is asked for blind before the talk, as a short answer.
            let spec = Spec { graded: pattern == "synthesis", ..checked };
            let (_, handle) = scope.start(spec).await.unwrap();
            assert!(handle.finished().await.unwrap().outcome().success, "{pattern} over {}", on.0);
        }
        let mut seen = BTreeSet::new();
        for schema in server.requests().iter().filter_map(|it| it.asked()?.schema) {
            let mut found = Vec::new();
            objects(&schema, &mut found);
            for (keys, required) in found {
                let same = |form: &&(&str, &[&str])| {
                    keys.len() == form.1.len() && keys.iter().all(|it| form.1.contains(&it.as_str()))
                };
                let Some((form, order)) = FORMS.iter().find(same) else { continue };
                assert_eq!(
                    (&keys[..], &required[..]),
                    (&to_owned(order)[..], &to_owned(order)[..]),
                    "{form}: {}",
                    on.0
                );
                seen.insert(*form);
            }
        }
        assert_eq!(seen.len(), FORMS.len(), "{}: {seen:?}", on.0);
    }
}

fn to_owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|it| (*it).to_owned()).collect()
}
