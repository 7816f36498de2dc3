//! The Model Context Protocol over HTTP: both eras, the guard, tenants and cancellation.

use serde_json::{Value, json};

use crate::{
    caps,
    harness::{ANN, Answer, BOB, FAST, TestServer, answered, tenants},
};

const ACCEPT: &str = "application/json, text/event-stream";
const MODERN: &str = "2026-07-28";

fn message(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn posting(server: &TestServer, token: Option<&str>, body: &Value) -> reqwest::RequestBuilder {
    let request = server.posting("/mcp", body).header("accept", ACCEPT);
    match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    }
}

/// The message with this id in a stream of events, or in a plain answer.
fn told(answer: &Answer) -> Value {
    let data = answer.text.lines().filter_map(|it| it.strip_prefix("data: ")).next_back();
    serde_json::from_str(data.unwrap_or(&answer.text)).unwrap_or_else(|_| panic!("{}", answer.text))
}

/// A call in the era with a handshake; without a session, none is needed.
async fn call(server: &TestServer, token: Option<&str>, tool: &str, arguments: &Value) -> Value {
    let body = message(1, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    let request = posting(server, token, &body).header("mcp-protocol-version", "2025-11-25");
    told(&answered(request).await)["result"]["structuredContent"].clone()
}

fn quick() -> Value {
    json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"] })
}

#[tokio::test]
async fn b10_both_eras_are_served_without_a_session() {
    let server = TestServer::open(FAST).await;
    let about = json!({ "name": "a test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
    let answer = answered(posting(&server, None, &message(1, "initialize", &hello))).await;
    assert_eq!(told(&answer)["result"]["serverInfo"]["name"], "quorum", "{}", answer.text);
    assert_eq!(answer.headers.get("mcp-session-id"), None);
    let done = call(&server, None, "ax_discuss", &quick()).await;
    assert_eq!(done["status"], "completed", "{done}");

    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": about,
    });
    let modern = |method: &str, name: Option<&str>, mut params: Value| {
        params["_meta"] = meta.clone();
        let request = posting(&server, None, &message(1, method, &params));
        let request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    };
    let found = told(&answered(modern("server/discover", None, json!({}))).await);
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!("2024-11-05")), "{found}");
    let params = json!({ "name": "ax_discuss", "arguments": quick() });
    let done = told(&answered(modern("tools/call", Some("ax_discuss"), params)).await);
    assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let uri = "discussion://nope/result";
    let unknown = told(&answered(modern("resources/read", Some(uri), json!({ "uri": uri }))).await);
    assert_eq!([&unknown["error"]["code"], &unknown["error"]["data"]["uri"]], [&json!(-32_602), &json!(uri)]);
}

#[tokio::test]
async fn b10_a_tenant_sees_only_its_own_and_the_audit_names_the_token() {
    let server = TestServer::open(&tenants()).await;
    let done = call(&server, Some(ANN), "ax_discuss", &quick()).await;
    let id = json!({ "id": done["discussionId"] });
    assert_eq!(call(&server, Some(ANN), "ax_result", &id).await["status"], "completed");
    let foreign = call(&server, Some(BOB), "ax_result", &id).await;
    let expected =
        json!({ "code": "NOT_FOUND", "message": "there is no discussion with this id", "tool": "ax_result" });
    assert_eq!(foreign, expected);
    assert_eq!(call(&server, Some(BOB), "ax_history", &json!({})).await["discussions"], json!([]));
    let uri = format!("discussion://{}/result", done["discussionId"].as_str().unwrap());
    let read = posting(&server, Some(BOB), &message(1, "resources/read", &json!({ "uri": uri })));
    let read = told(&answered(read.header("mcp-protocol-version", "2025-11-25")).await);
    assert_eq!(read["error"]["code"], -32_002, "{read}");
    let audit = server.request("GET", "/api/audit").header("authorization", format!("Bearer {ANN}"));
    let audit = answered(audit).await.json();
    assert_eq!([&audit[0]["who"], &audit[0]["action"]], [&json!("ann's laptop"), &json!("start")], "{audit}");
}

#[tokio::test]
async fn b10_another_tenant_s_task_is_as_unknown_as_any() {
    let server = TestServer::open(&tenants()).await;
    let done = call(&server, Some(ANN), "ax_discuss", &quick()).await;
    let asked = async |token: &str, method: &str, id: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let params = json!({ "taskId": id, "inputResponses": {}, "_meta": meta });
        let request = posting(&server, Some(token), &message(1, method, &params));
        let request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
        told(&answered(request.header("mcp-name", id)).await)
    };
    let id = done["discussionId"].as_str().unwrap();
    assert_eq!(asked(ANN, "tasks/get", id).await["result"]["status"], "completed");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for (token, id) in [(BOB, id), (ANN, "01890000-0000-7000-8000-000000000001"), (ANN, "nope")] {
            let error = asked(token, method, id).await["error"].clone();
            let expected =
                json!({ "code": -32_602, "message": "there is no such task", "data": { "taskId": id } });
            assert_eq!(error, expected, "{method}");
        }
    }
}

#[tokio::test]
async fn b10_the_guard_stands_before_it() {
    let server = TestServer::open(&tenants()).await;
    let list = message(1, "tools/list", &json!({}));
    let status = |request: reqwest::RequestBuilder| async { answered(request).await.status.as_u16() };
    let asked = || posting(&server, Some(ANN), &list);
    assert_eq!(status(asked()).await, 200);
    assert_eq!(status(posting(&server, None, &list)).await, 401);
    assert_eq!(status(posting(&server, Some("wrong-token-0123456789"), &list)).await, 401);
    assert_eq!(status(asked().header("origin", "http://evil.example")).await, 403);
    assert_eq!(status(asked().header("origin", "https://panel.example.org")).await, 200);
    assert_eq!(status(asked().header("host", "evil.example")).await, 421);
    assert_eq!(status(posting(&server, Some(ANN), &json!([list]))).await, 400);
    let large = message(
        1,
        "tools/call",
        &json!({ "name": "ax_discuss", "arguments": { "topic": "x".repeat(5 << 20) } }),
    );
    assert_eq!(status(posting(&server, Some(ANN), &large)).await, 413);
    let get = server.request("GET", "/mcp").header("authorization", format!("Bearer {ANN}"));
    assert_eq!(status(get.header("accept", "text/event-stream")).await, 405);
    let broken = server.request("POST", "/mcp").header("authorization", format!("Bearer {ANN}"));
    let broken = broken.header("content-type", "application/json").header("accept", ACCEPT);
    let refused = status(broken.body(&b"{\"jsonrpc\":\"\xff\""[..])).await;
    assert!((400..500).contains(&refused), "{refused}");
}

#[tokio::test]
async fn b10_a_body_that_is_no_message_is_refused_as_over_standard_input() {
    let server = TestServer::open(FAST).await;
    for (body, code, id) in [
        (&b"{nope"[..], -32_700, Value::Null),
        (&b"{\"jsonrpc\":\"\xff\"}"[..], -32_700, Value::Null),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":7,"metod":"ping"}"#, -32_600, json!(7)),
    ] {
        let request = server.request("POST", "/mcp").header("content-type", "application/json");
        let answer = answered(request.header("accept", ACCEPT).body(body)).await;
        let error = answer.json();
        assert_eq!((answer.status.as_u16(), &error["id"]), (400, &id), "{error}");
        assert_eq!(error["error"]["code"], code, "{error}");
    }
}

/// Waits until the discussion has this status.
async fn until(server: &TestServer, id: &Value, status: &str) -> Value {
    loop {
        let told = call(server, None, "ax_result", &json!({ "id": id, "waitMs": 200 })).await;
        if told["status"] == status {
            return told;
        }
    }
}

async fn running(server: &TestServer) -> Value {
    loop {
        let listed = call(server, None, "ax_status", &json!({})).await;
        if let Some(id) = listed["discussions"][0]["discussionId"].as_str() {
            return json!(id);
        }
    }
}

#[tokio::test]
async fn b10_a_client_that_leaves_or_cancels_pauses_its_discussion() {
    let slow = json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"],
        "simulate": { "latencyMs": 1_500 },
    });
    for is_told in [false, true] {
        let server = TestServer::open(FAST).await;
        let body = message(7, "tools/call", &json!({ "name": "ax_discuss", "arguments": slow }));
        let request = posting(&server, None, &body).header("mcp-protocol-version", "2025-11-25");
        let request = request.header("user-agent", "a-client/1");
        let asking = tokio::spawn(async move { request.send().await.unwrap().text().await });
        let id = running(&server).await;
        if is_told {
            let cancelled = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 },
            });
            let sent = posting(&server, None, &cancelled).header("user-agent", "a-client/1");
            assert_eq!(answered(sent).await.status, 202);
        } else {
            asking.abort();
        }
        until(&server, &id, "paused").await;
        if is_told {
            let text = asking.await.unwrap().unwrap();
            assert!(!text.contains("result"), "a cancelled call is not answered: {text}");
        }
        call(&server, None, "ax_control", &json!({ "id": id, "action": "resume" })).await;
        let done = until(&server, &id, "completed").await;
        assert_eq!(done["costSummary"]["totalCalls"], 3, "each voice is asked once: {done}");
    }
}

#[tokio::test]
async fn b10_an_agent_takes_part_with_its_weight() {
    let server = TestServer::open(FAST).await;
    std::fs::create_dir_all(server.folder.join("agents")).unwrap();
    let profile = "agentId: reviewer\ndisplayName: Ada\nrole: reviewer\nsystemPrompt: Trust nothing.\n\
                   providerAffinity: {preferred: [gemini]}\n";
    std::fs::write(server.folder.join("agents/reviewer.yaml"), profile).unwrap();
    let order = json!({
        "topic": "Tabs or spaces?", "rounds": 1, "agentWeightMultiplier": 2.5, "fullOutput": true,
        "participants": [{ "type": "provider", "id": "claude" }, { "type": "agent", "id": "reviewer" }],
    });
    let done = call(&server, None, "ax_discuss", &order).await;
    assert_eq!(done["status"], "completed", "{done}");
    let agent = &done["agents"][0];
    assert_eq!([&agent["provider"], &agent["weight"]], [&json!("gemini"), &json!(2.5)], "{done}");
    let compact = call(&server, None, "ax_result", &json!({ "id": done["discussionId"] })).await;
    assert_eq!(compact["agents"], done["agents"], "who answers for it is never silent: {compact}");
    let unknown = json!({ "topic": "x?", "participants": ["claude", { "type": "agent", "id": "nobody" }] });
    let refused = call(&server, None, "ax_discuss", &unknown).await;
    assert!(
        refused["code"].is_string() && !refused.to_string().contains(server.folder.to_str().unwrap()),
        "{refused}"
    );
}

#[tokio::test]
async fn b10_s14_a_call_beyond_the_spending_cap_is_refused_with_the_time_of_its_renewal() {
    // Each answer costs 201 dollars, far beyond what the model was allowed to write.
    let vendor = caps::vendor(100_000_000);
    let server = caps::opened(&vendor, "max_cost_per_day = 5", caps::PRICE).await;
    call(&server, Some(ANN), "ax_discuss", &caps::order()).await;
    for (tool, order) in [("ax_discuss", caps::order()), ("ax_discuss_quick", json!({ "topic": "Why?" }))] {
        let refused = call(&server, Some(ANN), tool, &order).await;
        assert_eq!(
            [&refused["code"], &refused["tool"]],
            [&json!("DISCUSSION_SPENDING_CAP_REACHED"), &json!(tool)]
        );
        let wait = refused["retryAfterMs"].as_u64().unwrap();
        assert!((1_000..=86_400_000).contains(&wait), "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("$0.0000 is left"), "{refused}");
    }
    let free = call(&server, Some(BOB), "ax_discuss", &caps::order()).await;
    assert_eq!(free["status"], "completed", "another token has no cap: {free}");
}
