//! Actions on existing discussions: naming them, and planning what follows them.

use serde_json::{Value, json};

use crate::harness::{ANN, BOB, FAST, TestServer, answered, order, tenants};

#[tokio::test]
async fn a_name_is_shown_in_lists_and_documents_and_leaves_the_record_alone() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let path = format!("/api/discussions/{id}/title");
    let before = server.get(&format!("/api/discussions/{id}/export?format=jsonl")).await.text;
    assert_eq!(server.get(&path).await.json(), json!({}));
    for (sent, kept) in [
        (json!({ "title": " Indentation " }), json!("Indentation")),
        (json!({ "title": "  " }), Value::Null),
        (json!({ "title": "é".repeat(200) }), json!("é".repeat(200))),
        (json!({}), Value::Null),
    ] {
        let answer = server.post(&path, &sent).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        let listed = server.get("/api/discussions").await.json();
        assert_eq!((&listed[0]["title"], &listed[0]["topic"]), (&kept, &order()["topic"]));
        assert_eq!(server.get(&path).await.json()["title"], kept);
        let (topic, name) = (order()["topic"].as_str().unwrap().to_owned(), kept.as_str());
        let heading = name.unwrap_or(&topic).to_owned();
        let markdown = server.get(&format!("/api/discussions/{id}/export")).await.text;
        assert!(markdown.starts_with(&format!("# {heading}\n")), "{markdown}");
        assert_eq!(markdown.lines().nth(2) == Some(&format!("> {topic}")), name.is_some(), "{markdown}");
        for page in [format!("/api/discussions/{id}/export?format=html"), format!("/d/{id}")] {
            let page = server.get(&page).await.text;
            assert!(page.contains(&format!("<h1>{heading}</h1>")), "{page}");
            assert!(page.contains(&format!("<title>{heading}")), "{page}");
        }
        assert!(server.get("/").await.text.contains(&format!("\">{heading}</a>")));
    }
    let refused = server.post(&path, &json!({ "title": "x".repeat(201) })).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!("title")));
    assert_eq!(server.get(&format!("/api/discussions/{id}/export?format=jsonl")).await.text, before);
    let audit = server.get("/api/audit").await.json();
    assert_eq!(audit.as_array().unwrap().iter().filter(|it| it["action"] == "rename").count(), 4);
}

#[tokio::test]
async fn a_session_is_renamed_and_deleted_when_its_discussions_are() {
    let server = TestServer::open(FAST).await;
    let made = server.post("/api/sessions", &json!({ "name": "Biling" })).await.json();
    let session = made["sessionId"].as_str().unwrap();
    let path = format!("/api/sessions/{session}");
    for name in [json!(""), json!(" "), json!("x".repeat(201)), Value::Null] {
        let refused = server.post(&path, &json!({ "name": name })).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (400, &json!("name")));
    }
    assert_eq!(server.post(&path, &json!({ "name": " Billing " })).await.status, 204);
    let expected = json!([{ "sessionId": session, "name": "Billing", "createdAt": made["createdAt"] }]);
    assert_eq!(server.get("/api/sessions").await.json(), expected);

    let mut inside = order();
    inside["sessionId"] = json!(session);
    let id = server.held(&inside).await;
    let delete = |path: String| answered(server.request("DELETE", &path));
    let kept = delete(path.clone()).await;
    assert_eq!((kept.status.as_u16(), &kept.json()["code"]), (409, &json!("SESSION_IN_USE")));
    let told =
        format!("session {session} has 1 discussion; nothing was changed; delete its discussions first");
    assert_eq!(kept.json()["detail"], told);
    assert_eq!(delete(format!("/api/discussions/{id}")).await.status, 204);
    assert_eq!(delete(path.clone()).await.status, 204);
    assert_eq!(server.get("/api/sessions").await.json(), json!([]));
    for gone in [delete(path.clone()).await, server.post(&path, &json!({ "name": "Billing" })).await] {
        assert_eq!(
            (gone.status.as_u16(), &gone.json()["detail"]),
            (404, &json!(format!("there is no session {session}")))
        );
    }
    assert_eq!(delete("/api/sessions/mine".to_owned()).await.status, 404);
}

#[tokio::test]
async fn s12_nobody_names_or_plans_the_discussion_of_another_tenant() {
    let server = TestServer::open(&tenants()).await;
    let id = answered(server.posting("/api/discussions", &order()).bearer_auth(ANN)).await.id();
    for action in ["title", "plan"] {
        let path = format!("/api/discussions/{id}/{action}");
        let foreign = answered(server.posting(&path, &json!({})).bearer_auth(BOB)).await;
        assert_eq!(foreign.status, 404, "{action}: {}", foreign.text);
    }
    let path = format!("/api/discussions/{id}/title");
    assert_eq!(answered(server.request("GET", &path).bearer_auth(BOB)).await.status, 404);
}

#[tokio::test]
async fn a_fork_is_planned_with_what_it_keeps_and_records_nothing() {
    let server = TestServer::open(FAST).await;
    let two_rounds = json!({ "topic": "Tabs or spaces?", "providers": ["claude", "gemini"], "rounds": 2 });
    let id = server.held(&two_rounds).await;
    let path = format!("/api/discussions/{id}/plan");
    let fork = json!({ "at": "1/answering/gemini", "changes": { "rounds": 3 } });
    let answer = server.post(&path, &fork).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let plan = answer.json();
    assert_eq!((&plan["kept"], &plan["typical"]["calls"]), (&json!(2), &json!(5)));
    // Again: everyone is asked, so nothing is kept.
    let again = server.post(&path, &json!({ "changes": { "rounds": 1 } })).await.json();
    assert_eq!((&again["kept"], &again["typical"]["calls"]), (&Value::Null, &json!(3)));
    let listed = server.get("/api/discussions").await.json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_plan_of_what_follows_names_the_wrong_field() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let path = format!("/api/discussions/{id}/plan");
    for (sent, field) in [
        (json!({ "changes": { "rounds": 99 } }), "changes.rounds"),
        (json!({ "changes": { "nonsense": 1 } }), "changes.nonsense"),
        (json!({ "without": ["claude"] }), "without"),
        (json!({ "from": "x" }), "from"),
    ] {
        let answer = server.post(&path, &sent).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["fields"][0]["field"]),
            (400, &json!(field)),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn the_page_of_the_api_has_every_operation_with_its_body_and_fields() {
    let server = TestServer::open(FAST).await;
    let page = server.get("/docs").await.text;
    let document = server.get("/openapi.json").await.json();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            let id = about["operationId"].as_str().unwrap();
            assert_eq!(page.matches(&format!("id=\"operation-{id}\"")).count(), 1, "{method} {path}");
        }
    }
    let fork = page.split("id=\"operation-fork\"").nth(1).unwrap().split("</details>").next().unwrap();
    for part in
        ["Idempotency-Key", "<code>without</code>", "<code>at</code> <small>required</small>", "<b>202</b>"]
    {
        assert!(fork.contains(part), "{part}: {fork}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("id=\"type-{name}\"")), "{name}");
    }
    assert!(!page.contains("<script") && !page.contains(" style="));
}

#[tokio::test]
async fn descriptions_are_compressed_and_texts_of_users_are_not() {
    let server = TestServer::open(FAST).await;
    let id = server.held(&order()).await;
    let encoding = async |path: &str| {
        let asked = server.request("GET", path).header("accept-encoding", "gzip");
        let answer = asked.send().await.unwrap();
        answer.headers().get("content-encoding").map(|it| it.to_str().unwrap().to_owned())
    };
    for path in ["/docs", "/openapi.json", "/api/patterns", "/api/providers"] {
        assert_eq!(encoding(path).await.as_deref(), Some("gzip"), "{path}");
    }
    for path in ["/api/discussions".to_owned(), format!("/d/{id}"), format!("/api/discussions/{id}/events")] {
        assert_eq!(encoding(&path).await, None, "{path}");
    }
}
