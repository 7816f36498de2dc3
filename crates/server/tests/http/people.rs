//! People as participants, over requirement C's two routes (C05, C06, C07).

use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, answered};

fn table() -> Value {
    json!({
        "topic": "What shall we build?", "pattern": "roundtable", "rounds": 3,
        "participants": ["claude", { "person": "me", "user": "u1" }, "gemini"],
    })
}

async fn awaiting(server: &TestServer, id: &str) -> Value {
    while server.state(id).await["awaiting"][0]["participant"] != "me" {
        tokio::task::yield_now().await;
    }
    server.get(&format!("/api/discussions/{id}")).await.json()
}

fn said(shown: &Value) -> Vec<String> {
    let entry =
        |it: &Value| format!("{}.{} {}", it["roundNumber"], it["turnIndex"], it["agentId"].as_str().unwrap());
    shown["entries"].as_array().unwrap().iter().map(entry).collect()
}

#[tokio::test]
async fn c05_a_person_speaks_and_gets_everything_up_to_the_next_turn() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&table()).await;
    let shown = awaiting(&server, &id).await;
    assert_eq!(
        (&shown["status"], &shown["speakerOrder"]),
        (&json!("success"), &json!(["claude", "me", "gemini"]))
    );
    assert_eq!(said(&shown), ["1.0 claude"]);
    assert_eq!(shown["counts"], json!({ "claude": 1, "me": 0, "gemini": 0 }));
    assert_eq!(shown["project"]["currentTurnIndex"], 1);

    let path = format!("/api/discussions/{id}");
    let message = |text: &str| json!({ "message": text, "userId": "u1", "organizationId": "o" });
    let shown = server.post(&path, &message("Something small.")).await.json();
    assert_eq!(said(&shown), ["1.0 claude", "1.1 me", "1.2 gemini", "2.0 claude"]);
    assert_eq!(shown["entries"][1]["role"], "user");
    assert_eq!(shown["entries"][1]["content"], "Something small.");
    assert_eq!(shown["nextSpeaker"], "me");
    server.post(&path, &message("This week.")).await;
    let shown = server.post(&path, &message("Done.")).await.json();
    assert_eq!((&shown["project"]["status"], &shown["nextSpeaker"]), (&json!("completed"), &Value::Null));
    assert_eq!(server.get(&path).await.json(), shown);
}

#[tokio::test]
async fn c05_a_post_that_is_not_due_changes_nothing() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&table()).await;
    let before = awaiting(&server, &id).await;
    let path = format!("/api/discussions/{id}");
    let check = async |path: &str, body: Value, status: u16, code: &str| {
        let answer = server.post(path, &body).await;
        assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (status, Some(code)), "{body}");
    };
    let invalid = "DISCUSSION_INVALID_REQUEST";
    check(&path, json!({ "message": "", "userId": "u1" }), 400, invalid).await;
    check(&path, json!({ "message": "x".repeat(100_001), "userId": "u1" }), 400, invalid).await;
    check(&path, json!({ "message": "hi" }), 400, invalid).await;
    check(&path, json!({ "message": "hi", "userId": "" }), 400, invalid).await;
    check(&path, json!({ "userId": "u1" }), 400, invalid).await;
    check(&path, json!({ "message": "hi", "userId": "u2" }), 403, "NOT_YOUR_SEAT").await;
    let say = format!("{path}/say");
    check(&say, json!({ "text": "hi", "participant": "claude" }), 409, invalid).await;
    check(&say, json!({ "text": "hi", "participant": "eve" }), 409, invalid).await;
    assert_eq!(server.get(&path).await.json(), before);

    let models = server.held(&crate::harness::order()).await;
    check(
        &format!("/api/discussions/{models}"),
        json!({ "message": "hi", "userId": "u" }),
        409,
        "DISCUSSION_OVER",
    )
    .await;
    let talking = server.ordered(&crate::harness::slow()).await;
    check(
        &format!("/api/discussions/{talking}"),
        json!({ "message": "hi", "userId": "u" }),
        409,
        "NOT_AWAITED",
    )
    .await;
    let nowhere = "/api/discussions/01890000-0000-7000-8000-0000000000ff";
    check(nowhere, json!({ "message": "hi", "userId": "u" }), 404, "NOT_FOUND").await;
    let pause = server.post(&format!("{path}/pause"), &json!({})).await;
    assert_eq!((pause.status.as_u16(), &pause.json()["code"]), (409, &json!("STATE_INVALID")));
}

#[tokio::test]
async fn c07_posts_that_race_take_one_turn_each_and_write_it_once() {
    let server = TestServer::open(FAST).await;
    let id = server.ordered(&table()).await;
    let path = format!("/api/discussions/{id}");
    for round in 1..=3 {
        if round < 4 {
            awaiting(&server, &id).await;
        }
        let body = json!({ "message": format!("round {round}"), "userId": "u1" });
        let posts = (0..20).map(|_| answered(server.posting(&path, &body)));
        let answers = futures::future::join_all(posts).await;
        let taken = answers.iter().filter(|it| it.status == 200).count();
        assert!(
            taken >= 1 && answers.iter().all(|it| matches!(it.status.as_u16(), 200 | 409)),
            "{taken} were taken"
        );
        if taken > 1 {
            // A late message may have arrived when the next turn was already due; then it was taken
            // as that turn.
            break;
        }
    }
    loop {
        let shown = server.get(&path).await.json();
        if shown["nextSpeaker"] != "me" {
            break;
        }
        server.post(&path, &json!({ "message": "and on", "userId": "u1" })).await;
    }
    let shown = server.get(&path).await.json();
    let expected = ["claude", "me", "gemini"];
    let order = (1..=3)
        .flat_map(|round| expected.iter().zip(0..).map(move |(name, seat)| format!("{round}.{seat} {name}")));
    assert_eq!(said(&shown), order.collect::<Vec<_>>());
}
