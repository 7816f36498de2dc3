//! Agents over HTTP: listed with the provider they would speak through, and seated by an order.

use std::fs;

use quorum::{
    Quorum,
    setup::{self, Machine},
};
use quorum_server::{Limits, Settings, Voices};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{FAST, TestServer, config, settings};

async fn server() -> TestServer {
    let server = TestServer::open(FAST).await;
    for folder in ["agents", "abilities"] {
        fs::create_dir_all(server.folder.join(folder)).unwrap();
    }
    let profile = "agentId: reviewer\ndisplayName: Ada\nrole: reviewer\nsystemPrompt: Trust nothing.\n\
                   abilities: {core: [diffs, gone]}\nproviderAffinity: {preferred: [gemini]}\n";
    fs::write(server.folder.join("agents/reviewer.yaml"), profile).unwrap();
    fs::write(server.folder.join("agents/broken.yaml"), "agentId: [").unwrap();
    fs::write(server.folder.join("abilities/diffs.md"), "---\nabilityId: diffs\n---\nTests first.").unwrap();
    server
}

#[tokio::test]
async fn b08_agents_are_listed_with_the_provider_they_would_speak_through() {
    let expected = json!([{
        "id": "reviewer", "displayName": "Ada", "role": "reviewer", "speaksThrough": "gemini",
        "reason": "preferred", "weight": 1.5, "enabled": true, "folder": "user",
    }]);
    assert_eq!(server().await.get("/api/agents").await.json(), expected);
}

/// A server on a machine without providers, with these settings and one agent.
async fn without_providers(text: &str, voices: Voices) -> (TempDir, TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let config = config(text, folder.path());
    let setup = setup::load(&config, &Machine::bare()).unwrap();
    let quorum = Quorum::builder().user(config.clone()).set_up(setup).assigning_roles().build().unwrap();
    let settings = Settings { voices, ..settings(&config, Limits::default()) };
    fs::create_dir_all(folder.path().join("agents")).unwrap();
    let profile = "agentId: reviewer\nproviderAffinity: {preferred: [gemini]}\n";
    fs::write(folder.path().join("agents/reviewer.yaml"), profile).unwrap();
    let server = TestServer::of(quorum, settings, folder.path()).await;
    (folder, server)
}

#[tokio::test]
async fn b08_where_voices_are_simulated_every_agent_has_one() {
    let through = async |text: &str, voices: Voices| {
        let (_folder, server) = without_providers(text, voices).await;
        server.get("/api/agents").await.json()[0]["speaksThrough"].clone()
    };
    assert_eq!(through("", Voices::Available).await, Value::Null);
    assert_eq!(through("", Voices::Simulated).await, json!("gemini"));
    assert_eq!(through("[defaults]\noffline = true\n", Voices::Available).await, json!("gemini"));
}

#[tokio::test]
async fn b08_an_order_seats_an_agent_and_the_result_says_so() {
    let server = server().await;
    let seats = json!(["claude", { "type": "agent", "id": "reviewer" }]);
    let plan =
        server.post("/api/plan", &json!({ "topic": "Tabs or spaces?", "participants": seats })).await.json();
    let planned = &plan["participants"][1]["agent"];
    let told = (&planned["speaksThrough"], &planned["weight"], &planned["abilities"]["missing"]);
    assert_eq!(told, (&json!("gemini"), &json!(1.5), &json!(["gone"])));
    let id = server.held(&json!({ "topic": "Tabs or spaces?", "participants": seats, "rounds": 1 })).await;
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    let responses = result["rounds"][0]["responses"].as_array().unwrap();
    let agents: Vec<&Value> = responses.iter().map(|it| &it["agentId"]).collect();
    assert_eq!(agents, [&Value::Null, &json!("reviewer")]);
    assert_eq!(result["agents"][0]["provider"], "gemini");
    assert_eq!(result["integrity"]["abilities"][0]["missing"], json!(["gone"]));
}

#[tokio::test]
async fn b08_an_unknown_agent_is_refused_without_a_path_of_this_machine() {
    let server = server().await;
    let check = async |seat: Value, status: u16, message: &str| {
        let order = json!({ "topic": "x", "participants": ["claude", "gemini", seat] });
        let refused = server.post("/api/discussions", &order).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["fields"][0]["message"]),
            (status, &json!(message))
        );
        assert!(!refused.text.contains(server.folder.to_str().unwrap()), "{}", refused.text);
    };
    let listed = "GET /api/agents lists all agents";
    let unknown = format!("there is no agent named reviwer; did you mean reviewer?; {listed}");
    check(json!("reviwer:agent"), 409, &unknown).await;
    let spelling = "an agent's seat is written reviewer:agent, with the id first";
    check(json!("agent:reviewer"), 400, spelling).await;
}

#[tokio::test]
async fn i19_an_agent_is_a_participant_of_the_panel_as_a_model_and_a_person_is_not() {
    let server = server().await;
    let messages = json!([{ "role": "user", "content": "Tabs or spaces?" }]);
    let asked = async |seats: Value| {
        let panel = json!({ "participants": seats, "rounds": 1 });
        let body = json!({ "model": "quorum", "messages": messages, "quorum": panel });
        server.post("/v1/chat/completions", &body).await
    };
    for agent in [json!({ "type": "agent", "id": "reviewer" }), json!("reviewer:agent")] {
        let told = asked(json!(["claude", agent])).await.json();
        let talk = told["choices"][0]["message"]["reasoning"].as_str().unwrap_or_else(|| panic!("{told}"));
        assert!(talk.contains("[R1 claude] ") && talk.contains("[R1 reviewer] "), "{talk}");
    }
    for seat in [json!("me:person"), json!({ "person": "me" }), json!("nobody:agent"), json!(7)] {
        let refused = asked(json!(["claude", "gemini", seat])).await;
        let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
        assert_eq!(told, (400, &json!("quorum.participants")), "{seat}: {}", refused.text);
    }
}
