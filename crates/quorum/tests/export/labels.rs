//! No label of the talk is left in anything that people or programs get: exports, results, state.

use std::sync::Arc;

use quorum::{Finished, Quorum, Request, built_in, export::FORMATS, model::id::Tenant};
use quorum_testkit::{
    labels::has_label,
    panel::{Panel, panel},
};
use serde_json::{Value, json};

const SAID: &str =
    "<scripted-a> and <scripted-b>s point met [<scripted-a>:1] [<scripted-b>:1, all], says <scripted-c>.";

/// A panel that names everyone by label wherever it can, one character at a time.
fn telling() -> Panel {
    let ballot = |choice: &str| json!({ "reasoning": SAID, "choice": choice, "confidence": 0.7 }).to_string();
    let check = format!(
        "[REASONING]\n{SAID}\n[PROPOSED_SOLUTION]\n{SAID}\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80"
    );
    let structure = json!({
        "claims": [{ "text": SAID, "supportedBy": ["<scripted-a>"], "attackedBy": ["<scripted-b>"], "unanswered": false }],
        "agreements": [SAID], "dissent": [{ "participant": "<scripted-b>", "position": SAID }],
    });
    panel()
        .says("*", SAID)
        .writes("*", "ballot", &ballot("tabs"))
        .writes("*", "consensus-check", &check)
        .writes(
            "*",
            "check",
            &json!({ "open": [{ "objection": SAID, "breaks": SAID }], "ready": false }).to_string(),
        )
        .writes("*", "synthesis", &format!("{SAID}\n\n<mark>\n{structure}"))
        .in_pieces("*", 1)
}

fn order(pattern: &str) -> Request {
    let names = if pattern == "dialogue" {
        &["scripted-a", "scripted-b"][..]
    } else {
        &["scripted-a", "scripted-b", "scripted-c"]
    };
    let request = json!({
        "topic": "Tabs or spaces?", "pattern": pattern, "providers": names, "rounds": 2,
        "votingOptions": if ["voting", "settle"].contains(&pattern) { json!(["tabs", "spaces"]) } else { Value::Null },
    });
    serde_json::from_value(request).unwrap()
}

#[tokio::test]
async fn no_export_result_or_state_has_a_label_whatever_the_pattern() {
    for pattern in built_in().patterns() {
        let quorum = Quorum::builder().voices(Arc::new(telling())).assigning_roles().build().unwrap();
        let scope = quorum.scope(Tenant::default(), "ann");
        let spec = scope.check(&order(pattern.name)).unwrap();
        let (discussion, handle) = scope.start(spec).await.unwrap();
        let Finished::Over(_) = handle.finished().await.unwrap() else { panic!("nobody waits") };
        let mut texts = vec![serde_json::to_string(&discussion.outcome().await.unwrap()).unwrap()];
        let state = discussion.state().await.unwrap();
        texts.extend(state.turns.iter().map(|turn| state.shown(turn)));
        for format in FORMATS {
            texts.push(discussion.export(format, &[]).await.unwrap());
        }
        for text in &texts {
            assert!(!has_label(text), "{}: {text}", pattern.name);
        }
        assert!(texts[0].contains("scripted-a and @scripted-bs point"), "{}: {}", pattern.name, texts[0]);
    }
}
