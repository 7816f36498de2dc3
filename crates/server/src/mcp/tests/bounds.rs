//! The bounds that the first clients rely on: stated in the schema, and checked.

use serde_json::{Value, json};

use crate::mcp::tests::client::Client;

async fn inputs(client: &mut Client) -> impl Fn(&str) -> Value + use<> {
    let listed = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    move |name| {
        let tools = listed.as_array().unwrap();
        tools.iter().find(|it| it["name"] == name).unwrap()["inputSchema"].clone()
    }
}

/// A schema's own bounds, whatever else it says.
fn bounds(schema: &Value) -> Value {
    let schema = schema["oneOf"].get(0).unwrap_or(schema);
    let keys =
        ["type", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "default", "format"];
    let kept = keys.iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())));
    Value::Object(kept.collect())
}

#[tokio::test(start_paused = true)]
async fn b10_the_schema_of_a_discussion_states_every_bound() {
    let mut client = Client::legacy().await;
    let input = inputs(&mut client).await("ax_discuss");
    assert_eq!([&input["required"], &input["additionalProperties"]], [&json!(["topic"]), &json!(false)]);
    for (field, expected) in [
        ("topic", json!({ "type": "string", "minLength": 1, "maxLength": 5_000 })),
        ("providers", json!({ "type": "array", "minItems": 2, "maxItems": 6 })),
        ("rounds", json!({ "type": "integer", "minimum": 1, "maximum": 10 })),
        ("votingOptions", json!({ "type": "array", "minItems": 2, "maxItems": 10 })),
        ("context", json!({ "type": "string", "maxLength": 10_000 })),
        ("timeout", json!({ "type": "integer", "minimum": 5_000, "maximum": 300_000 })),
        ("agentWeightMultiplier", json!({ "type": "number", "minimum": 0.5, "maximum": 3.0 })),
        ("confidenceThreshold", json!({ "type": "number", "minimum": 0.0, "maximum": 1.0 })),
        ("sessionId", json!({ "type": "string", "format": "uuid" })),
        ("maxWaitMs", json!({ "type": "integer", "minimum": 0, "maximum": 50_000, "default": 50_000 })),
        ("fullOutput", json!({ "type": "boolean", "default": false })),
    ] {
        assert_eq!(bounds(&input["properties"][field]), expected, "{field}");
    }
    let fields = [
        "pattern",
        "consensusMethod",
        "consensus",
        "synthesizer",
        "participants",
        "maxCost",
        "maxCalls",
        "budgetMs",
        "preset",
        "recall",
        "follows",
        "idempotencyKey",
    ];
    for field in fields {
        assert!(input["properties"][field].is_object(), "{field} is missing");
    }
}

#[tokio::test(start_paused = true)]
async fn b10_the_schemas_of_the_other_tools_state_theirs() {
    let mut client = Client::legacy().await;
    let input = inputs(&mut client).await;
    let wait = json!({ "type": "integer", "minimum": 0, "maximum": 50_000, "default": 50_000 });
    for (tool, field, expected) in [
        ("ax_discuss_quick", "topic", json!({ "type": "string", "minLength": 1, "maxLength": 2_000 })),
        (
            "ax_discuss_recursive",
            "maxDepth",
            json!({ "type": "integer", "minimum": 1, "maximum": 4, "default": 2 }),
        ),
        (
            "ax_discuss_recursive",
            "totalBudget",
            json!({ "type": "integer", "minimum": 30_000, "maximum": 1_800_000 }),
        ),
        (
            "ax_discuss_recursive",
            "budgetMs",
            json!({ "type": "integer", "minimum": 30_000, "maximum": 1_800_000 }),
        ),
        (
            "ax_discuss_recursive",
            "maxCalls",
            json!({ "type": "integer", "minimum": 5, "maximum": 100, "default": 20 }),
        ),
        ("ax_result", "waitMs", wait),
        ("ax_history", "limit", json!({ "type": "integer", "minimum": 1, "maximum": 50, "default": 20 })),
    ] {
        assert_eq!(bounds(&input(tool)["properties"][field]), expected, "{tool} {field}");
    }
    for (tool, fields) in [
        ("ax_discuss_quick", vec!["topic"]),
        ("ax_result", vec!["fullOutput", "id", "round", "section", "waitMs"]),
        ("ax_status", vec!["id"]),
        ("ax_say", vec!["as", "id", "text"]),
        ("ax_control", vec!["action", "candidate", "choice", "id", "text"]),
        ("ax_history", vec!["limit", "query", "sessionId"]),
        ("ax_list_models", vec![]),
    ] {
        let schema = input(tool);
        let mut taken: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        taken.sort();
        assert_eq!(taken, fields, "{tool}");
    }
    for field in ["timeoutStrategy", "earlyExit"] {
        assert!(input("ax_discuss_recursive")["properties"][field].is_object(), "{field} is missing");
    }
}
