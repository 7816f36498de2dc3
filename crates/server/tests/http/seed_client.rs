//! Requirement A's own client against a real stream: two models with a wire each, one of them with
//! a price.

use quorum_testkit::{
    seed_client::fold,
    server::{Asked, Server, Used, server},
};
use serde_json::{Map, Value, json};

use crate::harness::{FAST, TestServer, events};

const TOPIC: &str = "Tabs or spaces?";

/// A voice that speaks, and agrees from this vote on, counted from 1.
fn speaks(name: &'static str, from: usize) -> impl Fn(&Asked) -> String + Send + Sync {
    let votes = std::sync::atomic::AtomicUsize::new(0);
    move |asked| {
        if !asked.last().contains("[CONSENSUS_CHECK]") {
            return format!("{name} says that it depends.");
        }
        let vote = votes.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let answer = if vote >= from { "YES" } else { "NO" };
        let solution = format!("Tabs, says {name}, for indentation.");
        format!(
            "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n80\n[REASONING]\nbecause\n[PROPOSED_SOLUTION]\n{solution}"
        )
    }
}

fn vendor() -> Server {
    let used = |prompt, completion| Used { prompt, completion, ..Used::default() };
    server()
        .replies("alpha-1", speaks("alpha", 1))
        .uses("alpha-1", used(100, 10))
        .replies("beta-1", speaks("beta", 2))
        .uses("beta-1", used(200, 20))
        .start()
}

/// Alpha has a price, beta has none.
async fn opened(vendor: &Server) -> TestServer {
    let url = vendor.url();
    TestServer::voiced(&format!(
        "[providers.alpha]\nwire = \"openai-chat\"\nbase_url = \"{url}/v1\"\nmodel = \"alpha-1\"\nprice = {{ input = 1.0, output = 2.0 }}\n\
         [providers.beta]\nwire = \"anthropic\"\nbase_url = \"{url}/v1\"\nmodel = \"beta-0\"\n"
    ))
    .await
}

fn order() -> Value {
    json!({
        "prompt": TOPIC, "modelA": { "modelId": "alpha-1", "providerId": "alpha" },
        "modelB": { "modelId": "beta-1", "providerId": "beta", "displayName": "Beta" }, "options": { "maxIterations": 3 },
    })
}

/// Replaces ids, times and durations by whether they have the right type.
fn steady(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match name.as_str() {
                "timestamp" | "durationMs" => (name.clone(), json!(value.is_u64())),
                "id" => (name.clone(), json!(value.is_string())),
                _ => (name.clone(), steady(value)),
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => items.iter().map(steady).collect(),
        other => other.clone(),
    }
}

fn turn(role: &str, round: u32) -> Value {
    let (name, prompt, completion) = if role == "model-a" { ("alpha", 100, 10) } else { ("beta", 200, 20) };
    json!({
        "id": true, "role": role, "roundNumber": round, "content": format!("{name} says that it depends."),
        "timestamp": true, "durationMs": true, "finishReason": "stop",
        "tokenUsage": { "promptTokens": prompt, "completionTokens": completion },
    })
}

fn vote(role: &str, agrees: bool) -> Value {
    let name = if role == "model-a" { "alpha" } else { "beta" };
    let mut vote = json!({
        "role": role, "hasConsensus": agrees, "confidence": 80, "reasoning": "because", "timestamp": true,
    });
    if agrees {
        vote["proposedSolution"] = json!(format!("Tabs, says {name}, for indentation."));
    }
    vote
}

fn check(round: u32, agrees: bool) -> Value {
    let mut check = json!({
        "roundNumber": round, "isUnanimous": agrees, "modelAVote": vote("model-a", true), "modelBVote": vote("model-b", agrees),
    });
    if agrees {
        check["finalSolution"] = json!("Tabs, says alpha, for indentation.");
    }
    check
}

#[tokio::test]
async fn d08_detections_are_in_the_state_as_in_the_result() {
    let speech = "Tabs let every reader choose a width. Nobody else is troubled by that choice, and files get smaller.";
    let vendor = server().replies("m", move |_| speech.to_owned()).start();
    let url = vendor.url();
    let row = |name: &str| {
        format!("[providers.{name}]\nwire = \"openai-chat\"\nbase_url = \"{url}/v1\"\nmodel = \"m\"\n")
    };
    let server = TestServer::voiced(&["alpha", "beta", "gamma"].map(row).concat()).await;
    let order = json!({
        "topic": TOPIC, "pattern": "debate", "providers": ["alpha", "beta", "gamma"], "rounds": 2,
        "judgeFailure": "go-without",
    });
    let id = server.held(&order).await;
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    assert!(result["detections"].as_array().is_some_and(|it| !it.is_empty()), "{result:#}");
    assert_eq!(server.state(&id).await["detections"], result["detections"]);
}

#[tokio::test]
async fn a16_names_are_as_the_client_sent_them() {
    let server = TestServer::open(FAST).await;
    let order = json!({
        "prompt": TOPIC, "modelA": { "modelId": "gpt-4o", "providerId": "openai", "displayName": "GPT 4o (fast)" },
        "modelB": { "modelId": "opus", "providerId": "anthropic" }, "options": { "maxIterations": 1 },
    });
    let told = events(&server.post("/api/discussion", &order).await.text);
    let started = told.iter().find(|it| it.1 == "discussion-started").unwrap();
    let seats = ["modelA", "modelB"].map(|it| {
        let seat = &started.2["config"][it];
        [&seat["providerId"], &seat["displayName"]].map(|it| it.as_str().unwrap().to_owned())
    });
    assert_eq!(seats, [["openai", "GPT 4o (fast)"], ["anthropic", "opus"]]);
    let turns = told.iter().filter(|it| it.1 == "turn-started");
    let providers: Vec<&str> = turns.map(|it| it.2["providerId"].as_str().unwrap()).collect();
    assert_eq!(providers, ["openai", "anthropic"]);
    let state = server.state(started.2["discussionId"].as_str().unwrap()).await;
    assert_eq!(state["config"]["participants"]["modelA"]["displayName"], "GPT 4o (fast)");
}

#[tokio::test]
async fn a12_a16_the_seeds_own_client_folds_the_stream_to_the_state_that_can_be_read() {
    let vendor = vendor();
    let server = opened(&vendor).await;
    let answer = server.post("/api/discussion", &order()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let told = events(&answer.text);
    let client = fold(told.iter().map(|(_, name, data)| (name.as_str(), data)));

    let round = |number: u32, agrees: bool| {
        json!({
            "number": number, "modelATurn": turn("model-a", number), "modelBTurn": turn("model-b", number),
            "consensusCheck": check(number, agrees),
        })
    };
    let seat = |role: &str, provider: &str, name: &str| {
        json!({
            "role": role, "modelId": format!("{provider}-1"), "providerId": provider, "displayName": name,
        })
    };
    let participants =
        json!({ "modelA": seat("model-a", "alpha", "alpha-1"), "modelB": seat("model-b", "beta", "Beta") });
    let expected = json!({
        "id": true, "phase": "completed", "currentRound": 2, "stoppingReason": "consensus_reached",
        "config": { "prompt": TOPIC, "participants": participants, "options": {
            "maxIterations": 3, "temperature": 0.7, "maxTokensPerTurn": 2048, "turnTimeoutMs": 120_000,
            "totalTimeoutMs": 1_800_000, "requireBothConsensus": true, "minRoundsBeforeConsensus": 1,
        } },
        "rounds": [round(1, false), round(2, true)], "consensusHistory": [check(1, false), check(2, true)],
        "finalConsensus": {
            "solution": "Tabs, says alpha, for indentation.", "achievedAtRound": 2,
            "modelAContribution": "alpha says that it depends.", "modelBContribution": "beta says that it depends.",
        },
        "totalTokensUsed": { "modelA": { "prompt": 400, "completion": 40 }, "modelB": { "prompt": 800, "completion": 80 } },
    });
    assert_eq!(steady(&client), expected);

    let mut state = server.state(client["id"].as_str().unwrap()).await;
    state["totalTokensUsed"].as_object_mut().unwrap().remove("total");
    let fields = client.as_object().unwrap().keys();
    let read: Map<String, Value> = fields.map(|it| (it.clone(), state[it].clone())).collect();
    assert_eq!(Value::Object(read), client, "what can be read is what was told");
    let moves: Vec<[&str; 2]> = state["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| ["from", "to"].map(|side| it[side].as_str().unwrap()))
        .collect();
    let phases = [
        "idle",
        "initializing",
        "model-a-turn",
        "model-b-turn",
        "consensus-check-a",
        "consensus-check-b",
        "model-a-turn",
        "model-b-turn",
        "consensus-check-a",
        "consensus-check-b",
        "completed",
    ];
    let expected: Vec<[&str; 2]> = phases.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    assert_eq!(moves, expected);
    assert!(state["transitions"][0]["at"].is_u64());
}

#[tokio::test]
async fn results_and_metrics_tell_model_tokens_and_cost_of_every_response() {
    let vendor = vendor();
    let server = opened(&vendor).await;
    let told = events(&server.post("/api/discussion", &order()).await.text);
    let turns: Vec<&Value> =
        told.iter().filter(|it| it.1 == "turn-completed").map(|it| &it.2["turn"]).collect();
    assert_eq!((&turns[0]["model"], &turns[0]["answeredBy"]), (&json!("alpha-1"), &json!("alpha-1")));
    assert_eq!((&turns[0]["costUsd"], turns[1].get("costUsd")), (&json!(0.000_12), None));

    let id = told[0].2["discussionId"].as_str().unwrap();
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    let responses = result["rounds"][0]["responses"].as_array().unwrap();
    let figures: Vec<Value> = responses
        .iter()
        .map(|it| json!([it["provider"], it["model"], it["answeredBy"], it["tokenCount"], it["costUsd"]]))
        .collect();
    let alpha = json!(["alpha-1", "alpha-1", "alpha-1", 110, 0.000_12]);
    let beta = json!(["Beta", "beta-1", "beta-1", 220, null]);
    assert_eq!(figures, [alpha.clone(), beta.clone(), alpha, beta]);
    let costs = &result["metadata"]["costSummary"];
    let expected = json!({
        "totalCalls": 8, "totalTokens": 1_320, "estimatedCostUsd": 0.000_48, "unpriced": ["Beta"],
        "byProvider": {
            "Beta": {
                "model": "beta-1", "calls": 4, "promptTokens": 800, "completionTokens": 80, "tokens": 880, "cost": 0.0,
                "unpriced": true,
            },
            "alpha-1": {
                "model": "alpha-1", "calls": 4, "promptTokens": 400, "completionTokens": 40, "tokens": 440,
                "cost": 0.000_48,
            },
        },
    });
    assert_eq!(*costs, expected);
    assert_eq!(result["metadata"].get("estimatedCost"), None, "a part has no price");

    let counted = server.get("/metrics").await.text;
    for line in [
        "ax_provider_requests_total{provider=\"alpha\",model=\"alpha-1\",outcome=\"ok\"} 4\n",
        "ax_unpriced_calls_total{provider=\"beta\",model=\"beta-1\"} 4\n",
        "gen_ai_response_model=\"beta-1\"",
    ] {
        assert!(counted.contains(line), "{line} is not in\n{counted}");
    }
    assert!(!counted.contains("ax_cost_usd_total{provider=\"beta\""), "no price is not a price of 0");
}
