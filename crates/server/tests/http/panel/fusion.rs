//! OpenRouter's Fusion: its aliases, request, item and events.

use serde_json::{Value, json};

use super::{calls, chat, config, messages::events, question, vendor, with};
use crate::harness::TestServer;

fn reply(asked: &quorum_testkit::server::Asked) -> String {
    let Some(from) = asked.last().find("[STRUCTURE_") else { return format!("{} says tabs.", asked.model) };
    let mark = &asked.last()[from..=from + asked.last()[from..].find(']').unwrap()];
    // The writer sees labels, so it takes the names that it was told.
    let names: Vec<&str> = asked
        .system
        .split("Participants: ")
        .nth(1)
        .unwrap()
        .split('.')
        .next()
        .unwrap()
        .split([',', ' '])
        .filter(|it| it.starts_with('@'))
        .collect();
    let [a, b, c] = names[..] else { return "Tabs.".to_owned() };
    let claims = json!([
        { "text": "tabs adapt", "supportedBy": [a, b] },
        { "text": "spaces look the same", "supportedBy": [c], "attackedBy": [a] },
        { "text": "editors convert", "supportedBy": [b], "unanswered": true },
    ]);
    format!("Tabs.\n\n{mark}\n{}", json!({ "claims": claims, "agreements": ["width"], "dissent": [] }))
}

#[tokio::test]
async fn i19_fusion_is_one_round_with_its_item_for_those_that_ask() {
    let vendor = vendor().replies("*", reply).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let plugin = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta", "gamma"] }]);
    let body = json!({ "model": "openrouter/fusion", "input": "Tabs?", "plugins": plugin });
    let told = server.post("/v1/responses", &body).await.json();
    assert_eq!(calls(&vendor).len(), 4, "one round: {told}");
    let item = &told["output"][0];
    assert_eq!((&item["type"], &item["status"]), (&json!("openrouter:fusion"), &json!("completed")));
    assert_eq!(item["responses"].as_array().unwrap().len(), 3);
    let analysis = &item["analysis"];
    assert_eq!(analysis["consensus"], json!(["width", "tabs adapt"]), "{item}");
    assert_eq!(analysis["blind_spots"], json!(["editors convert"]));
    assert_eq!(analysis["contradictions"][0]["topic"], "spaces look the same");
    assert_eq!(analysis["contradictions"][0]["stances"].as_array().unwrap().len(), 2);
    assert_eq!(analysis["unique_insights"][0]["insight"], "editors convert");
    assert_eq!(analysis["partial_coverage"][0]["point"], "tabs adapt");

    let plain = json!({ "model": "fusion", "messages": question("x")["messages"] });
    assert_eq!(chat(&server, &plain).await.json().get("fusion"), None);
    let tool = json!({ "tools": [{ "type": "openrouter:fusion", "parameters": { "analysis_models": ["alpha", "beta"] } }] });
    let told = chat(&server, &with(question("gamma"), tool)).await.json();
    assert_eq!(told["fusion"]["responses"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["quorum"]["ignored"], json!([]), "the tool is configuration");
}

#[tokio::test]
async fn i19_the_events_of_fusion_are_sent_to_those_that_ask() {
    let failing = quorum_testkit::server::Fault::Status(400);
    let vendor = vendor().replies("*", |asked| {
        if asked.last().contains("[STRUCTURE_") { "Tabs.".into() } else { "Tabs adapt.".into() }
    });
    let vendor = vendor.fault("gamma-1", failing).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let plugin = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta", "gamma"] }]);
    let body = json!({ "model": "openrouter/fusion", "input": "Tabs?", "plugins": plugin, "stream": true });
    let streamed = server.post("/v1/responses", &body).await;
    let events = events(&streamed.text);
    let of = |name: &str| -> Vec<&Value> {
        let name = format!("response.fusion_call.{name}");
        events.iter().filter(|it| it.0 == name).map(|it| &it.1).collect()
    };
    assert_eq!(
        (of("in_progress").len(), of("panel.added").len(), of("panel.completed").len()),
        (1, 3, 2),
        "{}",
        streamed.text
    );
    assert_eq!((of("panel.failed").len(), of("completed").len()), (1, 1));
    assert!(of("panel.failed")[0]["error"].is_string());
    let delta: String = of("panel.delta")
        .iter()
        .filter(|it| it["model"] == "alpha/alpha-1")
        .filter_map(|it| it["delta"].as_str())
        .collect();
    assert_eq!(delta, "Tabs adapt.");
    let analysis = of("analysis.in_progress");
    assert_eq!(analysis.len(), 1);
    assert!(
        analysis[0]["judge_model"].is_string() && analysis[0]["judge_model"] == analysis[0]["analyst_model"]
    );
    // A judge that lists nothing is not an error: responses without an analysis.
    assert_eq!(of("analysis.completed").len(), 0);
    assert_eq!(of("completed")[0]["item"].get("analysis"), None);
    for (name, data) in &events {
        let is_numbered = data["sequence_number"].is_u64();
        assert!(
            is_numbered && (!name.contains("fusion_call") || data["item_id"].is_string()),
            "{name} {data}"
        );
    }
}

#[tokio::test]
async fn i19_a_judge_that_fails_is_not_reported_as_a_model_that_failed_to_answer() {
    let failing = quorum_testkit::server::Fault::Status(400);
    // Its first answer is its own, the second one is the synthesis.
    let vendor = vendor().replies("*", reply).fault_from("alpha-1", 2, failing).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let plugin = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta", "gamma"] }]);
    let body = json!({ "model": "openrouter/fusion", "input": "Tabs?", "plugins": plugin, "stream": true });
    let streamed = server.post("/v1/responses", &body).await;
    let events = events(&streamed.text);
    assert_eq!(events.last().unwrap().0, "response.completed", "{}", streamed.text);
    assert!(events.iter().all(|it| it.0 != "response.fusion_call.panel.failed"), "{}", streamed.text);
    let item = &events.last().unwrap().1["response"]["output"][0];
    assert_eq!(item["responses"].as_array().unwrap().len(), 3, "{item}");
    assert_eq!(item.get("failed_models"), None, "{item}");
}

#[tokio::test]
async fn i19_models_of_fusion_are_refused_under_the_name_that_the_client_wrote() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for models in [json!(["alpha", "nobody/nothing"]), json!(["alpha"])] {
        let plugin = json!([{ "id": "fusion", "analysis_models": models }]);
        let refused = chat(&server, &with(question("fusion"), json!({ "plugins": plugin }))).await;
        let told = (refused.status.as_u16(), &refused.json()["error"]["param"]);
        assert_eq!(told, (400, &json!("plugins.analysis_models")), "{}", refused.text);
        let tool = json!([{ "type": "openrouter:fusion", "parameters": { "analysis_models": models } }]);
        let refused = chat(&server, &with(question("fusion"), json!({ "tools": tool }))).await;
        assert_eq!(refused.json()["error"]["param"], "tools.analysis_models", "{}", refused.text);
    }
    assert_eq!(calls(&vendor), Vec::<String>::new());
}

#[tokio::test]
async fn i19_an_analysis_is_completed_before_its_item() {
    let vendor = vendor().replies("*", reply).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let plugin = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta", "gamma"] }]);
    let body = json!({ "model": "openrouter/fusion", "input": "Tabs?", "plugins": plugin, "stream": true });
    let streamed = server.post("/v1/responses", &body).await;
    let events = events(&streamed.text);
    let of_fusion = events.iter().filter_map(|it| it.0.strip_prefix("response.fusion_call."));
    let mut kinds: Vec<&str> = of_fusion.collect();
    assert_eq!(kinds[kinds.len() - 2..], ["analysis.completed", "completed"], "{}", streamed.text);
    kinds.sort_unstable();
    let once = kinds.iter().filter(|it| it.starts_with("analysis") || **it == "completed").count();
    assert_eq!(once, 3, "{kinds:?}");
    kinds.dedup();
    let expected = [
        "analysis.completed",
        "analysis.in_progress",
        "completed",
        "in_progress",
        "panel.added",
        "panel.completed",
        "panel.delta",
    ];
    assert_eq!(kinds, expected);
    let data =
        |name: &str| &events.iter().find(|it| it.0 == format!("response.fusion_call.{name}")).unwrap().1;
    assert_eq!(data("analysis.completed")["analysis"], data("completed")["item"]["analysis"]);
}

#[tokio::test]
async fn i19_answers_are_kept_if_nobody_can_write_the_synthesis() {
    let failing = || quorum_testkit::server::Fault::Status(400);
    let vendor = vendor().replies("*", reply);
    let models = ["alpha-1", "beta-1", "gamma-1"];
    // Their first answers are their own.
    let vendor = models.into_iter().fold(vendor, |it, model| it.fault_from(model, 2, failing())).start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let plugin = json!([{ "id": "fusion", "analysis_models": ["alpha", "beta", "gamma"] }]);
    let body = json!({ "model": "openrouter/fusion", "input": "Tabs?", "plugins": plugin, "stream": true });
    let streamed = server.post("/v1/responses", &body).await;
    let discussion = streamed.headers["x-quorum-discussion"].to_str().unwrap();
    let events = events(&streamed.text);
    let (name, last) = events.last().unwrap();
    let response = &last["response"];
    let message =
        format!("no participant could write the synthesis; the answers are in the record: /d/{discussion}");
    assert_eq!((name.as_str(), &response["error"]["message"]), ("response.failed", &json!(message)));
    let item = &response["output"][0];
    let responses: Vec<Value> = ["alpha", "beta", "gamma"]
        .iter()
        .map(|it| json!({ "model": format!("{it}/{it}-1"), "content": format!("{it}-1 says tabs.") }))
        .collect();
    assert_eq!(
        item,
        &json!({
            "type": "openrouter:fusion", "id": format!("fus_{discussion}"), "status": "failed",
            "responses": responses, "error": message,
        })
    );
    let done: Vec<&Value> = events
        .iter()
        .filter(|it| it.0 == "response.output_item.done" && it.1["output_index"] == 0)
        .map(|it| &it.1["item"])
        .collect();
    assert_eq!(done, [item]);
    let found = server.get(&format!("/v1/responses/resp_{discussion}")).await.json();
    assert_eq!((&found["status"], &found["output"][0]), (&json!("failed"), item));
}
