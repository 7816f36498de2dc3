//! Runs of workflows over HTTP: results, refusals with places, tools, tenants and bounds.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{ANN, BOB, FAST, TestServer, answered, tenants};

const RUNS: &str = "/api/workflows/runs";

const TWO_STEPS: &str = "workflowId: two\nversion: 1.0.0\nsteps:\n  - stepId: ask\n    type: prompt\n    config: { prompt: 'Why {{input.topic}}?' }\n  - stepId: use\n    type: prompt\n    config: { prompt: 'Shorten: {{steps.ask.output}} {{unknown}}' }\n";

/// Runs a workflow to its end, and returns its result.
async fn ran(server: &TestServer, order: &Value) -> Value {
    let answer = server.post(RUNS, order).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let id = answer.id();
    assert_eq!(answer.headers["location"], format!("/api/discussions/{id}").as_str());
    server.get(&format!("/api/discussions/{id}/events")).await;
    server.get(&format!("/api/discussions/{id}/result")).await.json()
}

fn statuses(result: &Value) -> Vec<(&str, &str)> {
    let steps = result["stepResults"].as_array().unwrap().iter();
    steps.map(|it| (it["stepId"].as_str().unwrap(), it["status"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn b11_a_workflow_runs_as_a_text_as_an_object_and_by_name() {
    let server = TestServer::open(FAST).await;
    fs::create_dir_all(server.folder.join("workflows")).unwrap();
    fs::write(server.folder.join("workflows/two.yaml"), TWO_STEPS).unwrap();
    let prompt = "Why {{input.topic}}? ".repeat(20);
    let object = json!({
        "workflowId": "two", "version": "1.0.0",
        "steps": [
            { "stepId": "ask", "type": "prompt", "config": { "prompt": prompt } },
            { "stepId": "use", "type": "prompt", "config": { "prompt": "{{steps.ask.output}} {{unknown}}" } },
        ],
    });
    for order in [json!({ "workflow": TWO_STEPS }), json!({ "workflow": object }), json!({ "name": "two" })] {
        let mut order = order;
        order["input"] = json!({ "topic": "tabs" });
        let result = ran(&server, &order).await;
        assert_eq!(result["success"], json!(true), "{result:#}");
        assert_eq!(statuses(&result), [("ask", "done"), ("use", "done")]);
        let run = &result["workflow"];
        let told = (&run["workflowId"], &run["version"], &run["unresolved"]);
        assert_eq!(told, (&json!("two"), &json!("1.0.0"), &json!(["{{unknown}}"])));
        assert_eq!(run["output"]["content"], result["synthesis"]);
    }
}

#[tokio::test]
async fn b11_every_mistake_of_a_workflow_is_told_with_its_place() {
    let server = TestServer::open(FAST).await;
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - stepId: a\n    type: promt\n  - stepId: a\n    type: prompt\n    config: { promt: x }\n";
    let refused = server.post(RUNS, &json!({ "workflow": text })).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let problem = refused.json();
    let told: Vec<(&str, &str)> = problem["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["pointer"].as_str().unwrap(), it["message"].as_str().unwrap()))
        .collect();
    let expected = [
        "workflow:5:11: there is no step type promt; did you mean prompt?\n        type: promt",
        "workflow:6:13: there is another step a, in line 4\n      - stepId: a",
        "workflow:8:15: a prompt's config has no field promt; did you mean prompt?\n        config: { promt: x }",
    ];
    assert_eq!(told, expected.map(|it| ("#/workflow", it)));
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn a_run_without_the_input_that_it_uses_asked_about_null() {
    let server = TestServer::open(FAST).await;
    let text = TWO_STEPS.replace("{{input.topic}}", "{{input}}");
    let refused = server.post(RUNS, &json!({ "workflow": text })).await;
    let field = &refused.json()["fields"][0];
    assert_eq!((refused.status.as_u16(), &field["field"]), (409, &json!("input")), "{}", refused.text);
    let expected = "is missing, and the step ask uses {{input}}; a file can have a default for it: \
                    {{input | default: 'TEXT'}}";
    assert_eq!(field["message"], expected);
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
}

#[tokio::test]
async fn a_run_without_providers_is_refused_like_a_discussion() {
    let server = TestServer::keyed(&[]).await;
    let order = json!({ "workflow": TWO_STEPS, "input": { "topic": "tabs" } });
    let told = async |path: &str, order: &Value| {
        let refused = server.post(path, order).await;
        (refused.status.as_u16(), refused.json()["fields"].clone())
    };
    let refused = told(RUNS, &order).await;
    assert_eq!(refused, told("/api/discussions", &json!({ "topic": "x" })).await);
    assert_eq!(refused.1[0]["code"], "DISCUSSION_INSUFFICIENT_PROVIDERS", "{refused:?}");
}

#[tokio::test]
async fn b11_an_order_without_one_workflow_is_refused() {
    let server = TestServer::open(FAST).await;
    fs::write(server.folder.join("secret.yaml"), TWO_STEPS).unwrap();
    for (order, field) in [
        (json!({}), "workflow"),
        (json!({ "workflow": TWO_STEPS, "name": "two" }), "workflow"),
        (json!({ "workflow": 5 }), "workflow"),
        (json!({ "name": "two" }), "name"),
        (json!({ "name": "../secret" }), "name"),
        (json!({ "name": server.folder.join("secret.yaml") }), "name"),
        (json!({ "name": "secret.yaml" }), "name"),
        (json!({ "workflow": TWO_STEPS, "maxCalls": 0 }), "maxCalls"),
        (json!({ "workflow": TWO_STEPS, "maxCost": 0 }), "maxCost"),
        (json!({ "workflow": TWO_STEPS, "tools": ["shout"] }), "tools"),
    ] {
        let refused = server.post(RUNS, &order).await;
        let told = (refused.status.as_u16(), refused.json()["fields"][0]["field"].clone());
        assert_eq!(told, (400, json!(field)), "{order}: {}", refused.text);
        assert!(!refused.text.contains(server.folder.to_str().unwrap()), "{}", refused.text);
    }
}

#[tokio::test]
async fn b11_a_tool_of_the_configuration_is_refused_over_http_and_memory_is_not() {
    let tools =
        "[tools.shout]\ncommand = [\"/usr/bin/tr\", \"a-z\", \"A-Z\"]\n[workflows]\ntools = [\"shout\"]\n";
    let server = TestServer::open(&format!("{FAST}{tools}")).await;
    let with = |tool: &str, config: Value| {
        json!({ "workflow": {
            "workflowId": "w", "version": "1.0.0",
            "steps": [{ "stepId": "use", "type": "tool", "tool": tool, "config": config }],
        } })
    };
    let refused = server.post(RUNS, &with("shout", json!({}))).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("shout is no tool here"), "{}", refused.text);
    let kept = ran(&server, &with("memory_store", json!({ "key": "k", "value": 7 }))).await;
    assert_eq!(kept["workflow"]["output"]["version"], json!(1), "{kept:#}");
}

#[tokio::test]
async fn s12_runs_and_memory_of_another_tenant_are_not_seen() {
    let server = TestServer::open(&tenants()).await;
    let order = |tool: &str, config: Value| {
        json!({ "workflow": {
            "workflowId": "w", "version": "1.0.0",
            "steps": [{ "stepId": "use", "type": "tool", "tool": tool, "config": config }],
        } })
    };
    let run = async |token: &str, order: Value| {
        let answer = answered(server.posting(RUNS, &order).bearer_auth(token)).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        let at = format!("/api/discussions/{}", answer.id());
        answered(server.request("GET", &format!("{at}/events")).bearer_auth(token)).await;
        let result = server.request("GET", &format!("{at}/result"));
        (at, answered(result.bearer_auth(token)).await.json())
    };
    let (at, _) = run(ANN, order("memory_store", json!({ "key": "k", "value": "ann's" }))).await;
    let foreign = answered(server.request("GET", &format!("{at}/result")).bearer_auth(BOB)).await;
    assert_eq!(foreign.status, 404);
    let retrieve = || order("memory_retrieve", json!({ "key": "k" }));
    let (_, bobs) = run(BOB, retrieve()).await;
    assert_eq!(bobs["workflow"]["output"]["found"], json!(false), "{bobs:#}");
    let (_, anns) = run(ANN, retrieve()).await;
    assert_eq!(anns["workflow"]["output"]["value"], json!("ann's"), "{anns:#}");
    assert_eq!(answered(server.posting(RUNS, &retrieve())).await.status, 401);
}

#[tokio::test]
async fn b11_the_same_key_with_the_same_workflow_runs_once() {
    let server = TestServer::open(FAST).await;
    let order = json!({ "workflow": TWO_STEPS, "input": { "topic": "tabs" } });
    let sent =
        async |order: &Value| answered(server.posting(RUNS, order).header("idempotency-key", "k")).await;
    let (first, second) = (sent(&order).await, sent(&order).await);
    assert_eq!((first.status.as_u16(), first.id()), (202, second.id()));
    let other = sent(&json!({ "workflow": TWO_STEPS, "input": { "topic": "spaces" } })).await;
    assert_eq!(other.status, 422, "{}", other.text);
}

#[tokio::test]
async fn b11_large_and_hostile_workflows_get_a_small_answer() {
    let server = TestServer::open(FAST).await;
    let deep = format!("steps: {}", "[".repeat(20_000));
    let many = json!({ "workflow": { "steps": vec![1; 1_001] } });
    let long = json!({ "workflow": "#".repeat(300 << 10) });
    let inside = json!({ "workflow": TWO_STEPS, "input": { "topic": { "deep": ["x".repeat(300 << 10)] } } });
    let names = json!({ "workflow": TWO_STEPS, "name": "x".repeat(201) });
    for order in [json!({ "workflow": deep }), many, long, inside, names] {
        let refused = server.post(RUNS, &order).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.text.len() < 4 << 10, "{} bytes", refused.text.len());
    }
}
