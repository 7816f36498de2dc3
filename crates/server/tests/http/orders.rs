//! Orders: listed, found, repeated, and started once however often they are sent (F12).

use quorum_server::Limits;
use serde_json::{Value, json};

use crate::harness::{Answer, FAST, TestServer, answered, order};

async fn keyed(server: &TestServer, key: &str, body: &Value) -> (u16, Value) {
    keyed_at(server, "/api/discussions", key, body).await
}

async fn keyed_at(server: &TestServer, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let answer = answered(server.posting(path, body).header("idempotency-key", key)).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn orders_beyond_the_running_limit_are_queued_and_beyond_the_queue_refused() {
    let limits = Limits { running: 1, queued: 2, ..Limits::default() };
    let server = TestServer::with("[defaults]\nsimulate = \"latency=60s\"\n", limits).await;
    let running = server.ordered(&order()).await;
    let again = format!("/api/discussions/{running}/again");
    for (path, body) in [("/api/discussions", &order()), (&*again, &json!({}))] {
        let (status, answer) = keyed_at(&server, path, path, body).await;
        assert_eq!((status, answer["status"].as_str()), (202, Some("queued")), "{path}: {answer}");
        let repeated = keyed_at(&server, path, path, body).await.1;
        assert_eq!(repeated["discussionId"], answer["discussionId"], "{path}");
    }
    let refused = answered(server.posting("/api/discussions", &order())).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert_eq!(refused.headers["retry-after"], "5");
    assert_eq!(refused.headers["content-type"], "application/problem+json");
    assert_eq!(refused.json()["code"], "TOO_MANY_DISCUSSIONS");
    let runs = |listed: &Value| -> Vec<String> {
        let entries = listed.as_array().unwrap().iter();
        entries.map(|it| it["run"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(runs(&server.get("/api/discussions").await.json()), ["queued", "queued", "running"]);

    // An abort is accepted while all slots are taken, and frees one for the queue.
    assert_eq!(server.post(&format!("/api/discussions/{running}/abort"), &json!({})).await.status, 202);
    server.get(&format!("/api/discussions/{running}/events")).await;
    loop {
        let listed = server.get("/api/discussions").await.json();
        if runs(&listed) == ["queued", "running", "over"] {
            return;
        }
        // It sleeps because the claimer works in real time.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn resumes_and_forks_beyond_the_running_limit_are_queued_and_beyond_the_queue_refused() {
    let limits = Limits { running: 1, queued: 2, burst: 100_000, ..Limits::default() };
    let server = TestServer::with("[defaults]\nsimulate = \"latency=0ms\"\nseed = 7\n", limits).await;
    let mut slow = order();
    slow["pattern"] = json!("round-robin");
    let finished = server.held(&slow).await;
    slow["simulate"] = json!({ "latencyMs": 300 });
    let paused = server.ordered(&slow).await;
    server.post(&format!("/api/discussions/{paused}/pause"), &json!({})).await;
    while server.state(&paused).await["lifecycle"] != "paused" {}
    slow["simulate"] = json!({ "latencyMs": 60_000 });
    let running = server.ordered(&slow).await;
    let resumed = server.post(&format!("/api/discussions/{paused}/resume"), &json!({})).await;
    assert_eq!((resumed.status.as_u16(), &resumed.json()["status"]), (202, &json!("queued")));
    let fork = |topic: &str| json!({ "at": "1/speaking/claude", "changes": { "topic": topic } });
    let path = format!("/api/discussions/{finished}/fork");
    let (status, forked) = keyed_at(&server, &path, "f", &fork("Spaces?")).await;
    assert_eq!((status, &forked["status"]), (202, &json!("queued")), "{forked}");
    let again = keyed_at(&server, &path, "f", &fork("Spaces?")).await.1;
    assert_eq!(again["discussionId"], forked["discussionId"]);
    let full = server.post(&path, &fork("Neither?")).await;
    assert_eq!((full.status.as_u16(), &full.json()["code"]), (429, &json!("TOO_MANY_DISCUSSIONS")));

    // Both go on once there is room.
    server.post(&format!("/api/discussions/{running}/abort"), &json!({})).await;
    for id in [paused.as_str(), forked["discussionId"].as_str().unwrap()] {
        let told = server.get(&format!("/api/discussions/{id}/events")).await.text;
        assert!(told.contains("event: discussion-completed"), "{told}");
    }
}

#[tokio::test]
async fn the_list_is_read_page_by_page() {
    let server = TestServer::open(FAST).await;
    let mut expected = Vec::new();
    for _ in 0..5 {
        expected.insert(0, server.ordered(&order()).await);
    }
    let (mut seen, mut next) = (Vec::new(), Some("/api/discussions?limit=2".to_owned()));
    while let Some(path) = next.take() {
        let page = server.get(&path).await;
        let entries = page.json();
        let ids =
            entries.as_array().unwrap().iter().map(|it| it["discussionId"].as_str().unwrap().to_owned());
        seen.extend(ids);
        let link = page.headers.get("link").map(|it| it.to_str().unwrap().to_owned());
        let target = link.and_then(|it| Some(it.split_once('<')?.1.split_once('>')?.0.to_owned()));
        next = target.map(|it| format!("{it}&limit=2"));
    }
    assert_eq!(seen, expected);
    assert_eq!(server.get("/api/discussions?cursor=here").await.status, 400);
}

#[tokio::test]
async fn f12_fifty_equal_orders_at_once_are_one_discussion() {
    let server = TestServer::open(FAST).await;
    let body = order();
    let sent = futures::future::join_all((0..50).map(|_| keyed(&server, "once", &body))).await;
    let (accepted, others): (Vec<_>, Vec<_>) = sent.into_iter().partition(|(status, _)| *status == 202);
    assert!(others.iter().all(|(status, body)| *status == 409 && body["code"] == "REQUEST_IN_FLIGHT"));
    assert!(accepted.iter().all(|(_, body)| body["discussionId"] == accepted[0].1["discussionId"]));
    assert_eq!(server.get("/api/discussions").await.json().as_array().unwrap().len(), 1);

    let (status, again) = keyed(&server, "once", &order()).await;
    assert_eq!((status, &again["discussionId"]), (202, &accepted[0].1["discussionId"]));
    let (status, other) = keyed(&server, "once", &json!({ "topic": "Another?" })).await;
    assert_eq!((status, other["code"].as_str()), (422, Some("IDEMPOTENCY_KEY_REUSED")));
    let (status, _) = keyed(&server, "twice", &order()).await;
    assert_eq!(status, 202);
    assert_eq!(server.get("/api/discussions").await.json().as_array().unwrap().len(), 2);
    assert_eq!(keyed(&server, &"k".repeat(256), &order()).await.0, 400);
}

#[tokio::test]
async fn f12_of_different_orders_at_once_with_one_key_one_is_taken() {
    let server = TestServer::open(FAST).await;
    let bodies: Vec<Value> =
        (0..50).map(|number| json!({ "topic": format!("Question {number}?") })).collect();
    let sent = futures::future::join_all(bodies.iter().map(|body| keyed(&server, "once", body))).await;
    let taken: Vec<_> = sent.iter().filter(|(status, _)| *status == 202).collect();
    assert_eq!(taken.len(), 1);
    assert!(sent.iter().all(|(status, _)| matches!(status, 202 | 409 | 422)), "{sent:?}");
    assert_eq!(server.get("/api/discussions").await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_list_has_who_is_awaited_and_the_cost_so_far() {
    let server = TestServer::open(FAST).await;
    let finished = server.held(&order()).await;
    let table = json!({
        "topic": "What shall we build?", "pattern": "roundtable", "participants": ["claude", "me:person"],
    });
    let waiting = server.ordered(&table).await;
    while server.state(&waiting).await["awaiting"].as_array().unwrap().is_empty() {}
    let judged = server.ordered(&json!({
        "topic": "Tabs or spaces?", "pattern": "debate", "participants": ["claude", "gemini", "glm"], "judge": "glm",
        "judgeFailure": "ask", "simulate": { "latencyMs": 0, "dead": ["glm"] },
    })).await;
    while server.state(&judged).await["rulingAwaited"].is_null() {}

    let list = server.get("/api/discussions").await.json();
    let of = |id: &str| list.as_array().unwrap().iter().find(|it| it["discussionId"] == id).unwrap();
    assert_eq!(of(&waiting)["awaiting"], json!([{ "participant": "me", "round": 1, "phase": "speaking" }]));
    assert_eq!(of(&judged)["rulingAwaited"]["about"], "glm");
    assert!(of(&judged)["rulingAwaited"]["candidates"].as_array().unwrap().len() > 1);
    assert_eq!((&of(&finished)["awaiting"], &of(&finished)["rulingAwaited"]), (&Value::Null, &Value::Null));
    for id in [&finished, &waiting, &judged] {
        let metadata = server.get(&format!("/api/discussions/{id}/result")).await.json()["metadata"].clone();
        assert_eq!(of(id)["totalTokens"], metadata["totalTokens"]);
        assert_eq!(of(id)["estimatedCost"], metadata["estimatedCost"]);
        assert!(of(id)["totalTokens"].as_u64().unwrap() > 0);
    }
    // A finished discussion is read once and cached.
    assert_eq!(server.get("/api/discussions").await.json(), list);
    assert_eq!(server.get("/api/discussions?q=tabs").await.json().as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn d15_history_is_listed_searched_exported_repeated_and_removed() {
    let server = TestServer::open(FAST).await;
    let tabs = server.held(&order()).await;
    let mut other = order();
    other["topic"] = json!("Which bread for breakfast?");
    let bread = server.held(&other).await;

    let list = server.get("/api/discussions").await.json();
    let shown = |it: &Value| (it["discussionId"].as_str().unwrap().to_owned(), it["status"].clone());
    let listed: Vec<_> = list.as_array().unwrap().iter().map(shown).collect();
    assert_eq!(listed, [(bread.clone(), json!("completed")), (tabs.clone(), json!("completed"))]);
    let found = server.get("/api/discussions?q=bread&limit=5").await.json();
    assert_eq!(found.as_array().unwrap().iter().map(shown).collect::<Vec<_>>(), listed[..1]);

    let result = server.get(&format!("/api/discussions/{tabs}/result")).await.json();
    assert_eq!((&result["status"], &result["simulated"]), (&json!("completed"), &json!(true)));
    for (format, kind, begins) in [
        ("markdown", "text/markdown; charset=utf-8", "# Tabs or spaces?"),
        ("html", "text/html; charset=utf-8", "<!doctype html>"),
        ("json", "application/json", "{\n"),
        ("jsonl", "application/jsonl", "{\"schema\":\"quorum.events\""),
    ] {
        let document = server.get(&format!("/api/discussions/{tabs}/export?format={format}")).await;
        assert_eq!(document.headers["content-type"], kind);
        assert!(
            document.headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=")
        );
        assert!(document.text.starts_with(begins), "{}", document.text);
    }
    let unknown = server.get(&format!("/api/discussions/{tabs}/export?format=pdf")).await;
    assert_eq!((unknown.status.as_u16(), &unknown.json()["fields"][0]["field"]), (400, &json!("format")));

    let again =
        server.post(&format!("/api/discussions/{tabs}/again"), &json!({ "pattern": "round-robin" })).await;
    assert_eq!(again.status, 202, "{}", again.text);
    server.get(&format!("/api/discussions/{}/events", again.id())).await;
    let repeated = server.get(&format!("/api/discussions/{}/result", again.id())).await.json();
    assert_eq!(
        (&repeated["topic"], &repeated["pattern"]),
        (&json!("Tabs or spaces?"), &json!("round-robin"))
    );

    let removed = answered(server.request("DELETE", &format!("/api/discussions/{bread}"))).await;
    assert_eq!(removed.status, 204);
    assert_eq!(server.get(&format!("/api/discussions/{bread}")).await.status, 404);
    assert_eq!(server.get("/api/discussions?q=bread").await.json(), json!([]));
}

#[tokio::test]
async fn b02_consensus_may_be_the_seeds_object() {
    let server = TestServer::open(FAST).await;
    let mut body = order();
    body["consensus"] = json!({ "method": "moderator", "synthesizer": "claude", "includeDissent": false });
    let id = server.held(&body).await;
    let result = server.get(&format!("/api/discussions/{id}/result")).await.json();
    assert_eq!(result["consensus"]["method"], "moderator", "{result:#}");
    assert_eq!(result["consensus"]["synthesizer"], "claude");
    assert_eq!(result["consensus"].get("dissent"), None);
    body["synthesizer"] = json!("gemini");
    let twice = server.post("/api/discussions", &body).await;
    assert_eq!((twice.status.as_u16(), &twice.json()["fields"][0]["field"]), (400, &json!("synthesizer")));
}

#[tokio::test]
async fn d15_a_fork_continues_differently() {
    let server = TestServer::open(FAST).await;
    let mut first = order();
    first["pattern"] = json!("round-robin");
    let id = server.held(&first).await;
    let path = format!("/api/discussions/{id}/fork");
    let refused = server.post(&path, &json!({ "at": "9/speaking/eve" })).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (409, &json!("at")));
    let unknown = server.post(&path, &json!({ "at": "1/speaking/claude", "changes": { "nobody": 1 } })).await;
    let at = |answer: &Answer| answer.json()["fields"][0]["pointer"].clone();
    assert_eq!((unknown.status.as_u16(), at(&unknown)), (400, json!("#/changes/nobody")));
    for (wrong, pointer) in
        [(json!({ "rounds": "x" }), "#/changes/rounds"), (json!({ "rounds": 11 }), "#/changes/rounds")]
    {
        let refused = server.post(&path, &json!({ "at": "1/speaking/claude", "changes": wrong })).await;
        assert_eq!((refused.status.as_u16(), at(&refused)), (400, json!(pointer)), "{}", refused.text);
    }
    let simulate = json!({ "latencyMs": 0, "stubbornness": 0.5 });
    let order =
        json!({ "at": "1/speaking/claude", "changes": { "topic": "Spaces or tabs?", "simulate": simulate } });
    // The same order with the fields of every object in another sequence.
    let simulate = json!({ "stubbornness": 0.5, "latencyMs": 0 });
    let turned =
        json!({ "changes": { "simulate": simulate, "topic": "Spaces or tabs?" }, "at": "1/speaking/claude" });
    let (one, two) = (server.posting(&path, &order), server.posting(&path, &turned));
    let one = answered(one.header("idempotency-key", "f")).await;
    let two = answered(two.header("idempotency-key", "f")).await;
    assert_eq!((one.status.as_u16(), one.id()), (202, two.id()));
    server.get(&format!("/api/discussions/{}/events", one.id())).await;
    let state = server.state(&one.id()).await;
    assert_eq!((&state["forkOf"], &state["lifecycle"]), (&json!(id), &json!("completed")));
}

/// All pages of a list, by the links between them.
async fn pages(server: &TestServer, first: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut next) = (Vec::new(), Some(first.to_owned()));
    while let Some(path) = next {
        let page = server.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.text);
        pages.push(page.json().as_array().unwrap().clone());
        let link = page.headers.get("link").map(|it| it.to_str().unwrap());
        let target = |it: &str| it.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
        next = link.map(|it| format!("{}&limit=2", target(it)));
    }
    pages
}

#[tokio::test]
async fn sessions_and_the_audit_log_are_read_page_by_page() {
    let server = TestServer::open(FAST).await;
    let mut expected = Vec::new();
    for number in 0..5 {
        let made = server.post("/api/sessions", &json!({ "name": format!("session {number}") })).await;
        expected.insert(0, made.json()["sessionId"].clone());
    }
    let sessions = pages(&server, "/api/sessions?limit=2").await;
    assert_eq!(sessions.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    let ids: Vec<Value> = sessions.into_iter().flatten().map(|it| it["sessionId"].clone()).collect();
    assert_eq!(ids, expected);
    assert_eq!(server.get("/api/sessions").await.json().as_array().unwrap().len(), 5);

    let mut expected = Vec::new();
    for _ in 0..5 {
        expected.insert(0, json!(server.held(&order()).await));
    }
    let entries = pages(&server, "/api/audit?limit=2").await;
    assert_eq!(entries.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    let ids: Vec<Value> = entries.into_iter().flatten().map(|it| it["discussionId"].clone()).collect();
    assert_eq!(ids, expected);
    for path in
        ["/api/sessions?cursor=7", "/api/audit?cursor=7", "/api/audit?limit=201", "/api/sessions?limit=0"]
    {
        assert_eq!(server.get(path).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn inv_disc_300_a_session_is_made_and_used() {
    let server = TestServer::open(FAST).await;
    let made = server.post("/api/sessions", &json!({ "name": " Billing " })).await;
    assert_eq!((made.status.as_u16(), &made.json()["name"]), (201, &json!("Billing")));
    for name in [json!(""), json!(" "), json!("x".repeat(201)), json!(1)] {
        let refused = server.post("/api/sessions", &json!({ "name": name })).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!("name")));
    }
    let session = made.json()["sessionId"].clone();
    let mut inside = order();
    inside["sessionId"] = session.clone();
    let id = server.held(&inside).await;
    server.held(&order()).await;
    let listed =
        server.get(&format!("/api/discussions?sessionId={}", session.as_str().unwrap())).await.json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["discussionId"]), (1, &json!(id)));
    assert_eq!(server.get("/api/sessions").await.json().as_array().unwrap().len(), 1);
}
