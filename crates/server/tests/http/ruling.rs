//! Decisions awaited from people, such as what to do about the seat of a judge that failed (D13).

use serde_json::{Value, json};

use crate::harness::{ANN, FAST, TestServer, answered, order, tenants};

fn debate() -> Value {
    json!({
        "topic": "Tabs or spaces?", "pattern": "debate", "providers": ["claude", "glm", "qwen"], "judge": "qwen",
        "judgeFailure": "ask", "simulate": { "latencyMs": 0, "dead": ["qwen"] },
    })
}

/// Starts a debate whose judge fails, and waits until it awaits a decision.
async fn unjudged(server: &TestServer) -> String {
    let id = server.ordered(&debate()).await;
    while server.state(&id).await["rulingAwaited"].is_null() {
        tokio::task::yield_now().await;
    }
    id
}

async fn over(server: &TestServer, id: &str) -> Value {
    loop {
        let state = server.state(id).await;
        if state["lifecycle"] == "completed" {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn d13_an_awaited_ruling_about_the_judge_is_shown() {
    let server = TestServer::open(FAST).await;
    let id = unjudged(&server).await;
    let shown = server.get(&format!("/api/discussions/{id}")).await.json();
    let (awaited, state) = (&shown["rulingAwaited"], server.state(&id).await);
    assert_eq!((&awaited["about"], &awaited["round"]), (&json!("qwen"), &json!(1)));
    assert_eq!(awaited["candidates"], json!(["claude", "glm"]));
    assert_eq!(awaited["kind"], "judge");
    let choices = json!([
        { "name": "swap", "takesCandidate": true },
        { "name": "go-without", "takesCandidate": false },
        { "name": "end", "takesCandidate": false },
    ]);
    assert_eq!(awaited["choices"], choices);
    assert_eq!(*awaited, state["rulingAwaited"]);
    assert_eq!(shown["nextSpeaker"], Value::Null);
    let other = server.held(&order()).await;
    assert!(server.state(&other).await["rulingAwaited"].is_null());
}

#[tokio::test]
async fn d13_a_ruling_about_the_judge_continues_the_debate() {
    let server = TestServer::open(FAST).await;
    let check = async |word: Value, judges: Value| {
        let id = unjudged(&server).await;
        let said = server.post(&format!("/api/discussions/{id}/ruling"), &word).await;
        let expected = json!({ "discussionId": id, "action": "rule" });
        assert_eq!((said.status.as_u16(), said.json()), (202, expected));
        let state = over(&server, &id).await;
        assert!(state["rulingAwaited"].is_null(), "{state}");
        let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
        assert_eq!(result["judging"]["judgeChanges"][0]["to"], judges, "{}", result["judging"]);
    };
    check(json!({ "choice": "swap", "candidate": "glm" }), json!("glm")).await;
    check(json!({ "kind": "judge", "choice": "go-without" }), Value::Null).await;
    check(json!({ "choice": "end" }), Value::Null).await;
}

#[tokio::test]
async fn d13_a_ruling_that_is_not_awaited_changes_nothing() {
    let server = TestServer::open(FAST).await;
    let id = unjudged(&server).await;
    let before = server.state(&id).await;
    let refused = async |id: &str, word: Value, status: u16, code: &str, field: Option<&str>| {
        let answer = server.post(&format!("/api/discussions/{id}/ruling"), &word).await;
        let problem = answer.json();
        let told = (answer.status.as_u16(), problem["code"].as_str(), problem["fields"][0]["field"].as_str());
        assert_eq!(told, (status, Some(code), field), "{word}: {problem}");
    };
    let invalid = "DISCUSSION_INVALID_REQUEST";
    refused(&id, json!({ "choice": "swap", "candidate": "zoe" }), 409, invalid, Some("candidate")).await;
    refused(&id, json!({ "choice": "swap", "candidate": "qwen" }), 409, invalid, Some("candidate")).await;
    refused(&id, json!({ "choice": "swap" }), 409, invalid, Some("candidate")).await;
    refused(&id, json!({ "choice": "end", "candidate": "glm" }), 409, invalid, Some("candidate")).await;
    refused(&id, json!({ "choice": "hang" }), 409, invalid, Some("choice")).await;
    refused(&id, json!({}), 400, invalid, Some("choice")).await;
    refused(&id, json!({ "choice": "end", "why": "late" }), 400, invalid, Some("why")).await;
    refused(&id, json!({ "kind": "chair", "choice": "end" }), 409, "NOT_AWAITED", None).await;
    assert_eq!(server.state(&id).await, before);

    let talking = server.ordered(&crate::harness::slow()).await;
    refused(&talking, json!({ "choice": "go-without" }), 409, "NOT_AWAITED", None).await;
    let done = server.held(&order()).await;
    refused(&done, json!({ "choice": "go-without" }), 409, "DISCUSSION_OVER", None).await;
    let nowhere = "01890000-0000-7000-8000-0000000000ff";
    refused(nowhere, json!({ "choice": "go-without" }), 404, "NOT_FOUND", None).await;
}

#[tokio::test]
async fn d13_of_concurrent_rulings_over_http_one_is_accepted() {
    let server = TestServer::open(FAST).await;
    let id = unjudged(&server).await;
    let path = format!("/api/discussions/{id}/ruling");
    let word = json!({ "choice": "go-without" });
    let words = (0..20).map(|_| answered(server.posting(&path, &word)));
    let answers = futures::future::join_all(words).await;
    assert_eq!(answers.iter().filter(|it| it.status == 202).count(), 1);
    assert!(answers.iter().all(|it| matches!(it.status.as_u16(), 202 | 409)));
    over(&server, &id).await;
}

#[tokio::test]
async fn s7_a_ruling_about_the_judge_is_audited() {
    let server = TestServer::open(&tenants()).await;
    let by_ann = |request: reqwest::RequestBuilder| answered(request.bearer_auth(ANN));
    let id = by_ann(server.posting("/api/discussions", &debate())).await.id();
    let state = format!("/api/discussions/{id}/state");
    while by_ann(server.request("GET", &state)).await.json()["rulingAwaited"].is_null() {
        tokio::task::yield_now().await;
    }
    let path = format!("/api/discussions/{id}/ruling");
    by_ann(server.posting(&path, &json!({ "choice": "swap", "candidate": "zoe" }))).await;
    by_ann(server.posting(&path, &json!({ "choice": "end" }))).await;
    let audit_entries = by_ann(server.request("GET", "/api/audit")).await.json();
    let shown = |it: &Value| {
        format!(
            "{} {} {}",
            it["who"].as_str().unwrap(),
            it["action"].as_str().unwrap(),
            it["result"].as_str().unwrap()
        )
    };
    let audit_entries: Vec<String> = audit_entries.as_array().unwrap().iter().map(shown).collect();
    let refused =
        "ann's laptop rule refused: zoe is not a candidate; candidates are claude, glm; nothing was changed";
    assert_eq!(audit_entries, ["ann's laptop rule done", refused, "ann's laptop start done"]);
}
