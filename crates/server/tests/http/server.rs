//! The server's health, metrics, API description and lists of choices.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, order};

#[tokio::test]
async fn the_server_is_alive_ready_and_described() {
    let server = TestServer::open(FAST).await;
    assert_eq!(server.get("/healthz").await.json(), json!({ "status": "ok" }));
    let ready = server.get("/readyz").await.json();
    assert_eq!((&ready["status"], &ready["nodes"]), (&json!("ready"), &json!(1)), "{ready}");
    let document = server.get("/openapi.json").await.json();
    assert_eq!(document["info"]["title"], "Quorum");
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let declared = parameters.filter(|it| it["in"] == "path").map(|it| it["name"].as_str().unwrap());
            let declared: BTreeSet<String> = declared.map(|it| format!("{{{it}}}")).collect();
            let in_path = path.split('/').filter(|it| it.starts_with('{')).map(str::to_owned);
            assert_eq!(in_path.collect::<BTreeSet<_>>(), declared, "{method} {path}");
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{name} is the name of several operations");
            let statuses: BTreeSet<&String> = operation["responses"].as_object().unwrap().keys().collect();
            let has = |status: &str| statuses.iter().any(|it| *it == status);
            assert!(["400", "401", "403", "421", "429"].iter().all(|it| has(it)), "{method} {path}");
            // A model's name is in the body of a request under /v1.
            let names_one = ["{id}", "{session}"].iter().any(|it| path.contains(it));
            assert!(path.starts_with("/v1/") || has("404") == names_one, "{method} {path}");
            let is_said = |field: &str| operation[field].as_str().is_some_and(|it| !it.is_empty());
            assert!(is_said("summary") && is_said("description"), "{method} {path}");
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            assert!(body.is_null() || has_example(&document, body), "{method} {path} shows no example");
        }
    }
    let page = server.get("/docs").await.text;
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
    }
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
}

fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let place = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    place.map_or(schema, |place| document.pointer(place).unwrap_or_else(|| panic!("{place} is nowhere")))
}

fn has_example(document: &Value, schema: &Value) -> bool {
    let schema = resolved(document, schema);
    !schema["example"].is_null() || !schema["examples"].is_null()
}

fn every_reference<'d>(value: &'d Value, found: &mut Vec<&'d Value>) {
    if value["$ref"].is_string() {
        found.push(value);
    }
    let within: Vec<&Value> = match value {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    within.into_iter().for_each(|it| every_reference(it, found));
}

#[tokio::test]
async fn every_reference_of_the_document_leads_somewhere() {
    let server = TestServer::open(FAST).await;
    let document = server.get("/openapi.json").await.json();
    let mut references = Vec::new();
    every_reference(&document, &mut references);
    assert!(references.len() > 100, "{}", references.len());
    references.iter().for_each(|it| drop(resolved(&document, it).clone()));
}

#[tokio::test]
async fn b12_discussions_and_calls_are_counted() {
    let server = TestServer::open(FAST).await;
    server.held(&order()).await;
    let mut dead = order();
    dead["providers"] = json!(["claude", "gemini", "glm"]);
    dead["simulate"] = json!({ "latencyMs": 0, "dead": ["glm"] });
    server.held(&dead).await;
    let counted = server.get("/metrics").await.text;
    for line in [
        "ax_discussions_total{status=\"completed\",pattern=\"synthesis\"} 2\n",
        "ax_discussion_duration_seconds_count{pattern=\"synthesis\"} 2\n",
        "ax_overhead_seconds_count 2\n",
        "ax_provider_requests_total{provider=\"claude\",model=\"claude\",outcome=\"ok\"} 4\n",
        "gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"claude\"",
        "gen_ai_client_token_usage_bucket{",
        "ax_cost_usd_total{",
    ] {
        assert!(counted.contains(line), "{line} is not in\n{counted}");
    }
}

#[tokio::test]
async fn the_catalogue_lists_all_choices() {
    let server = TestServer::open(FAST).await;
    let names = async |path: &str| -> Vec<String> {
        let list = server.get(path).await.json();
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let registry = quorum::built_in();
    let registered: Vec<&str> = registry.patterns().iter().map(|it| it.name).collect();
    assert_eq!(names("/api/patterns").await, registered);
    let registered: Vec<&str> = registry.methods().iter().map(|it| it.name).collect();
    assert_eq!(names("/api/consensus-methods").await, registered);
    let registered: Vec<&str> = registry.strategies().iter().map(|it| it.name).collect();
    assert_eq!(names("/api/window-strategies").await, registered);
    let registered: Vec<&str> = registry.detectors().iter().map(|it| it.name).collect();
    assert_eq!(names("/api/detectors").await, registered);
    assert!(names("/api/providers").await.contains(&"claude".to_owned()));
    assert_eq!(server.get("/api/presets").await.json(), json!([]));
}

#[tokio::test]
async fn s6_user_text_is_text_on_the_page() {
    let server = TestServer::open(FAST).await;
    let mut hostile = order();
    hostile["topic"] = json!("<script>alert(1)</script> & \"tabs\"?");
    server.held(&hostile).await;
    let page = server.get("/").await.text;
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;tabs&quot;?")
            && !page.contains("<script>")
    );
}

#[tokio::test]
async fn a16_the_state_can_be_read_at_any_moment() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&json!({
        "topic": "Tabs or spaces?", "pattern": "dialogue", "participants": ["claude", "gemini"], "rounds": 2,
    })).await;
    let state = server.state(&id).await;
    for field in [
        "phase",
        "config",
        "rounds",
        "currentRound",
        "conversationHistory",
        "consensusHistory",
        "stoppingReason",
        "startedAt",
        "completedAt",
        "transitions",
    ] {
        assert!(!state[field].is_null(), "{field}");
    }
    assert_eq!((&state["id"], &state["phase"]), (&json!(id), &json!("completed")));
    let tokens = |who: &str| state["totalTokensUsed"][who]["completion"].as_u64().unwrap();
    assert!(tokens("modelA") > 0 && tokens("modelB") > 0);
    let spoken: u64 = state["tokensByParticipant"]
        .as_object()
        .unwrap()
        .values()
        .map(|it: &Value| it["completion"].as_u64().unwrap())
        .sum();
    assert_eq!(spoken, tokens("modelA") + tokens("modelB"));
}
